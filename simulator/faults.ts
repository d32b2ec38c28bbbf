/** Faults on request: what breaks in the simulated plant, and on its wires. */
import { type PvString, type Site, stringsOf } from '@heliograph/domain/site'
import {
  type BatteryFault,
  batteryFaultForms,
  batteryFaultOf,
  batteryFaultPlace,
  isBatteryFault,
  isFaultOf,
} from './batteries/battery-faults.ts'
import { substrings_per_module } from './string.ts'

/** What may be wrong with a string, and the figure that it takes, in what range. */
const stringFaults = {
  open_string: null,
  shaded_string: null,
  soiled_string: { name: 'loss_ratio', above: 0, below: 1 },
  bypassed_substring: { name: 'count', above: 0, below: 300 },
  resistive_string: { name: 'ohm', above: 0, below: 1e6 },
  degraded_string: { name: 'shunt_ohm', above: 0, below: 1e6 },
} as const

type StringFaultKind = keyof typeof stringFaults
type Plain = 'open_string' | 'shaded_string'

/** A fault begins at `since_ms`; without it, it has always been there. */
interface Start {
  since_ms?: number
}

export type StringFault = Start & { inverter_id: number; string_index: number } & (
    | { kind: Plain }
    | { kind: Exclude<StringFaultKind, Plain>; value: number }
  )

export type Fault =
  | StringFault
  | (Start & BatteryFault)
  | (Start &
      (
        | { kind: 'dead_inverter'; inverter_id: number }
        | { kind: 'limit'; inverter_id: number; limit_pct: number }
        /** It takes what it is told and delivers on. */
        | { kind: 'ignores_limit'; inverter_id: number }
        /** It starts anew, away for half a minute, and has lost what is not persistent. */
        | { kind: 'forgets_limit'; inverter_id: number; every_s: number }
        /** Somebody else sets this limit, every five minutes. */
        | { kind: 'second_master'; inverter_id: number; limit_pct: number }
        | { kind: 'stuck_sensor'; station_id: number; sensor_id: string; value: number }
        | { kind: 'slow_device'; connection: string; unit_id: number; delay_ms: number }
        | { kind: 'silent_device'; connection: string; unit_id: number }
      ))

export const isInForce = ({ since_ms }: Fault, time_ms: number): boolean =>
  since_ms === undefined || since_ms <= time_ms

/** Faults of what the site does not have, each in words. */
export function misplacedFaults(site: Site, faults: readonly Fault[]): string[] {
  return faults.flatMap((fault) => {
    const place = placeOf(fault)
    return isThere(site, fault) ? [] : [`${fault.kind}: the site has no ${place}`]
  })
}

function placeOf(fault: Fault): string {
  if (isBatteryFault(fault)) return batteryFaultPlace(fault)
  switch (fault.kind) {
    case 'dead_inverter':
    case 'limit':
    case 'ignores_limit':
    case 'forgets_limit':
    case 'second_master':
      return `inverter ${fault.inverter_id}`
    case 'stuck_sensor':
      return `sensor ${fault.station_id}/${fault.sensor_id}`
    case 'slow_device':
    case 'silent_device':
      return `device ${fault.connection}/${fault.unit_id}`
    case 'bypassed_substring':
      return `string ${fault.inverter_id}/${fault.string_index} of more than ${fault.value} substrings`
    default:
      return `string ${fault.inverter_id}/${fault.string_index}`
  }
}

function isThere({ loggers, meters = [], batteries = [] }: Site, fault: Fault): boolean {
  if (isBatteryFault(fault)) return isFaultOf(batteries, fault)
  const units = batteries.flatMap((one) => [...one.pcs, one.bms, ...(one.bms.clusters ?? [])])
  const inverters = loggers.flatMap((logger) => logger.inverters)
  const stations = loggers.flatMap((logger) => logger.stations ?? [])
  switch (fault.kind) {
    case 'dead_inverter':
    case 'limit':
    case 'ignores_limit':
    case 'forgets_limit':
    case 'second_master':
      return inverters.some(({ inverter_id }) => inverter_id === fault.inverter_id)
    case 'stuck_sensor':
      return stations
        .filter(({ station_id }) => station_id === fault.station_id)
        .some((station) => station.instruments.some((one) => one.sensor_id === fault.sensor_id))
    case 'slow_device':
    case 'silent_device':
      return [...inverters, ...stations, ...meters, ...units].some(
        ({ connection, unit_id }) => connection === fault.connection && unit_id === fault.unit_id,
      )
    default: {
      const string = inverters
        .filter(({ inverter_id }) => inverter_id === fault.inverter_id)
        .map((inverter): PvString | undefined => stringsOf(inverter)[fault.string_index])[0]
      const bypassed = fault.kind === 'bypassed_substring' ? fault.value : 0
      return string !== undefined && bypassed < string.module_count * substrings_per_module
    }
  }
}

