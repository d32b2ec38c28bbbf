/**
 * Batteries by the SunSpec models 802 (bank), 803 (its strings), 713 (capacity) and 124 (storage of
 * a hybrid inverter). The models do not define the sign of currents: positive is discharge, unless
 * site.yaml says otherwise.
 */
import type { Battery, BatterySetup } from '@heliograph/domain/battery'
import { emptyReading } from '@heliograph/domain/readings'
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { batteryStateFrom } from '@heliograph/domain/sunspec/states'
import { isRefusal } from '../bus/bus-error.ts'
import type { Answer, BatteryAnswer, BatteryDevice, Bus, Device, SetupAnswer } from './driver.ts'
import { plausible, type Range } from './plausible.ts'
import { openUnit } from './sunspec-battery-unit.ts'
import { type Chain, describe } from './sunspec-chain.ts'
import { kilo } from './sunspec-grid-side.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { createReader, type Parts, type Snapshot } from './sunspec-snapshot.ts'

type BatteryValues = BatteryAnswer['battery']
type Points<Id extends keyof typeof models> = Decoded<(typeof models)[Id]>['values']

const battery_models = [802, 713, 124]
/** Only the values common to all strings. */
const parts: Parts = { 803: { last: 'V_SF' } }

export async function openBattery(bus: Bus, battery: Battery): Promise<BatteryDevice> {
  const { unit_id } = battery.bms
  const unit = await openUnit(bus, battery.bms, (chain) => {
    const wanted = [...modelsOf(chain, battery_models, battery), ...firstOf(chain, 803)]
    const [bank] = firstOf(chain, 802)
    return {
      read: createReader(bus, unit_id, { wanted, parts }),
      beat: bank ? createBeat(bus, unit_id, { found: bank, point: 'CtrlHb' }) : null,
    }
  })
  return {
    get identity() {
      return unit.identity
    },
    read: () => unit.ask(async ({ read }) => batteryAnswer(await read(), battery)),
    beat: async () => void (await unit.found?.beat?.()),
  }
}

/** Rejects with the found models if it has none of these. */
export function modelsOf(
  { models: found, identity }: Chain,
  ids: readonly number[],
  { bms }: Pick<Battery, 'bms'>,
): FoundModel[] {
  const wanted = ids.flatMap((id) => found.find(({ model_id }) => model_id === id) ?? [])
  if (wanted.length > 0) return wanted
  const has = found.map(({ model_id }) => model_id)
  const name = `${describe(bms)} (${identity.manufacturer} ${identity.model})`
  throw new Error(`${name} is no battery: it has models ${[...new Set(has)].join(', ')}`)
}

const firstOf = ({ models: found }: Chain, id: number): FoundModel[] =>
  found.filter(({ model_id, occurrence }) => model_id === id && occurrence === 0)

/**
 * Heartbeat of the controller: a counter that rises by one per call and wraps to zero. Does nothing
 * if the device does not implement it.
 */
export function createBeat(
  bus: Bus,
  unit_id: number,
  { found, point }: { found: FoundModel; point: 'CtrlHb' | 'ControllerHb' },
): () => Promise<void> {
  const words = point === 'CtrlHb' ? 1 : 2
  const [, offset] = point === 'CtrlHb' ? pointOf(802, 'CtrlHb') : pointOf(715, 'ControllerHb')
  const address = found.address + offset
  const end = 2 ** (16 * words) - 1
  let count: number | null = null
  let is_there = offset + words <= found.length + 2

  async function readCount(): Promise<number | null> {
    try {
      const now = await bus.readHoldingRegisters(unit_id, address, words, {
        priority: 'urgent',
      })
      return now.reduce((sum, word) => sum * 0x1_0000 + word, 0)
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }

  return async () => {
    if (!is_there) return
    count ??= await readCount()
    // All ones, or refused: not implemented.
    is_there = count !== null && count !== end
    if (count === null || !is_there) return
    const next = (count + 1) % end
    const values = words === 1 ? [next] : [next >>> 16, next & 0xffff]
    await bus.writeRegisters(unit_id, address, values)
    count = next
  }
}

function pointOf(id: 802 | 715, name: string) {
  const points: readonly (readonly [string, number, ...unknown[]])[] = models[id].points
  return points.find(([point]) => point === name)!
}

function batteryAnswer(snapshot: Snapshot, battery: Battery): Answer<BatteryAnswer> {
  const [bank] = snapshot.all(802)
  const [capacity] = snapshot.all(713)
  const [storage] = snapshot.all(124)
  const [strings] = snapshot.all(803)
  const measured: BatteryValues = {
    ...emptyReading('bess'),
    ...(storage && storageValues(storage.values)),
    ...known(capacity && capacityValues(capacity.values)),
    ...known(bank && bankValues(bank.values, battery)),
    ...known(strings && stringValues(strings.values)),
  }
  const { complaints, missing } = snapshot
  const Hb = bank?.values.Hb ?? null
  const place = bank?.values.LocRemCtl ?? null
  return {
    values: {
      battery: plausible(measured, complaints, batteryRanges(battery)),
      alarm_table: bank ? 'sunspec-battery-802' : null,
      heartbeat: Hb,
      is_remote: place === null ? null : place === 0,
    },
    complaints,
    missing,
  }
}

/** Only the values that the model has, so that they replace those of models before. */
function known(values: Partial<BatteryValues> | undefined): Partial<BatteryValues> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== null))
}

