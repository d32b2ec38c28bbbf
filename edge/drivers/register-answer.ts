/** What devices of all kinds have in their registers: identity, measurements, state, alarms. */
import type {
  InverterPart,
  NumberRegister,
  PcsPart,
  Profile,
  Register,
} from '@heliograph/domain/profile'
import { isRefusal } from '../bus/bus-error.ts'
import type { DeviceIdentity } from './driver.ts'
import { createRegisterReader, type Place, type RegisterValues } from './register-reader.ts'

/** @throws Error for another device than the site file names */
export async function identify(
  { identity }: Profile,
  place: Place,
  { serial_number: expected }: { serial_number?: string } = {},
): Promise<DeviceIdentity> {
  const { manufacturer, family, model, serial_number, firmware_version } = identity
  const registers = [model, serial_number, firmware_version].flatMap((one) => one ?? [])
  const values = await readIdentity(place, registers)
  const textOf = (register: Register | undefined) =>
    values && register ? values.text(register) : null
  const found = textOf(serial_number)
  if (expected !== undefined && found !== null && expected !== found) {
    const name = `unit ${place.unit_id} (${manufacturer} ${family})`
    throw new Error(`${name}: expected serial number ${expected}, found ${found}`)
  }
  return {
    manufacturer,
    model: textOf(model),
    serial_number: found,
    firmware_version: textOf(firmware_version),
  }
}

/** Null for a device that refuses all of them where none is required. */
async function readIdentity(
  place: Place,
  registers: readonly Register[],
): Promise<RegisterValues | null> {
  if (registers.length === 0) return null
  try {
    return await createRegisterReader(place, registers)()
  } catch (error) {
    if (isRefusal(error) && registers.every(({ optional }) => optional)) return null
    throw error
  }
}

export function columnsIn(
  readings: Readonly<Record<string, NumberRegister | undefined>>,
  values: RegisterValues,
): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(readings).map(([name, one]) => [name, one ? values.inColumn(one) : null]),
  )
}

type State = PcsPart['state'] | InverterPart['state']

/** The state and the maker's code; the first set bit of the flags decides before the codes. */
export function stateIn<Name extends string>(
  state: State,
  values: RegisterValues,
  { names, other }: { names: readonly Name[]; other: Name | null },
): { state: Name | null; state_vendor_code: number | null } {
  const code = state ? values.number(state.register) : null
  if (!state || code === null) return { state: null, state_vendor_code: null }
  const { flags = [], codes = {}, otherwise } = state
  const flag = flags.find(({ bit }) => (code >> bit) & 1)
  const coded = names.find((name) => codes[name]?.includes(code))
  const name = (flag?.state ?? coded ?? otherwise ?? other) as Name | null
  return { state: name, state_vendor_code: code }
}

type Alarms = InverterPart['alarms']

export const alarmRegisters = (alarms: Alarms): NumberRegister[] => alarms?.words.flat() ?? []

/** `alarm_1` on; null if one of its registers is missing, as an unread alarm is not clear. */
export function alarmsIn(alarms: Alarms, values: RegisterValues): Record<string, number | null> {
  const wordOf = (parts: readonly NumberRegister[]) =>
    parts.reduce<number | null>((word, part, nth) => {
      const raw = values.number(part)
      return word === null || raw === null ? null : word + raw * 65_536 ** nth
    }, 0)
  return Object.fromEntries(
    (alarms?.words ?? []).map((parts, nth) => [`alarm_${nth + 1}`, wordOf(parts)]),
  )
}
