/**
 * The history of the simulated site, one frame an hour, newest day first, so that what is looked
 * at most is there first. Each day is simulated forward and its counters are laid so that they end
 * where the following day begins: at the last they meet the counters of the live plant.
 */

import type { Frame, Readings } from '@heliograph/domain/link'
import { loggerReading } from '@heliograph/domain/logger-reading'
import {
  columnsOf,
  type LoggerReading,
  type ReadingKind,
  type ReadingOf,
} from '@heliograph/domain/readings'
import { advance, type Counters } from './counters.ts'
import { readingsAt, type SiteReadings } from './readings.ts'
import type { Simulation } from './site.ts'

const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const day_ms = 24 * hour_ms

export interface HistorySpan {
  /** The live plant's counters as they stood at the end of the history. */
  counters: Counters
  days: number
}

export const historyFrameCount = (days: number): number => days * 24

/**
 * The frames of `days` days of one-minute readings up to `counters.time_ms`, exclusive. `seq`
 * counts hours back from there: equal for equal arguments, so that an interrupted import goes on.
 */
export function* historyFrames(
  simulation: Simulation,
  { counters, days }: HistorySpan,
): Generator<Frame> {
  const end_ms = Math.floor(counters.time_ms / minute_ms) * minute_ms
  let after = counters
  for (let day = 0; day < days; day += 1) {
    const from_ms = end_ms - (day + 1) * day_ms
    const running = countersBefore(simulation, from_ms, after)
    after = structuredClone(running)
    for (let hour = 0; hour < 24; hour += 1) {
      const seq = day * 24 + 24 - hour
      const payload = hourOf(simulation, from_ms + hour * hour_ms, running)
      yield { seq, kind: 'readings', payload }
    }
  }
}

/** Where the counters stood a day before `after`, at `from_ms`: the day is run through for it. */
function countersBefore(simulation: Simulation, from_ms: number, after: Counters): Counters {
  const gained = structuredClone(after)
  gained.time_ms = from_ms
  for (let minute = 1; minute <= day_ms / minute_ms; minute += 1) {
    const time_ms = from_ms + minute * minute_ms
    advance(gained, simulation.at(time_ms), time_ms)
  }
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

/** Sixty readings of every device; the counters run on with them. */
function hourOf(simulation: Simulation, from_ms: number, counters: Counters): Readings {
  const rows: Record<ReadingKind, unknown[][]> = {
    inverter: [],
    string: [],
    meter: [],
    weather: [],
    logger: [],
    node: [],
  }
  const add = <Kind extends ReadingKind>(kind: Kind, readings: readonly ReadingOf[Kind][]) => {
    const columns = columnsOf(kind) as (keyof ReadingOf[Kind])[]
    for (const reading of readings) rows[kind].push(columns.map((column) => reading[column]))
  }
  for (let minute = 0; minute < 60; minute += 1) {
    const snapshot = simulation.at(from_ms + minute * minute_ms)
    advance(counters, snapshot, snapshot.time_ms)
    const readings = readingsAt(simulation, snapshot, counters)
    add('inverter', readings.inverter)
    add('string', readings.string)
    add('meter', readings.meter)
    add('weather', readings.weather)
    add('logger', loggerReadings(simulation, readings))
  }
  const kinds = Object.keys(rows) as ReadingKind[]
  return Object.fromEntries(
    kinds.map((kind) => [kind, { columns: [...columnsOf(kind)], rows: rows[kind] }]),
  )
}

function loggerReadings({ site }: Simulation, readings: SiteReadings): LoggerReading[] {
  return site.loggers.map((logger) => {
    const own = new Set(logger.inverters.map(({ inverter_id }) => inverter_id))
    const stations = new Set((logger.stations ?? []).map(({ station_id }) => station_id))
    return loggerReading({
      logger_id: logger.logger_id,
      measured_at: readings.inverter[0]!.measured_at,
      inverters_total: own.size,
      inverters: readings.inverter.filter(({ inverter_id }) => own.has(inverter_id)),
      stations: readings.weather.filter(({ station_id }) => stations.has(station_id)),
      inverter_age_ms_max: minute_ms,
      station_age_ms_max: minute_ms,
    })
  })
}
