/**
 * A recording of a device for `edge/profiles/recordings`: the words of the quantities that its
 * profile describes, and their values, with model and firmware. The serial number is zeros; limits
 * and alarms are left out.
 */
import type { Profile } from '@heliograph/domain/profile'
import { exceptionError } from '../bus/bus-error.ts'
import type { Bus, Complaint } from '../drivers/driver.ts'
import { type DeviceValue, profileValues } from './device-values.ts'
import { openAlone } from './lone-device.ts'

/** Words by address, and the values that must come out. */
export interface Recording {
  holding?: Record<number, number[]>
  input?: Record<number, number[]>
  values: Record<string, unknown>
}

type Tables = Pick<Recording, 'holding' | 'input'>

const serial_field = 'identity.serial_number'
const identity_fields = [serial_field, 'identity.model', 'identity.firmware_version']
const recorded_parts = ['readings', 'state', 'strings', 'mppts', 'points', 'active_power']
/** Columns that come from other registers than their own. */
const derived_names = ['state', 'state_vendor_code', 'current_a', 'voltage_v']

export async function recordingOf(
  bus: Bus,
  unit_id: number,
  profile: Profile,
): Promise<{ recording: Recording; complaints: readonly Complaint[] }> {
  const tables: Required<Tables> = { holding: {}, input: {} }
  for (const { field, table, address, words } of await profileValues(bus, unit_id, profile)) {
    if (!words || !isRecorded(field)) continue
    tables[table][address] = field === serial_field ? words.map(() => 0) : words
  }
  const device = await openAlone(profile, replayBus(tables), unit_id)
  const { values, complaints } = await device.read()
  const names = new Set([...derived_names, ...readingNames(profile)])
  const kept = Object.entries(values).filter(
    ([name, value]) => names.has(name) || (name.startsWith('mppt_') && value !== null),
  )
  const known = kept.filter(([name, value]) => value !== null || !derived_names.includes(name))
  return { recording: { ...tables, values: Object.fromEntries(known) }, complaints }
}

function isRecorded(field: DeviceValue['field']): boolean {
  const [capability, part] = field.split('.')
  if (capability === 'identity') return identity_fields.includes(field)
  return recorded_parts.includes(part ?? '')
}

/** Of the capability that `openAlone` opens. */
function readingNames({ inverter, controller, pcs, meter, weather }: Profile): string[] {
  if (!inverter && controller) return ['ac_power_kw']
  return Object.keys((inverter ?? pcs ?? meter)?.readings ?? weather?.points ?? {})
}

/** A bus of recorded words; every other register is refused. */
export function replayBus({ holding = {}, input = {} }: Tables): Bus {
  const wordsIn = (rows: Record<number, number[]>) =>
    new Map(
      Object.entries(rows).flatMap(([address, words]) =>
        words.map((word, nth): [number, number] => [Number(address) + nth, word]),
      ),
    )
  const reads = (table: ReadonlyMap<number, number>): Bus['readHoldingRegisters'] => {
    return async (_unit_id, address, count) =>
      Uint16Array.from({ length: count }, (_, nth) => {
        const word = table.get(address + nth)
        if (word === undefined) throw exceptionError(2)
        return word
      })
  }
  return {
    readHoldingRegisters: reads(wordsIn(holding)),
    readInputRegisters: reads(wordsIn(input)),
    async writeRegisters() {
      throw exceptionError(1)
    },
    async close() {},
  }
}

const significant_digits = 9

export function recordingText({ values, ...tables }: Recording): string {
  const words = (word: number) => `0x${word.toString(16).padStart(4, '0')}`
  const rows = Object.entries(tables).flatMap(([table, rows = {}]) => {
    const lines = Object.entries(rows).map(
      ([address, of]) => `  ${address}: [${of.map(words).join(', ')}]`,
    )
    return lines.length === 0 ? [] : [`${table}:`, ...lines]
  })
  const rounded = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(rounded).join(', ')}]`
    if (typeof value !== 'number') return String(value)
    return String(Number(value.toPrecision(significant_digits)))
  }
  return [
    '# Words by address, read from a device by heliograph-edge record, and the values that came out.',
    '# Fill in: that each value was compared with the display of the device.',
    ...rows,
    'values:',
    ...Object.entries(values).map(([name, value]) => `  ${name}: ${rounded(value)}`),
    '',
  ].join('\n')
}
