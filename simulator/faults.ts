/** Faults on request: what breaks in the simulated plant, and on its wires. */
import { type PvString, type Site, stringsOf } from '@heliograph/domain/site'
import { type BatteryFault, cellPlace } from './batteries/battery-faults.ts'
import { substrings_per_module } from './string.ts'

/** A fault begins at `since_ms`; without it, it is always in force. */
interface Start {
  since_ms?: number
}

export type StringFault = Start & { inverter_id: number; string_index: number } & (
    | { kind: 'open_string' | 'shaded_string' }
    | {
        kind: 'soiled_string' | 'bypassed_substring' | 'resistive_string' | 'degraded_string'
        value: number
      }
  )

export type Fault =
  | StringFault
  | (Start & BatteryFault)
  | (Start &
      (
        | { kind: 'dead_inverter'; inverter_id: number }
        | { kind: 'limit'; inverter_id: number; limit_pct: number }
        /** Accepts limits and does not obey them. */
        | { kind: 'ignores_limit'; inverter_id: number }
        /** Restarts, offline for half a minute, and loses what is not persistent. */
        | { kind: 'forgets_limit'; inverter_id: number; every_s: number }
        /** An external limit, set again every five minutes. */
        | { kind: 'second_master'; inverter_id: number; limit_pct: number }
        | { kind: 'stuck_sensor'; station_id: number; sensor_id: string; value: number }
        | { kind: 'slow_device'; connection: string; unit_id: number; delay_ms: number }
        | { kind: 'silent_device'; connection: string; unit_id: number }
      ))

export const isInForce = ({ since_ms }: Fault, time_ms: number): boolean =>
  since_ms === undefined || since_ms <= time_ms

/** Reads one part of a fault; null if it is not valid. */
type Read = (text: string | undefined) => string | number | null

const integer = (text: string | undefined) =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null
const number = (text: string | undefined) =>
  text !== undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : null
const text: Read = (part) => part || null
const matching = (pattern: RegExp) => (part: string | undefined) =>
  part !== undefined && pattern.test(part) ? part : null
const numberIf =
  (isValid: (value: number) => boolean, read = number): Read =>
  (part) => {
    const value = read(part)
    return value !== null && isValid(value) ? value : null
  }

interface Target {
  label: string
  /** The fields that name the target, separated by a slash when written. */
  fields: Readonly<Record<string, Read>>
  /** How the last field is written, where that is not its name. */
  form?: string
}

const targets = {
  inverter: { label: 'inverter', fields: { inverter_id: integer } },
  string: { label: 'string', fields: { inverter_id: integer, string_index: integer } },
  sensor: { label: 'sensor', fields: { station_id: integer, sensor_id: text } },
  device: { label: 'device', fields: { connection: text, unit_id: integer } },
  battery: { label: 'battery', fields: { bess_id: integer } },
  pcs: {
    label: 'PCS',
    fields: {
      bess_id: integer,
      pcs_idx: (part) => (/^\d{1,2}$/.test(part ?? '') ? Number(part) : null),
    },
  },
  cell: {
    label: 'cell',
    fields: { bess_id: integer, cell: matching(/^\d{1,3}-\d{1,3}-\d{1,3}$/) },
    form: '<cluster>-<module>-<cell>',
  },
} satisfies Record<string, Target>

interface Kind {
  target: keyof typeof targets
  /** The field of the value after the equals sign; absent: no value. */
  value?: { field: string; form?: string; read: Read }
}

const percent = { field: 'limit_pct', form: 'pct', read: numberIf((pct) => pct >= 0 && pct <= 100) }
const stringValue = (form: string, below: number, read = number) => ({
  field: 'value',
  form,
  read: numberIf((value) => value > 0 && value < below, read),
})

const kinds: Readonly<Record<Fault['kind'], Kind>> = {
  dead_inverter: { target: 'inverter' },
  limit: { target: 'inverter', value: percent },
  ignores_limit: { target: 'inverter' },
  forgets_limit: {
    target: 'inverter',
    value: { field: 'every_s', read: numberIf((seconds) => seconds >= 1) },
  },
  second_master: { target: 'inverter', value: percent },
  open_string: { target: 'string' },
  shaded_string: { target: 'string' },
  soiled_string: { target: 'string', value: stringValue('loss_ratio', 1) },
  bypassed_substring: { target: 'string', value: stringValue('count', 300, integer) },
  resistive_string: { target: 'string', value: stringValue('ohm', 1e6) },
  degraded_string: { target: 'string', value: stringValue('shunt_ohm', 1e6) },
  stuck_sensor: { target: 'sensor', value: { field: 'value', read: number } },
  slow_device: {
    target: 'device',
    value: { field: 'delay_ms', read: numberIf((delay) => delay >= 0) },
  },
  silent_device: { target: 'device' },
  bms_silent: { target: 'battery' },
  battery_heartbeat_frozen: { target: 'battery' },
  local_control: { target: 'battery' },
  contactor_open: { target: 'battery' },
  pcs_silent: { target: 'pcs' },
  pcs_fault: { target: 'pcs' },
  soc_jump: { target: 'battery', value: { field: 'by_pct', read: number } },
  cell_weak: { target: 'cell' },
  cell_over_temperature: { target: 'cell', value: { field: 'temperature_c', read: number } },
}

