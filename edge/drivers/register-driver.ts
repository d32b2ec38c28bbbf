/**
 * Reads and limits inverters by the profiles of their makers. After communication loss a device is
 * identified again, as it may have been replaced.
 */
import { emptyReading, type InverterState, inverterStates } from '@heliograph/domain/readings'
import { type Inverter, mpptCount, stringsOf } from '@heliograph/domain/site'
import { wattsCovering } from '@heliograph/domain/watts'
import { BusError } from '../bus/bus-error.ts'
import type {
  Answer,
  Bus,
  Complaint,
  DeviceIdentity,
  Driver,
  InverterAnswer,
  InverterDevice,
} from './driver.ts'
import { rejecting } from './driver.ts'
import { plausible } from './plausible.ts'
import {
  type InverterProfile,
  inputRegisters,
  limitRegisters,
  type NumberRegister,
  type Register,
  units,
} from './profile.ts'
import { createRegisterLimit, type RegisterLimit } from './register-limit.ts'
import { createRegisterReader, type RegisterValues } from './register-reader.ts'
import { powerRanges } from './sunspec-inverter.ts'

/** Rejects for combiners, stations and meters, which have other drivers. */
export function registerDriver(profile: InverterProfile): Driver {
  return {
    ...rejecting(`the driver ${profile.driver} reads inverters only`),
    openInverter: (bus, inverter) => openInverter(profile, bus, inverter),
  }
}

interface Found {
  identity: DeviceIdentity
  limit: RegisterLimit
  read(): Promise<RegisterValues>
}

async function openInverter(
  profile: InverterProfile,
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
      return found?.limit.control ?? null
    },
    async read() {
      try {
        // After communication loss another device may answer at this address.
        if (!found || doubted) found = await find(profile, bus, inverter)
        identity = found.identity
        doubted = false
        return inverterAnswer(profile, inverter, { found, values: await found.read() })
      } catch (error) {
        doubted = true
        // Another device, which must not be commanded.
        if (!(error instanceof BusError)) found = null
        throw error
      }
    },
  }
}

async function find(profile: InverterProfile, bus: Bus, inverter: Inverter): Promise<Found> {
  const { unit_id, serial_number } = inverter
  const { word_order, manufacturer, family } = profile
  const place = { bus, unit_id, word_order }
  const named = Object.values(profile.identity)
  const known = await createRegisterReader(place, named)()
  const identity = identityOf(profile, known)
  const found = identity.serial_number
  if (serial_number !== undefined && found !== null && serial_number !== found) {
    const name = `unit ${unit_id} (${manufacturer} ${family})`
    throw new Error(`${name}: expected serial number ${serial_number}, found ${found}`)
  }
  const { rated_ac_power_kw, max_ac_power_kw = rated_ac_power_kw } = inverter
  const limit = createRegisterLimit(profile.limit, {
    ...place,
    rated_w: wattsCovering(rated_ac_power_kw),
    max_w: wattsCovering(max_ac_power_kw),
  })
  const read = createRegisterReader(place, inverterRegisters(profile))
  // Makes the control available from the first contact on.
  limit.onRead(await read())
  return { identity, limit, read }
}

export function inverterRegisters(profile: InverterProfile): Register[] {
  const { ratings, readings, state, inputs, alarms, limit } = profile
  const pairs = inputs ? inputRegisters(inputs) : []
  return [
    ratings.rated_power,
    ratings.max_power,
    ...Object.values(readings),
    ...(state ? [state.register] : []),
    ...pairs.flatMap(({ voltage, current }) => [voltage, current]),
    ...(alarms?.words ?? []),
    ...limitRegisters(limit),
  ]
}

export function identityOf(
  { manufacturer, identity }: Pick<InverterProfile, 'manufacturer' | 'identity'>,
  values: RegisterValues,
): DeviceIdentity {
  const textOf = (register: Register | undefined) => (register ? values.text(register) : null)
  return {
    manufacturer,
    model: textOf(identity.model),
    serial_number: textOf(identity.serial_number),
    firmware_version: textOf(identity.firmware_version),
  }
}

