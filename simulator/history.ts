/**
 * The history of the simulated site, one frame an hour, newest day first, so that what is looked
 * at most is there first. Each day is simulated forward and its counters are laid so that they end
 * where the following day begins: at the last they meet the counters of the live plant. Sensor
 * nodes follow, the oldest day first, for what they measure depends on what was before.
 */

import type { Frame, LinkEvent, Readings } from '@heliograph/domain/link'
import { loggerReading } from '@heliograph/domain/logger-reading'
import {
  columnsOf,
  type LoggerReading,
  type NodeReading,
  type ReadingKind,
  type ReadingOf,
} from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { onGrid } from './batteries/battery-readings.ts'
import { batteryPast } from './batteries/past.ts'
import { advance, type Counters } from './counters.ts'
import { nodeDays } from './nodes/history.ts'
import type { Surroundings } from './nodes/station.ts'
import { allSurroundings } from './nodes/surroundings.ts'
import { readingsAt, type SiteReadings } from './readings.ts'
import type { Simulation, SiteSnapshot } from './site.ts'
import { weatherAt } from './weather.ts'

const minute_ms = 60_000
const day_min = 24 * 60
const day_ms = day_min * minute_ms

export interface HistorySpan {
  /** The live plant's counters as they stood at the end of the history. */
  counters: Counters
  days: number
}

/** Each hour is a frame; with nodes also each day of theirs, and all that they switched. */
export const historyFrameCount = ({ nodes = [] }: Site, days: number): number =>
  days * 24 + (nodes.length > 0 ? days + 1 : 0)

/**
 * The frames of `days` days of one-minute readings up to `counters.time_ms`, exclusive. `seq`
 * counts hours back from there, and then the days of the nodes: equal for equal arguments, so that
 * an interrupted import goes on.
 */
export function* historyFrames(
  simulation: Simulation,
  { counters, days }: HistorySpan,
): Generator<Frame> {
  const end_ms = Math.floor(counters.time_ms / minute_ms) * minute_ms
  const has_nodes = (simulation.site.nodes ?? []).length > 0
  const around = new Map<number, Surroundings[]>()
  const { site, seed } = simulation
  const place = { ...site, elevation_m: site.elevation_m ?? 0, east_m: 0 }
  const ambient_c = (time_ms: number) => weatherAt(seed, time_ms, place).ambient_temperature_c
  const batteries = batteryPast(site, { seed, end_ms, days, ambient_c })
  let after = counters
  for (let day = 0; day < days; day += 1) {
    const from_ms = end_ms - (day + 1) * day_ms
    const minutes = Array.from({ length: day_min + 1 }, (_, minute) => {
      const snapshot = simulation.at(from_ms + minute * minute_ms)
      // Of its end, where the live ones begin, there is none: they rest.
      const battery_kw = batteries.get(snapshot.time_ms)?.power_kw ?? 0
      return { ...snapshot, export_power_kw: snapshot.export_power_kw + battery_kw }
    })
    for (const minute of has_nodes ? minutes : []) {
      around.set(minute.time_ms, allSurroundings(simulation, minute))
    }
    const running = countersBefore(minutes, after)
    after = structuredClone(running)
    for (let hour = 0; hour < 24; hour += 1) {
      const seq = day * 24 + 24 - hour
      const of_hour = minutes.slice(hour * 60, hour * 60 + 60)
      const payload = hourOf(simulation, of_hour, { counters: running, batteries })
      yield { seq, kind: 'readings', payload }
    }
  }
  if (has_nodes) {
    yield* nodeFrames(simulation, { end_ms, days, around: (time_ms) => around.get(time_ms) })
  }
}

function* nodeFrames(
  simulation: Simulation,
  span: Parameters<typeof nodeDays>[1],
): Generator<Frame> {
  const switched: LinkEvent[] = []
  let seq = span.days * 24
  for (const { readings, events } of nodeDays(simulation, span)) {
    seq += 1
    switched.push(...events)
    const columns = columnsOf('node') as (keyof NodeReading)[]
    const rows = readings.map((reading) => columns.map((column) => reading[column]))
    yield { seq, kind: 'readings', payload: { node: { columns, rows } } }
  }
  yield { seq: seq + 1, kind: 'events', payload: switched }
}

/** Where the counters stood a day before `after`, the minutes of which are run through for it. */
function countersBefore(minutes: readonly SiteSnapshot[], after: Counters): Counters {
  const from_ms = minutes[0]!.time_ms
  const gained = structuredClone(after)
  gained.time_ms = from_ms
  for (const snapshot of minutes.slice(1)) advance(gained, snapshot, snapshot.time_ms)
  const before = structuredClone(after)
  before.time_ms = from_ms
  for (const [id, counter] of Object.entries(before.inverters)) {
    const end = gained.inverters[Number(id)]!
    counter.ac_kwh -= end.ac_kwh - counter.ac_kwh
    counter.mppt_kwh = counter.mppt_kwh.map((kwh, mppt) => kwh - (end.mppt_kwh[mppt]! - kwh))
  }
  before.export_kwh -= gained.export_kwh - after.export_kwh
  before.import_kwh -= gained.import_kwh - after.import_kwh
  return before
}

/** What hours of history are made of. Clusters and cells of batteries begin with the edge. */
type SimulatedKind = Exclude<ReadingKind, 'node' | 'cluster' | 'cells'>

/** Sixty readings of every device; the counters run on with them. */
function hourOf(
  simulation: Simulation,
  minutes: readonly SiteSnapshot[],
  { counters, batteries }: { counters: Counters; batteries: ReturnType<typeof batteryPast> },
): Readings {
  const rows: Record<SimulatedKind, unknown[][]> = {
    inverter: [],
    string: [],
    meter: [],
    weather: [],
    logger: [],
    bess: [],
    pcs: [],
  }
  const add = <Kind extends keyof typeof rows>(
    kind: Kind,
    readings: readonly ReadingOf[Kind][],
  ) => {
    const columns = columnsOf(kind) as (keyof ReadingOf[Kind])[]
    for (const reading of readings) rows[kind].push(columns.map((column) => reading[column]))
  }
  for (const snapshot of minutes) {
    advance(counters, snapshot, snapshot.time_ms)
    const readings = readingsAt(simulation, snapshot, counters)
    add('inverter', readings.inverter)
    add('string', readings.string)
    add('meter', readings.meter)
    add('weather', readings.weather)
    add('logger', loggerReadings(simulation, readings))
    const { bess, pcs } = batteries.get(snapshot.time_ms)!
    add('bess', bess)
    add(
      'pcs',
      pcs.map((one) => onGrid(one, snapshot)),
    )
  }
  const kinds = Object.keys(rows) as (keyof typeof rows)[]
  return Object.fromEntries(
    kinds.map((kind) => [kind, { columns: [...columnsOf(kind)], rows: rows[kind] }]),
  )
}

function loggerReadings({ site }: Simulation, readings: SiteReadings): LoggerReading[] {
  return site.loggers.flatMap((logger) => {
    const own = new Set(logger.inverters.map(({ inverter_id }) => inverter_id))
    const stations = new Set((logger.stations ?? []).map(({ station_id }) => station_id))
    const reading = loggerReading({
      logger_id: logger.logger_id,
      measured_at: readings.inverter[0]!.measured_at,
      inverters_total: own.size,
      inverters: readings.inverter.filter(({ inverter_id }) => own.has(inverter_id)),
      stations: readings.weather.filter(({ station_id }) => stations.has(station_id)),
      inverter_age_ms_max: minute_ms,
      station_age_ms_max: minute_ms,
    })
    return reading ?? []
  })
}
