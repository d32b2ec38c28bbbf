/**
 * History of the simulated site, one frame an hour, newest day first; an hour of many devices is
 * several frames. Each day is simulated forward, and its counters are shifted to end where the
 * following day begins; the newest meet the counters of the live plant. Sensor nodes follow, also
 * newest day first.
 */

import { minute_ms } from '@heliograph/domain/durations'
import type { Frame, Readings } from '@heliograph/domain/link'
import { loggerReading } from '@heliograph/domain/logger-reading'
import { columnsOf, type LoggerReading, type NodeReading } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { onGrid } from './batteries/battery-readings.ts'
import { batteryPast } from './batteries/past.ts'
import { advance, type Counters } from './counters.ts'
import { answersAtNight, isDark } from './nights.ts'
import { nodeDays } from './nodes/history.ts'
import type { Surroundings } from './nodes/station.ts'
import { allSurroundings } from './nodes/surroundings.ts'
import { readingsAt, type SiteReadings } from './readings.ts'
import type { Simulation, SiteSnapshot } from './site.ts'
import { ambientOf } from './weather.ts'

const day_min = 24 * 60
const day_ms = day_min * minute_ms

interface HistorySpan {
  /** Counters of the live plant at the end of the history. */
  counters: Counters
  days: number
}

/**
 * Maximum rows of inverters (with their strings) and of nodes in a frame: with 12 MPPT or 20
 * channels each they stay below `frame_length_max`.
 */
const inverter_rows_max = 1000
const node_rows_max = 5000

/** Number of frames of an hour of devices, and of a day of nodes. */
function framesOf({ loggers, nodes = [] }: Site): { of_hour: number; of_nodes: number } {
  const inverters = loggers.reduce((count, logger) => count + logger.inverters.length, 0)
  const minutes = [60, 30, 20, 15, 12, 10, 6, 5, 4, 3, 2]
  return {
    of_hour: 60 / (minutes.find((count) => count * inverters <= inverter_rows_max) ?? 1),
    of_nodes: Math.ceil((nodes.length * day_min) / node_rows_max),
  }
}

/** Number of frames, including those of nodes and their switchings. */
export function historyFrameCount(site: Site, days: number): number {
  const { of_hour, of_nodes } = framesOf(site)
  return days * (24 * of_hour + (of_nodes > 0 ? of_nodes + 1 : 0))
}

/**
 * The frames of `days` days of one-minute readings up to `counters.time_ms`, exclusive. `seq`
 * counts hours back from there, then the days of the nodes. Deterministic, so that an interrupted
 * import can continue.
 */
