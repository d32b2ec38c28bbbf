/**
 * Devices that describe themselves by SunSpec models. The information models are those of the
 * SunSpec Alliance; see domain/sunspec.
 */
import { stationModels } from '@heliograph/domain/sunspec/station-points'
import { wattsCovering } from '@heliograph/domain/watts'
import type { Answer, Bus, Device, DeviceIdentity, Driver } from './driver.ts'
import type { LimitControl } from './limit-control.ts'
import { openBattery, openSetup } from './sunspec-battery.ts'
import { openCells } from './sunspec-battery-cells.ts'
import { openClusters } from './sunspec-battery-clusters.ts'
import { findChain, type Place, readIdentity } from './sunspec-chain.ts'
import { inverterAnswer, inverterExtras, inverterModels } from './sunspec-inverter.ts'
import { createLimit, type LimitedDevice, type SunspecLimit } from './sunspec-limit.ts'
import { limitParts } from './sunspec-limit-registers.ts'
import { meterAnswer, meterModels } from './sunspec-meter.ts'
import { openPcs } from './sunspec-pcs.ts'
import { type RatingsAnswer, ratingModels, readRatings } from './sunspec-ratings.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { ChainMoved, createReader, type Snapshot } from './sunspec-snapshot.ts'
import { registerOf, stationAnswer } from './sunspec-station.ts'
import { combinerAnswer, stringModels } from './sunspec-strings.ts'

export const sunspec = {
  openInverter: (bus, inverter) =>
    openDevice(bus, inverter, {
      kind: 'inverter',
      models: inverterModels,
      extras: inverterExtras,
      ratings: ratingModels,
      limited_to_w: wattsCovering(inverter.max_ac_power_kw ?? inverter.rated_ac_power_kw),
      map: (snapshot, { ratings: { ratings, complaints }, limit }) => {
        snapshot.complaints.push(...complaints)
        const state = limit?.onRead(snapshot) ?? null
        return inverterAnswer(snapshot, inverter, { ratings, limit: state })
      },
    }),
  openCombiner: (bus, { string_count, ...place }) =>
    openDevice(bus, place, {
      kind: 'string combiner',
      models: stringModels,
      map: (snapshot) => combinerAnswer(snapshot, string_count),
    }),
  async openStation(bus, station) {
    station.instruments.forEach(registerOf)
    return openDevice(bus, station, {
      kind: 'met station',
      models: stationModels,
      map: (snapshot) => stationAnswer(snapshot, station),
    })
  },
  openMeter: (bus, meter) =>
    openDevice(bus, meter, {
      kind: 'meter',
      models: meterModels,
      map: (snapshot) => meterAnswer(snapshot, meter),
    }),
  openBattery,
  openClusters,
  openCells,
  openSetup,
  openPcs,
} satisfies Driver

interface Expected extends Place {
  serial_number?: string
}

interface Reading<Of> {
  kind: string
  /** The device must have one of these. */
  models: readonly number[]
  /** Read as well if present. */
  extras?: readonly number[]
  ratings?: readonly number[]
  /** Highest limit to set, for a device whose power can be limited. */
  limited_to_w?: number
  map(snapshot: Snapshot, found: Found): Answer<Of>
}

async function openDevice<Of>(
  bus: Bus,
  expected: Expected,
  reading: Reading<Of>,
): Promise<Device<Of> & { readonly control: LimitControl | null }> {
  let found: Found | null = await find(bus, expected, reading)
  let { identity } = found
  let doubted = false

  return {
    get identity() {
      return identity
    },
    get control() {
      return found?.limit?.control ?? null
    },
    async read() {
      try {
        // After communication loss another device may answer at this address.
        if (found && doubted && !(await isStillThere(bus, expected, found))) found = null
        found ??= await find(bus, expected, reading)
        identity = found.identity
        doubted = false
        const snapshot = await found.read()
        return { ...reading.map(snapshot, found), missing: snapshot.missing }
      } catch (error) {
        doubted = true
        if (error instanceof ChainMoved) found = null
        throw error
      }
    },
  }
}

interface Found {
  identity: DeviceIdentity
  common: FoundModel
  ratings: RatingsAnswer
  limit: SunspecLimit | null
  read(): Promise<Snapshot>
}

/** Rejects with what it found instead of the expected device. */
async function find<Of>(bus: Bus, expected: Expected, reading: Reading<Of>): Promise<Found> {
  const { unit_id, serial_number } = expected
  const { identity, models } = await findChain(bus, expected)
  const { manufacturer, model, serial_number: serial_found } = identity
  const name = `unit ${unit_id} (${manufacturer ?? 'unknown maker'} ${model ?? 'unknown model'})`
  if (serial_number !== undefined && serial_found !== null && serial_number !== serial_found) {
    throw new Error(`${name}: expected serial number ${serial_number}, found ${serial_found}`)
  }
  const has = models.map(({ model_id }) => model_id)
  if (!reading.models.some((model_id) => has.includes(model_id))) {
    throw new Error(`${name} is no ${reading.kind}: it has models ${has.join(', ')}`)
  }
  const of = (ids: readonly number[]) => models.filter(({ model_id }) => ids.includes(model_id))
  const ratings = await readRatings(bus, unit_id, of(reading.ratings ?? []))
  const limit = await openLimit(bus, reading, { unit_id, models, identity, ratings })
  const extras = [...of(reading.extras ?? []), ...(limit?.models ?? [])]
  const wanted = [...new Set([...of(reading.models), ...extras])]
  const read = createReader(bus, unit_id, { wanted, ...(limit ? { parts: limitParts } : {}) })
  return { identity, common: models[0] as FoundModel, ratings, limit, read }
}

/** Reads the limit once, so that its control is available from the first contact on. */
async function openLimit<Of>(
  bus: Bus,
  { limited_to_w }: Reading<Of>,
  {
    ratings,
    identity,
    ...place
  }: Pick<LimitedDevice, 'unit_id' | 'models'> & Pick<Found, 'identity' | 'ratings'>,
) {
  if (limited_to_w === undefined) return null
  const nameplate_kw = ratings.ratings?.rated_power_kw ?? null
  const nameplate_w = nameplate_kw === null ? null : wattsCovering(nameplate_kw)
  const { manufacturer } = identity
  const limit = createLimit({ bus, ...place, manufacturer, nameplate_w, rated_w: limited_to_w })
  await limit?.open()
  return limit
}

async function isStillThere(bus: Bus, { unit_id }: Expected, { identity, common }: Found) {
  const { serial_number } = await readIdentity(bus, unit_id, common)
  return serial_number === identity.serial_number
}
