/** Items of hours, read one week at a time. */
import { day_ms } from '@heliograph/domain/durations'
import type { Queries } from '../../storage/database.ts'
import { readStringHours } from '../rollups/store.ts'
import type { Bounds, Now } from './figures.ts'
import {
  readLoggerDays,
  readLoggerHours,
  readLoggers,
  readStringCapacities,
} from './logger-hours.ts'
import { energyMatrix } from './matrix.ts'
import { loggerHours, stringHours } from './records.ts'

/** Every hour of a logger in the window, which starts on a full hour. */
export async function* loggerHourWeeks(
  db: Queries,
  site_id: string,
  logger_id: number,
  window: Bounds,
  now: Now,
) {
  const logger_ids = [logger_id]
  const [logger] = await readLoggers(db, site_id, { ...window, logger_ids })
  if (!logger) return
  for (const week of weeksOf(window)) {
    const rows = await readLoggerHours(db, site_id, { ...week, logger_ids })
    yield loggerHours(week, logger, rows, now)
  }
}

/** Items of the matrix of whole days. */
export async function* matrixWeeks(
  db: Queries,
  site_id: string,
  logger_ids: readonly number[] | null,
  window: Bounds,
  now: Now,
) {
  const loggers = await readLoggers(db, site_id, { ...window, logger_ids })
  for (const week of weeksOf(window)) {
    const days = await readLoggerDays(db, site_id, { ...week, logger_ids })
    yield JSON.parse(String(energyMatrix(week, loggers, days, now).text)).data
  }
}

/** Hours of the strings of an inverter that start in the window. */
export async function* stringHourWeeks(
  db: Queries,
  site_id: string,
  inverter_id: number,
  window: Bounds,
  now: Now,
) {
  const strings = await readStringCapacities(db, site_id, inverter_id)
  for (const { start_ms: from_ms, end_ms: to_ms } of weeksOf(window)) {
    const asked = { inverter_ids: [inverter_id], from_ms, to_ms }
    const stored = await readStringHours(db, site_id, asked)
    yield stored.flatMap((hour) => stringHours(hour, strings, now))
  }
}

function* weeksOf({ start_ms, end_ms }: Bounds): Generator<Bounds> {
  for (let at = start_ms; at < end_ms; at += 7 * day_ms) {
    yield { start_ms: at, end_ms: Math.min(end_ms, at + 7 * day_ms) }
  }
}