const integer = (text: string | undefined) =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null
const number = (text: string | undefined) =>
  text !== undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : null

const forms = [
  'dead_inverter:<inverter_id>',
  'limit:<inverter_id>=<pct>',
  'ignores_limit:<inverter_id>',
  'forgets_limit:<inverter_id>=<every_s>',
  'second_master:<inverter_id>=<pct>',
  ...Object.entries(stringFaults).map(
    ([kind, figure]) =>
      `${kind}:<inverter_id>/<string_index>${figure === null ? '' : `=<${figure.name}>`}`,
  ),
  'stuck_sensor:<station_id>/<sensor_id>=<value>',
  'slow_device:<connection>/<unit_id>=<delay_ms>',
  'silent_device:<connection>/<unit_id>',
  ...batteryFaultForms,
]

/**
 * Reads a fault as it is written in the settings, `open_string:3/7` for one, or with the day (UTC)
 * from which on it is there, `open_string:3/7@2026-05-01`.
 * @throws {Error} naming the forms when it is none of them
 */
export function parseFault(text: string): Fault {
  const [, what = '', date] = /^(.*?)(?:@(\d{4}-\d{2}-\d{2}))?$/s.exec(text.trim()) ?? []
  const [kind, rest = ''] = splitOnce(what, ':')
  const [target, setting] = splitOnce(rest, '=')
  const [left = '', right] = splitOnce(target, '/')
  const fault = faultOf(kind, left, right, setting)
  if (fault && date === undefined) return fault
  const since_ms = date === undefined ? null : dayStart(date)
  if (fault && since_ms !== null) return { ...fault, since_ms }
  throw new Error(
    `'${text}' is no fault; write one of ${forms.join(', ')}, each with @<yyyy-mm-dd> if it is to ` +
      'begin on a day',
  )
}

function faultOf(kind: string, left: string, right?: string, setting?: string): Fault | null {
  const id = integer(left)
  const second = integer(right)
  const value = number(setting)
  const written = { bess_id: id, part: right, value, has_value: setting !== undefined }
  const of_battery = batteryFaultOf({ kind, ...written })
  if (of_battery) return of_battery
  if (id !== null && right === undefined) {
    const fault = inverterFaultOf(kind, id, { setting, value })
    if (fault) return fault
  }
  if (Object.hasOwn(stringFaults, kind) && id !== null && second !== null) {
    return stringFaultOf(
      kind as StringFaultKind,
      { inverter_id: id, string_index: second },
      setting,
    )
  }
  if (kind === 'stuck_sensor' && id !== null && right && value !== null) {
    return { kind, station_id: id, sensor_id: right, value }
  }
  if (kind === 'slow_device' && left && second !== null && value !== null && value >= 0) {
    return { kind, connection: left, unit_id: second, delay_ms: value }
  }
  if (kind === 'silent_device' && left && second !== null && setting === undefined) {
    return { kind, connection: left, unit_id: second }
  }
  return null
}

function inverterFaultOf(
  kind: string,
  inverter_id: number,
  { setting, value }: { setting: string | undefined; value: number | null },
): Fault | null {
  if (kind === 'dead_inverter' || kind === 'ignores_limit') {
    return setting === undefined ? { kind, inverter_id } : null
  }
  if (value === null || value < 0) return null
  if (kind === 'limit' || kind === 'second_master') {
    return value <= 100 ? { kind, inverter_id, limit_pct: value } : null
  }
  return kind === 'forgets_limit' && value >= 1 ? { kind, inverter_id, every_s: value } : null
}

function stringFaultOf(
  kind: StringFaultKind,
  string: { inverter_id: number; string_index: number },
  setting: string | undefined,
): Fault | null {
  const figure = stringFaults[kind]
  if (kind === 'open_string' || kind === 'shaded_string' || figure === null) {
    return setting === undefined ? ({ kind, ...string } as StringFault) : null
  }
  const value = kind === 'bypassed_substring' ? integer(setting) : number(setting)
  if (value === null || value <= figure.above || value >= figure.below) return null
  return { kind, ...string, value }
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