export function* historyFrames(
  simulation: Simulation,
  { counters, days }: HistorySpan,
): Generator<Frame> {
  const end_ms = Math.floor(counters.time_ms / minute_ms) * minute_ms
  const has_nodes = (simulation.site.nodes ?? []).length > 0
  const around = new Map<number, Surroundings[]>()
  const { site, seed } = simulation
  const { of_hour } = framesOf(site)
  const frame_min = 60 / of_hour
  const batteries = batteryPast(site, { seed, end_ms, days, ambient_c: ambientOf(site, seed) })
  let after = counters
  for (let day = 0; day < days; day += 1) {
    const from_ms = end_ms - (day + 1) * day_ms
    const minutes = Array.from({ length: day_min + 1 }, (_, minute) => {
      const snapshot = simulation.at(from_ms + minute * minute_ms)
      // The end has none: live batteries start at rest.
      const battery_kw = batteries.get(snapshot.time_ms)?.power_kw ?? 0
      return { ...snapshot, export_power_kw: snapshot.export_power_kw + battery_kw }
    })
    for (const minute of has_nodes ? minutes : []) {
      around.set(minute.time_ms, allSurroundings(simulation, minute))
    }
    const running = countersBefore(minutes, after)
    after = structuredClone(running)
    for (let nth = 0; nth < 24 * of_hour; nth += 1) {
      const seq = (day + 1) * 24 * of_hour - nth
      const part = minutes.slice(nth * frame_min, (nth + 1) * frame_min)
      const payload = readingsOf(simulation, part, { counters: running, batteries })
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
  const { of_hour, of_nodes } = framesOf(simulation.site)
  let seq = span.days * 24 * of_hour
  for (const { readings, events } of nodeDays(simulation, span)) {
    const columns = columnsOf('node') as (keyof NodeReading)[]
    const rows = readings.map((reading) => columns.map((column) => reading[column]))
    for (let nth = 0; nth < of_nodes; nth += 1) {
      const part = rows.slice(nth * node_rows_max, (nth + 1) * node_rows_max)
      seq += 1
      yield { seq, kind: 'readings', payload: { node: { columns, rows: part } } }
    }
    seq += 1
    yield { seq, kind: 'events', payload: events }
  }
}

/** Counters a day before `after`, from the energy of the minutes in between. */
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

/** Kinds in the hours of history. Clusters and cells of batteries begin with the edge. */
const simulated_kinds = ['inverter', 'string', 'meter', 'weather', 'logger', 'bess', 'pcs'] as const

/** A reading of every device for each minute; advances the counters. */
function readingsOf(
  simulation: Simulation,
  minutes: readonly SiteSnapshot[],
  { counters, batteries }: { counters: Counters; batteries: ReturnType<typeof batteryPast> },
): Readings {
  const by_minute = minutes.map((snapshot) => {
    advance(counters, snapshot, snapshot.time_ms)
    const readings = withoutSleepers(
      simulation,
      snapshot,
      readingsAt(simulation, snapshot, counters),
    )
    const { bess, pcs } = batteries.get(snapshot.time_ms)!
    const logger = loggerReadings(simulation, readings, snapshot.time_ms)
    return { ...readings, logger, bess, pcs: pcs.map((one) => onGrid(one, snapshot)) }
  })
  const tables = simulated_kinds.map((kind) => {
    const columns = [...columnsOf(kind)]
    const readings: readonly object[] = by_minute.flatMap(
      (minute): readonly object[] => minute[kind],
    )
    const rows = readings.map((reading) => {
      const values = reading as Readonly<Record<string, unknown>>
      return columns.map((column) => values[column])
    })
    return [kind, { columns, rows }] as const
  })
  return Object.fromEntries(tables)
}

/** Inverters that are off at night have no reading then. */
function withoutSleepers(
  { site }: Simulation,
  { inverters }: SiteSnapshot,
  readings: SiteReadings,
): SiteReadings {
  const sleep = new Set(
    site.loggers
      .flatMap((logger) => logger.inverters)
      .filter((inverter) => !answersAtNight(inverter))
      .map(({ inverter_id }) => inverter_id),
  )
  const off = new Set(
    inverters
      .filter((one) => isDark(one) && sleep.has(one.inverter_id))
      .map((one) => one.inverter_id),
  )
  const isThere = ({ inverter_id }: { inverter_id: number }) => !off.has(inverter_id)
  return {
    ...readings,
    inverter: readings.inverter.filter(isThere),
    string: readings.string.filter(isThere),
  }
}

function loggerReadings(
  { site }: Simulation,
  readings: SiteReadings,
  measured_at: number,
): LoggerReading[] {
  return site.loggers.flatMap((logger) => {
    const own = new Set(logger.inverters.map(({ inverter_id }) => inverter_id))
    const stations = new Set((logger.stations ?? []).map(({ station_id }) => station_id))
    const reading = loggerReading({
      logger_id: logger.logger_id,
      measured_at,
      inverters_total: own.size,
      inverters: readings.inverter.filter(({ inverter_id }) => own.has(inverter_id)),
      stations: readings.weather.filter(({ station_id }) => stations.has(station_id)),
      inverter_age_ms_max: minute_ms,
      station_age_ms_max: minute_ms,
    })
    return reading ?? []
  })
}
