/**
 * Reads and limits inverters by the profiles of their makers. After communication loss a device is
 * identified again, as it may have been replaced.
 */
import {
  type InverterPart,
  inputRegisters,
  limitRegisters,
  type Profile,
  type Register,
} from '@heliograph/domain/profile'
import { emptyReading, type InverterState, inverterStates } from '@heliograph/domain/readings'
import { type Inverter, mpptCount, stringsOf } from '@heliograph/domain/site'
import { wattsCovering } from '@heliograph/domain/watts'
import { BusError } from '../bus/bus-error.ts'
import type {
  Answer,
  Bus,
  Complaint,
  DeviceIdentity,
  InverterAnswer,
  InverterDevice,
} from './driver.ts'
import { plausible } from './plausible.ts'
import { alarmRegisters, alarmsIn, columnsIn, identify, stateIn } from './register-answer.ts'
import { createRegisterLimit, type RegisterLimit } from './register-limit.ts'
import { createRegisterReader, placeOf, type RegisterValues } from './register-reader.ts'
import { powerRanges } from './sunspec-inverter.ts'

interface Found {
  identity: DeviceIdentity
  limit: RegisterLimit | null
  read(): Promise<RegisterValues>
}

export async function openInverter(
  profile: Profile,
  bus: Bus,
  inverter: Inverter,
): Promise<InverterDevice> {
  let found: Found | null = await find(profile, bus, inverter)
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
        if (!found || doubted) found = await find(profile, bus, inverter)
        identity = found.identity
        doubted = false
        return inverterAnswer(profile.inverter!, inverter, { found, values: await found.read() })
      } catch (error) {
        doubted = true
        // Another device, which must not be commanded.
        if (!(error instanceof BusError)) found = null
        throw error
      }
    },
  }
}

async function find(profile: Profile, bus: Bus, inverter: Inverter): Promise<Found> {
  const part = profile.inverter!
  const place = placeOf(profile, bus, inverter.unit_id)
  const identity = await identify(profile, place, inverter)
  const { rated_ac_power_kw, max_ac_power_kw = rated_ac_power_kw } = inverter
  const limit =
    part.limit &&
    createRegisterLimit(part.limit, {
      ...place,
      rated_w: wattsCovering(rated_ac_power_kw),
      max_w: wattsCovering(max_ac_power_kw),
    })
  const read = createRegisterReader(place, inverterRegisters(part))
  // Makes the control available from the first contact on.
  limit?.onRead(await read())
  return { identity, limit: limit ?? null, read }
}

export function inverterRegisters(inverter: InverterPart): Register[] {
  const { ratings = {}, readings, state, strings, mppts, alarms, limit } = inverter
  return [
    ...[...Object.values(ratings), ...Object.values(readings)].flatMap((one) => one ?? []),
    ...(state ? [state.register] : []),
    ...[...inputRegisters(strings), ...inputRegisters(mppts)].flatMap((input) =>
      Object.values(input).flatMap((register) => register ?? []),
    ),
    ...alarmRegisters(alarms),
    ...(limit ? limitRegisters(limit) : []),
  ]
}

type Reading = InverterAnswer['inverter']

function inverterAnswer(
  part: InverterPart,
  inverter: Inverter,
  { found, values }: { found: Found; values: RegisterValues },
): Answer<InverterAnswer> {
  const complaints: Complaint[] = []
  const limit = found.limit?.onRead(values) ?? null
  if (found.limit && !limit) complaints.push({ point: 'limit', reason: found.limit.reason })
  if (found.limit?.warning) complaints.push({ point: 'limit', reason: found.limit.warning })
  const { rated_power, max_power } = part.ratings ?? {}
  const max_power_kw = max_power ? values.inColumn(max_power) : null
  const inputs = inputValues(part, inverter, values)
  const measured: Reading = {
    ...emptyReading('inverter'),
    ...columnsIn(part.readings, values),
    ...alarmsIn(part.alarms, values),
    ...stateIn<InverterState>(part.state, values, { names: inverterStates, other: 'unknown' }),
    power_limit_pct: limitPct(limit?.limit_w ?? null, max_power_kw),
    mppt_voltage_v: inputs.mppts?.voltage_v ?? null,
    mppt_current_a: inputs.mppts?.current_a ?? null,
    mppt_power_kw: inputs.mppts?.power_kw ?? null,
  }
  return {
    values: {
      inverter: plausible(measured, complaints, powerRanges(inverter)),
      strings: inputs.strings && plausible(inputs.strings, complaints),
      alarm_table: part.alarms?.table_id ?? null,
      ratings: { rated_power_kw: rated_power ? values.inColumn(rated_power) : null },
      limit,
    },
    complaints,
    missing: values.missing,
  }
}

function limitPct(limit_w: number | null, max_power_kw: number | null): number | null {
  return limit_w === null || !max_power_kw ? null : limit_w / 10 / max_power_kw
}

/**
 * Inputs as strings and as MPPTs. A string without registers of its own has the voltage of its
 * MPPT, and its current if each string has its own MPPT. Inputs beyond those that the device
 * reports are `null`.
 */
function inputValues({ strings, mppts }: InverterPart, inverter: Inverter, values: RegisterValues) {
  const of = (rows: InverterPart['mppts'], count: number) => {
    const inputs = inputRegisters(rows)
    const each = (name: 'voltage' | 'current' | 'power') =>
      inputs.some((input) => input[name])
        ? Array.from({ length: count }, (_, nth) => {
            const register = inputs[nth]?.[name]
            return register ? values.inColumn(register) : null
          })
        : null
    return { voltage_v: each('voltage'), current_a: each('current'), power_kw: each('power') }
  }
  const own = stringsOf(inverter)
  const as_mppts = mppts ? of(mppts, mpptCount(inverter)) : null
  if ((inverter.combiners?.length ?? 0) > 0) return { strings: null, mppts: as_mppts }
  const measured = strings ? of(strings, own.length) : null
  const is_alone = own.every(({ mppt_index }, index) => mppt_index === index)
  const has_currents = measured?.current_a?.some((current_a) => current_a !== null)
  const current_a = has_currents || !is_alone ? measured?.current_a : as_mppts?.current_a
  const of_mppts = as_mppts?.voltage_v
  const voltage_v =
    measured?.voltage_v ?? (of_mppts && own.map(({ mppt_index }) => of_mppts[mppt_index] ?? null))
  if (!current_a) return { strings: null, mppts: as_mppts }
  return { strings: { voltage_v: voltage_v ?? null, current_a }, mppts: as_mppts }
}
