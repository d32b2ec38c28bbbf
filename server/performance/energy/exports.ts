/** Hours as files: the items of the JSON answers, made a week at a time. */
import type { Position } from '@heliograph/domain/place'
import { day_ms } from '@heliograph/domain/utc-day'
import type { ExportItem, ExportItems } from '../../http/export-items.ts'
import { awakeTime } from '../../plant/daylight.ts'
import type { Bounds } from './figures.ts'
import { createEnergyStore } from './logger-hours.ts'
import { energyMatrix } from './matrix.ts'
import { loggerHours, stringHours } from './records.ts'

interface Asked {
  site_id: string
  /** Of the site. */
  position: Position
  now_ms: number
}

/** Every hour of a logger that begins in the window, which begins with a whole hour. */
export const loggerHoursExport = ({
  site_id,
  position,
  logger_id,
  window,
}: Asked & { logger_id: number; window: Bounds }): ExportItems => ({
  async *items(queries) {
    const energy = createEnergyStore(queries)
    const logger_ids = [logger_id]
    const [logger] = await energy.loggers(site_id, { ...datesOf(window), logger_ids })
    if (!logger) return
    for (const week of weeksOf(window)) {
      const rows = await energy.hours(site_id, { ...datesOf(week), logger_ids })
      // What is over is the same when seen from the end of its week.
      const then = { now_ms: week.end_ms, awake: awakeTime(position) }
      yield loggerHours(week, logger, rows, then)
    }
  },
})

/** The matrix of whole days. */
export const matrixExport = ({
  site_id,
  position,
  now_ms,
  window,
  logger_ids,
}: Asked & { window: Bounds; logger_ids: readonly number[] | null }): ExportItems => ({
  async *items(queries) {
    const energy = createEnergyStore(queries)
    const loggers = await energy.loggers(site_id, { ...datesOf(window), logger_ids })
    for (const week of weeksOf(window)) {
      const days = await energy.daysByLogger(site_id, { ...datesOf(week), logger_ids })
      const now = { now_ms, awake: awakeTime(position) }
      const { text } = energyMatrix(week, loggers, days, now)
      yield JSON.parse(String(text)).data
    }
  },
})

/** A line for each hour of a day. */
export function hoursOfDay({ date, logger_id, hours }: ExportItem): ExportItem[] {
  return (hours as ExportItem[]).map((hour) => ({ date, logger_id, ...hour }))
}

/** The hours of the strings of an inverter that begin in the window. */
export const stringHoursExport = ({
  site_id,
  position,
  now_ms,
  inverter_id,
  strings,
  window,
}: Asked & {
  inverter_id: number
  strings: Parameters<typeof stringHours>[1]
  window: Bounds
}): ExportItems => ({
  async *items(queries) {
    const energy = createEnergyStore(queries)
    for (const week of weeksOf(window)) {
      const stored = await energy.stringHours(site_id, inverter_id, datesOf(week))
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
