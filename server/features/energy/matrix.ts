/**
 * The matrix of days and hours, written as JSON text at once: a month of a large site has twenty
 * thousand hours, and to make objects of them first takes several times as long as all the rest.
 */
import { JsonText } from '../../http/json-text.ts'
import { day_ms, hour_ms } from '../../http/time-windows.ts'
import { add, type Figures, judged, type Now, nothing } from './figures.ts'
import type { LoggerHour, LoggerInService } from './store.ts'

export const timezone_note =
  'Days and hours are UTC: every day has 24 hours, the hour 0 begins at 00:00Z.'

/** An hour of a day, the same for all loggers. */
interface Frame {
  start_ms: number
  /** What its items begin with. */
  text: string
  awake_s: number | null
  is_over: boolean
}

/** The text of an `EnergyMatrix`: an item for each day and logger, by these; whole days. */
export function energyMatrix(
  span: { start_ms: number; end_ms: number },
  loggers: readonly LoggerInService[],
  rows: ReadonlyMap<number, ReadonlyMap<number, LoggerHour>>,
  now: Now,
): JsonText {
  const items: string[] = []
  const totals = new Array<number | null>(24).fill(null)
  for (let day = span.start_ms; day < span.end_ms; day += day_ms) {
    const frames = framesOf(day, now)
    for (const logger of loggers) {
      const known = rows.get(logger.logger_id) ?? new Map<number, LoggerHour>()
      items.push(dayText(day, frames, { logger, known, totals }))
    }
  }
  const meta = {
    count: items.length,
    timezone_note,
    totals_by_hour: totals.map((energy_kwh, hour) => ({
      hour,
      energy_kwh: energy_kwh === null ? null : Math.round(energy_kwh * 1000) / 1000,
    })),
  }
  return new JsonText(`{"data":[${items.join(',')}],"meta":${JSON.stringify(meta)}}`)
}

function framesOf(day: number, { now_ms, awake }: Now): Frame[] {
  return Array.from({ length: 24 }, (_, hour) => {
    const start_ms = day + hour * hour_ms
    return {
      start_ms,
      text: `{"hour":${hour},"start_at":"${new Date(start_ms).toISOString()}"`,
      awake_s: awake(start_ms, now_ms),
      is_over: start_ms + hour_ms <= now_ms,
    }
  })
}

function dayText(
  day: number,
  frames: readonly Frame[],
  {
    logger,
    known,
    totals,
  }: {
    logger: LoggerInService
    known: ReadonlyMap<number, LoggerHour>
    totals: (number | null)[]
  },
): string {
  const of_day = nothing()
  let peak_hour: number | null = null
  let peak_kwh = 0
  const hours: string[] = []
  for (const [hour, { start_ms, text, awake_s, is_over }] of frames.entries()) {
    const row = known.get(start_ms)
    const sums = nothing()
    add(sums, row, logger, awake_s)
    add(of_day, row, logger, awake_s)
    sums.is_over = is_over
    of_day.is_over &&= is_over
    const energy_kwh = row?.energy_kwh ?? null
    if (energy_kwh !== null) {
      totals[hour] = (totals[hour] ?? 0) + energy_kwh
      if (energy_kwh > peak_kwh) {
        peak_hour = hour
        peak_kwh = energy_kwh
      }
    }
    hours.push(`${text},${hourText(judged(sums).figures)}}`)
  }
  const { figures } = judged(of_day)
  return (
    `{"date":"${new Date(day).toISOString().slice(0, 10)}","logger_id":${logger.logger_id},` +
    `"total_kwh":${figures.energy_kwh},"estimated_energy_kwh":${figures.estimated_energy_kwh},` +
    `"energy_source":${quoted(figures.energy_source)},"peak_hour":${peak_hour},` +
    `${coverageText(figures)},"hours":[${hours.join(',')}]}`
  )
}

const quoted = (word: string | null) => (word === null ? 'null' : `"${word}"`)

const hourText = (figures: Figures): string =>
  `"energy_kwh":${figures.energy_kwh},"energy_source":${quoted(figures.energy_source)},` +
  `"expected_energy_kwh":${figures.expected_energy_kwh},` +
  `"curtailed_energy_kwh":${figures.curtailed_energy_kwh},${coverageText(figures)}`

const coverageText = ({ completeness_pct, is_partial }: Figures): string =>
  `"completeness_pct":${completeness_pct},"is_partial":${is_partial}`