const isKind = (text: string): text is Fault['kind'] => Object.hasOwn(kinds, text)

function formOf(kind: Fault['kind']): string {
  const { target, value } = kinds[kind]
  const { fields, form }: Target = targets[target]
  const names = Object.keys(fields).map((name) => `<${name}>`)
  if (form) names.splice(-1, 1, form)
  return `${kind}:${names.join('/')}${value ? `=<${value.form ?? value.field}>` : ''}`
}

/** A message for each fault whose target is not part of the site. */
export function misplacedFaults(site: Site, faults: readonly Fault[]): string[] {
  return faults.flatMap((fault) => {
    const { label, fields }: Target = targets[kinds[fault.kind].target]
    const values: Readonly<Record<string, unknown>> = { ...fault }
    const place = Object.keys(fields).map((name) => values[name])
    const more =
      fault.kind === 'bypassed_substring' ? ` of more than ${fault.value} substrings` : ''
    if (isThere(site, fault)) return []
    return [`${fault.kind}: the site has no ${label} ${place.join('/')}${more}`]
  })
}

function isThere({ loggers, meters = [], batteries = [] }: Site, fault: Fault): boolean {
  const inverters = loggers.flatMap((logger) => logger.inverters)
  const stations = loggers.flatMap((logger) => logger.stations ?? [])
  if ('bess_id' in fault) {
    const battery = batteries.find(({ bess_id }) => bess_id === fault.bess_id)
    if (!battery) return false
    if ('pcs_idx' in fault) return battery.pcs.some(({ pcs_idx }) => pcs_idx === fault.pcs_idx)
    return 'cell' in fault ? cellPlace(battery, fault.cell) !== null : true
  }
  if ('connection' in fault) {
    const units = batteries.flatMap((one) => [...one.pcs, one.bms, ...(one.bms.clusters ?? [])])
    return [...inverters, ...stations, ...meters, ...units].some(
      ({ connection, unit_id }) => connection === fault.connection && unit_id === fault.unit_id,
    )
  }
  if ('station_id' in fault) {
    return stations
      .filter(({ station_id }) => station_id === fault.station_id)
      .some((station) => station.instruments.some((one) => one.sensor_id === fault.sensor_id))
  }
  const inverter = inverters.find(({ inverter_id }) => inverter_id === fault.inverter_id)
  if (!inverter || !('string_index' in fault)) return inverter !== undefined
  const string: PvString | undefined = stringsOf(inverter)[fault.string_index]
  const bypassed = fault.kind === 'bypassed_substring' ? fault.value : 0
  return string !== undefined && bypassed < string.module_count * substrings_per_module
}

/**
 * Reads a fault as it is written in the settings, for example `open_string:3/7`, or with the day
 * (UTC) from which on it is in force, `open_string:3/7@2026-05-01`.
 * @throws {Error} naming the forms if it is none of them
 */
export function parseFault(text: string): Fault {
  const [, what = '', date] = /^(.*?)(?:@(\d{4}-\d{2}-\d{2}))?$/s.exec(text.trim()) ?? []
  const fault = faultOf(what)
  if (fault && date === undefined) return fault
  const since_ms = date === undefined ? null : dayStart(date)
  if (fault && since_ms !== null) return { ...fault, since_ms }
  const forms = Object.keys(kinds).filter(isKind).map(formOf)
  throw new Error(
    `'${text}' is no fault; write one of ${forms.join(', ')}, each with @<yyyy-mm-dd> if it is to ` +
      'begin on a day',
  )
}

function faultOf(written: string): Fault | null {
  const [kind, rest = ''] = splitOnce(written, ':')
  const [place, setting] = splitOnce(rest, '=')
  if (!isKind(kind)) return null
  const { target, value } = kinds[kind]
  const fields = Object.entries<Read>(targets[target].fields)
  const parts = splitOnce(place, '/').filter((part) => part !== undefined)
  if (parts.length !== fields.length || (setting !== undefined && !value)) return null
  const entries = fields.map(([name, read], nth) => [name, read(parts[nth])] as const)
  if (value) entries.push([value.field, value.read(setting)])
  if (entries.some(([, found]) => found === null)) return null
  return { kind, ...Object.fromEntries(entries) } as Fault
}

/** Null for a day that does not exist. */
function dayStart(date: string): number | null {
  const start = new Date(`${date}T00:00:00Z`)
  const exists = !Number.isNaN(start.getTime()) && start.toISOString().startsWith(date)
  return exists ? start.getTime() : null
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)]
}
