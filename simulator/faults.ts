/** Faults on request: what breaks in the simulated plant, and on its wires. */
import { type Site, stringsOf } from '@heliograph/domain/site'

export type Fault =
  | { kind: 'dead_inverter'; inverter_id: number }
  | { kind: 'open_string'; inverter_id: number; string_index: number }
  | { kind: 'stuck_sensor'; station_id: number; sensor_id: string; value: number }
  | { kind: 'slow_device'; connection: string; unit_id: number; delay_ms: number }
  | { kind: 'silent_device'; connection: string; unit_id: number }

/** Faults of what the site does not have, each in words. */
export function misplacedFaults(site: Site, faults: readonly Fault[]): string[] {
  return faults.flatMap((fault) => {
    const place = placeOf(fault)
    return isThere(site, fault) ? [] : [`${fault.kind}: the site has no ${place}`]
  })
}

function placeOf(fault: Fault): string {
  switch (fault.kind) {
    case 'dead_inverter':
      return `inverter ${fault.inverter_id}`
    case 'open_string':
      return `string ${fault.inverter_id}/${fault.string_index}`
    case 'stuck_sensor':
      return `sensor ${fault.station_id}/${fault.sensor_id}`
    default:
      return `device ${fault.connection}/${fault.unit_id}`
  }
}

function isThere({ loggers, meters = [] }: Site, fault: Fault): boolean {
  const inverters = loggers.flatMap((logger) => logger.inverters)
  const stations = loggers.flatMap((logger) => logger.stations ?? [])
  switch (fault.kind) {
    case 'dead_inverter':
      return inverters.some(({ inverter_id }) => inverter_id === fault.inverter_id)
    case 'open_string':
      return inverters
        .filter(({ inverter_id }) => inverter_id === fault.inverter_id)
        .some((inverter) => fault.string_index < stringsOf(inverter).length)
    case 'stuck_sensor':
      return stations
        .filter(({ station_id }) => station_id === fault.station_id)
        .some((station) => station.instruments.some((one) => one.sensor_id === fault.sensor_id))
    default:
      return [...inverters, ...stations, ...meters].some(
        ({ connection, unit_id }) => connection === fault.connection && unit_id === fault.unit_id,
      )
  }
}

const integer = (text: string | undefined) =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null
const number = (text: string | undefined) =>
  text !== undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : null

const forms = [
  'dead_inverter:<inverter_id>',
  'open_string:<inverter_id>/<string_index>',
  'stuck_sensor:<station_id>/<sensor_id>=<value>',
  'slow_device:<connection>/<unit_id>=<delay_ms>',
  'silent_device:<connection>/<unit_id>',
]

/**
 * Reads a fault as it is written in the settings, `open_string:3/7` for one.
 * @throws {Error} naming the forms when it is none of them
 */
export function parseFault(text: string): Fault {
  const [kind, rest = ''] = splitOnce(text.trim(), ':')
  const [target, setting] = splitOnce(rest, '=')
  const [left = '', right] = splitOnce(target, '/')
  const fault = faultOf(kind, left, right, setting)
  if (fault) return fault
  throw new Error(`'${text}' is no fault; write one of ${forms.join(', ')}`)
}

function faultOf(kind: string, left: string, right?: string, setting?: string): Fault | null {
  const id = integer(left)
  const second = integer(right)
  const value = number(setting)
  if (kind === 'dead_inverter' && id !== null && right === undefined) {
    return { kind, inverter_id: id }
  }
  if (kind === 'open_string' && id !== null && second !== null) {
    return { kind, inverter_id: id, string_index: second }
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

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)]
}