/** Model 802. State of charge is in percent of WHRtg, by its unit in the standard. */
function bankValues(points: Points<802>, battery: Battery): Partial<BatteryValues> {
  const { SoC, SoCMax, WHRtg, V } = points
  const { current_a, power_w } = signed(points, battery)
  const is_soc = SoC !== null && SoC <= percent[1]
  const energyOf = (share_pct: number) =>
    is_soc && WHRtg !== null ? (Math.max(0, share_pct) / 100) * (WHRtg / 1000) : null
  return {
    state: batteryStateFrom({ ...points, power_w }),
    state_vendor_code: points.StateVnd,
    power_kw: kilo(power_w),
    soc_pct: SoC,
    soh_pct: points.SoH,
    available_energy_kwh: energyOf(SoC ?? 0),
    energy_to_full_kwh: energyOf((SoCMax ?? 100) - (SoC ?? 0)),
    dc_voltage_v: V,
    dc_current_a: current_a,
    max_charge_power_kw: powerLimit(points.AChaMax, V, points.WChaRteMax),
    max_discharge_power_kw: powerLimit(points.ADisChaMax, V, points.WDisChaRteMax),
    max_charge_current_a: points.AChaMax,
    max_discharge_current_a: points.ADisChaMax,
    cycle_count: points.NCyc,
    cell_voltage_min_mv: milli(points.CellVMin),
    cell_voltage_max_mv: milli(points.CellVMax),
    cell_voltage_avg_mv: milli(points.CellVAvg),
    cell_voltage_min_cluster_idx: indexOf(points.CellVMinStr),
    cell_voltage_min_module_idx: indexOf(points.CellVMinMod),
    cell_voltage_max_cluster_idx: indexOf(points.CellVMaxStr),
    cell_voltage_max_module_idx: indexOf(points.CellVMaxMod),
    contactor_state: points.State === 1 ? 'open' : points.State === 3 ? 'closed' : null,
    control_place: placeOf(points.LocRemCtl),
    alarm_1: points.Evt1,
    alarm_2: points.Evt2,
    alarm_3: points.EvtVnd1,
    alarm_4: points.EvtVnd2,
  }
}

function signed({ A, W, V }: Points<802>, { bms }: Battery) {
  const sign = signOf({ bms })
  const current_a = A === null ? null : sign * A + 0
  const by_current_w = current_a === null || V === null ? null : current_a * V
  return { current_a, power_w: W === null ? by_current_w : sign * W + 0 }
}

/** Sign of the device's current and power: positive is discharge. */
export const signOf = ({ bms }: Pick<Battery, 'bms'>) =>
  bms.positive_current === 'charge' ? -1 : 1

/**
 * Power at the present current limit, at most the rated power; without a limit, the rated power.
 */
function powerLimit(current_a: number | null, voltage_v: number | null, rated_w: number | null) {
  // A zero current limit means zero power at any voltage.
  if (current_a === 0) return 0
  if (current_a === null || voltage_v === null) return kilo(rated_w)
  return Math.min(current_a * voltage_v, rated_w ?? Number.POSITIVE_INFINITY) / 1000
}

function capacityValues({ SoC, SoH, WHAvail }: Points<713>): Partial<BatteryValues> {
  return { soc_pct: SoC, soh_pct: SoH, available_energy_kwh: kilo(WHAvail) }
}

/** Model 124, which counts charge in percent of the capacity in Ah. */
function storageValues(points: Points<124>): Partial<BatteryValues> {
  return {
    state: batteryStateFrom({ State: 3, ChaSt: points.ChaSt, power_w: null }),
    soc_pct: points.ChaState,
    dc_voltage_v: points.InBatV,
    max_charge_power_kw: kilo(points.WChaMax),
  }
}

function stringValues(points: Points<803>): Partial<BatteryValues> {
  return {
    cell_temperature_min_c: points.ModTmpMin,
    cell_temperature_max_c: points.ModTmpMax,
    cell_temperature_avg_c: points.ModTmpAvg,
    cell_temperature_min_cluster_idx: indexOf(points.ModTmpMinStr),
    cell_temperature_min_module_idx: indexOf(points.ModTmpMinMod),
    cell_temperature_max_cluster_idx: indexOf(points.ModTmpMaxStr),
    cell_temperature_max_module_idx: indexOf(points.ModTmpMaxMod),
  }
}