type Reading = InverterAnswer['inverter']

function inverterAnswer(
  profile: InverterProfile,
  inverter: Inverter,
  { found, values }: { found: Found; values: RegisterValues },
): Answer<InverterAnswer> {
  const complaints: Complaint[] = []
  const { state, alarms } = profile
  const limit = found.limit.onRead(values)
  if (!limit) complaints.push({ point: 'limit', reason: found.limit.reason })
  const { warning } = found.limit
  if (warning) complaints.push({ point: 'limit', reason: warning })
  const code = state && values.number(state.register)
  const readings = Object.entries(profile.readings)
  const inputs = inputValues(profile, inverter, values)
  const measured: Reading = {
    ...emptyReading('inverter'),
    ...Object.fromEntries(readings.map(([name, one]) => [name, inColumn(one, values)])),
    ...Object.fromEntries(
      (alarms?.words ?? []).map((word, nth) => [`alarm_${nth + 1}`, values.raw(word)]),
    ),
    state: code === null ? null : stateOf(profile, code),
    state_vendor_code: code,
    power_limit_pct: limitPct(limit?.limit_w ?? null, inColumn(profile.ratings.max_power, values)),
    mppt_voltage_v: inputs.mppts?.voltage_v ?? null,
    mppt_current_a: inputs.mppts?.current_a ?? null,
  }
  return {
    values: {
      inverter: plausible(measured, complaints, powerRanges(inverter)),
      strings: inputs.strings && plausible(inputs.strings, complaints),
      alarm_table: alarms?.table_id ?? null,
      ratings: { rated_power_kw: inColumn(profile.ratings.rated_power, values) },
      limit,
    },
    complaints,
    missing: values.missing,
  }
}

const stateOf = ({ state }: InverterProfile, code: number): InverterState =>
  inverterStates.find((name) => state?.codes[name]?.includes(code)) ?? 'unknown'

function limitPct(limit_w: number | null, max_power_kw: number | null): number | null {
  return limit_w === null || !max_power_kw ? null : limit_w / 10 / max_power_kw
}

/** Value of a register in the unit of its column. */
export function inColumn(register: NumberRegister, values: RegisterValues): number | null {
  const raw = values.number(register) === null ? null : values.raw(register)
  if (raw === null) return null
  const { multiply, divide } = register.unit ? units[register.unit] : { multiply: 1, divide: 1 }
  return (raw * multiply) / (divide * (register.gain ?? 1))
}

/**
 * Inputs as strings or as MPPTs, depending on what the device measures; as both if each string has
 * its own MPPT. Inputs beyond those that the device reports are `null`.
 */
function inputValues(
  { inputs }: InverterProfile,
  inverter: Inverter,
  values: RegisterValues,
): { strings: InverterAnswer['strings']; mppts: InverterAnswer['strings'] } {
  if (!inputs) return { strings: null, mppts: null }
  const pairs = inputRegisters(inputs)
  const each = (count: number, of: 'voltage' | 'current') =>
    Array.from({ length: count }, (_, nth) => {
      const pair = pairs[nth]
      return pair ? values.number(pair[of]) : null
    })
  const of = (count: number) => ({
    voltage_v: each(count, 'voltage'),
    current_a: each(count, 'current'),
  })
  const strings = stringsOf(inverter)
  const has_combiners = (inverter.combiners?.length ?? 0) > 0
  if (inputs.of === 'strings') {
    return { strings: has_combiners ? null : of(strings.length), mppts: null }
  }
  const mppts = of(mpptCount(inverter))
  const alone = !has_combiners && strings.every(({ mppt_index }, index) => mppt_index === index)
  return { strings: alone ? mppts : null, mppts }
}
