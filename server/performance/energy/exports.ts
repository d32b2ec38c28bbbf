/** File exports of hours: the items of the JSON answers, one week at a time. */
import { day_ms } from '@heliograph/domain/durations'
import type { Position } from '@heliograph/domain/place'
import type { ExportItem, ExportItems } from '../../http/export-items.ts'
import { awakeTime } from '../../plant/daylight.ts'
import { readStringHours } from '../rollups/store.ts'
import type { Bounds } from './figures.ts'
import { readLoggerDays, readLoggerHours, readLoggers } from './logger-hours.ts'
import { energyMatrix } from './matrix.ts'
import { loggerHours, stringHours } from './records.ts'

interface ExportBase {
  site_id: string
  /** Position of the site. */
  position: Position
  now_ms: number
}

/** Every hour of a logger in the window, which starts on a full hour. */
export const loggerHoursExport = ({
  site_id,
  position,
  logger_id,
  window,
}: ExportBase & { logger_id: number; window: Bounds }): ExportItems => ({
  async *items(queries) {
    const logger_ids = [logger_id]
    const [logger] = await readLoggers(queries, site_id, { ...datesOf(window), logger_ids })
    if (!logger) return
    for (const week of weeksOf(window)) {
      const rows = await readLoggerHours(queries, site_id, { ...datesOf(week), logger_ids })
      // All hours are over at the end of their week.
      const then = { now_ms: week.end_ms, awake: awakeTime(position) }
      yield loggerHours(week, logger, rows, then)
    }
  },
})

/** Matrix of whole days. */
export const matrixExport = ({
  site_id,
  position,
  now_ms,
  window,
  logger_ids,
}: ExportBase & { window: Bounds; logger_ids: readonly number[] | null }): ExportItems => ({
  async *items(queries) {
    const loggers = await readLoggers(queries, site_id, { ...datesOf(window), logger_ids })
    for (const week of weeksOf(window)) {
      const days = await readLoggerDays(queries, site_id, { ...datesOf(week), logger_ids })
      const now = { now_ms, awake: awakeTime(position) }
      const { text } = energyMatrix(week, loggers, days, now)
      yield JSON.parse(String(text)).data
    }
  },
})

/** One line per hour of a day. */
export function hoursOfDay({ date, logger_id, hours }: ExportItem): ExportItem[] {
  return (hours as ExportItem[]).map((hour) => ({ date, logger_id, ...hour }))
}

/** Hours of the strings of an inverter that start in the window. */
export const stringHoursExport = ({
  site_id,
  position,
  now_ms,
  inverter_id,
  strings,
  window,
}: ExportBase & {
  inverter_id: number
  strings: Parameters<typeof stringHours>[1]
  window: Bounds
}): ExportItems => ({
  async *items(queries) {
    for (const week of weeksOf(window)) {
      const stored = await readStringHours(queries, site_id, {
        inverter_ids: [inverter_id],
        from_ms: week.start_ms,
        to_ms: week.end_ms,
      })
      const now = { now_ms, awake: awakeTime(position) }
      yield stored.flatMap((hour) => stringHours(hour, strings, now))
    }
  },
})

function* weeksOf({ start_ms, end_ms }: Bounds): Generator<Bounds> {
  for (let at = start_ms; at < end_ms; at += 7 * day_ms) {
    yield { start_ms: at, end_ms: Math.min(end_ms, at + 7 * day_ms) }
  }
}

const datesOf = ({ start_ms, end_ms }: Bounds) => ({
  start_at: new Date(start_ms),
  end_at: new Date(Math.max(start_ms, end_ms)),
})