/** The standard counts strings, modules and cells from 1. */
export const indexOf = (count: number | null) => (count === null || count < 1 ? null : count - 1)
export const milli = (value: number | null) => (value === null ? null : value * 1000)

export const placeOf = (LocRemCtl: number | null) =>
  LocRemCtl === 0 ? 'remote' : LocRemCtl === 1 ? 'local' : null

const cell_voltage_mv: Range = [0, 10_000]
const percent: Range = [0, 110]

/** No battery charges or discharges completely within three minutes. */
const allowed_per_energy = 20

/**
 * Several times the rating is a wrong scale factor; indices beyond the unit are invalid. The power
 * allowed by the cells may be many times that of their PCS.
 */
export function batteryRanges(battery: Battery): Record<string, Range> {
  const { rated_charge_power_kw, rated_discharge_power_kw, rated_energy_kwh } = battery
  const power_kw = 4 * Math.max(rated_charge_power_kw, rated_discharge_power_kw)
  const allowed_kw = Math.max(power_kw, allowed_per_energy * rated_energy_kwh)
  const ranges: Record<string, Range> = {
    soc_pct: percent,
    soh_pct: [0, 150],
    power_kw: [-power_kw, power_kw],
    max_charge_power_kw: [0, allowed_kw],
    max_discharge_power_kw: [0, allowed_kw],
    available_energy_kwh: [0, 4 * rated_energy_kwh],
    energy_to_full_kwh: [0, 4 * rated_energy_kwh],
  }
  for (const end of ['min', 'max', 'avg']) {
    ranges[`cell_voltage_${end}_mv`] = cell_voltage_mv
    ranges[`cell_temperature_${end}_c`] = [-60, 250]
    for (const what of ['voltage', 'temperature']) {
      ranges[`cell_${what}_${end}_cluster_idx`] = [0, battery.cluster_count - 1]
      ranges[`cell_${what}_${end}_module_idx`] = [0, battery.modules_per_cluster - 1]
    }
  }
  return ranges
}

export async function openSetup(bus: Bus, battery: Battery): Promise<Device<SetupAnswer>> {
  const { unit_id } = battery.bms
  const unit = await openUnit(bus, battery.bms, (chain) => {
    const wanted = modelsOf(chain, [802, 713], battery)
    return { wanted, read: createReader(bus, unit_id, { wanted }) }
  })
  return {
    get identity() {
      return unit.identity
    },
    read: () =>
      unit.ask(async ({ wanted, read }) => {
        const values = setupAnswer(await read(), wanted, unit.identity.firmware_version)
        // Complaints about the same registers come with the reading of the battery.
        return { values, complaints: [] }
      }),
  }
}

type Protection = BatterySetup['protection'][number]

function setupAnswer(
  snapshot: Snapshot,
  wanted: readonly FoundModel[],
  bms_firmware: string | null,
): SetupAnswer {
  const [bank] = snapshot.all(802)
  const [capacity] = snapshot.all(713)
  const points = bank?.values
  const of = (name: keyof Points<802>) => (points?.[name] ?? null) as number | null
  const found = wanted.find(({ model_id }) => model_id === 802)
  return {
    rated_energy_kwh: kilo(of('WHRtg') ?? capacity?.values.WHRtg ?? null),
    rated_charge_power_kw: kilo(of('WChaRteMax')),
    rated_discharge_power_kw: kilo(of('WDisChaRteMax')),
    rated_capacity_ah: of('AHRtg'),
    soc_min_pct: of('SoCMin'),
    soc_max_pct: of('SoCMax'),
    soc_reserve_pct: of('SoCRsvMin'),
    ramp_rate_kw_s: null,
    heartbeat_timeout_s: null,
    bms_firmware,
    // The models hold values of these two alarms only.
    protection: [limitOf('soc_low', of('SoCMin')), limitOf('soc_high', of('SoCMax'))].flat(),
    raw_registers: found ? rawRegisters(found, of) : [],
  }
}

function limitOf(parameter: 'soc_low' | 'soc_high', trip_value: number | null): Protection[] {
  if (trip_value === null) return []
  const level = 'level_1' as const
  const none = { recover_value: null, delay_ms: null }
  return [{ parameter, level, trip_value, ...none, unit: 'pct', action: 'stop', source: 'bms' }]
}

const settings = [
  'AHRtg',
  'WHRtg',
  'WChaRteMax',
  'WDisChaRteMax',
  'DisChaRte',
  'SoCMax',
  'SoCMin',
  'SocRsvMax',
  'SoCRsvMin',
  'Typ',
  'SetOp',
  'SetInvState',
] as const

function rawRegisters({ address }: FoundModel, of: (name: keyof Points<802>) => number | null) {
  return settings.map((name) => {
    const [, offset, , unit] = models[802].points.find(([point]) => point === name)!
    return { address: address + offset, name: `802.${name}`, value: of(name), unit: unit || null }
  })
}
