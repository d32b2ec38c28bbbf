/** The hours of a window by the production forecast. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { ForecastRun } from '../forecasts/run-store.ts'
import { days_good, type ExpectedHour, hoursOf, type Span } from './suggest.ts'

export interface ForecastHours {
  hours: ExpectedHour[]
  /** Issue time of the newest run. */
  run_at: string
  confidence: 'low' | 'medium' | 'high'
  peak_p50_kw: number
  peak_p90_kw: number
  energy_p50_kwh: number
}

type Run = Pick<
  ForecastRun,
  'target_date' | 'resolution_minutes' | 'issued_at' | 'confidence' | 'p10_kw' | 'p50_kw' | 'p90_kw'
>

/** The UTC days of a span. */
export function utcDatesOf({ start_ms, end_ms }: Span): string[] {
  const first_ms = utcDayStart(start_ms)
  const count = Math.ceil((end_ms - first_ms) / day_ms)
  return Array.from({ length: count }, (_, nth) => utcDate(first_ms + nth * day_ms))
}

/** Null unless `runs`, one for each UTC day, cover the whole span. */
export function forecastHours(span: Span, runs: readonly Run[]): ForecastHours | null {
  const steps = runs.flatMap((run) => {
    const step_ms = run.resolution_minutes * 60_000
    return run.p50_kw.map((p50_kw, nth) => {
      const start_ms = Date.parse(run.target_date) + nth * step_ms
      const [p10_kw, p90_kw] = [run.p10_kw[nth]!, run.p90_kw[nth]!]
      return { start_ms, end_ms: start_ms + step_ms, p10_kw, p50_kw, p90_kw }
    })
  })
  const hours = hoursOf(span).map((hour) => meanOf(hour, steps))
  if (hours.length === 0 || hours.some((hour) => hour === null)) return null
  const known = hours.filter((hour) => hour !== null)
  const energy = known.map(
    ({ p50_kw, start_ms, end_ms }) => (p50_kw * (end_ms - start_ms)) / hour_ms,
  )
  const levels = ['low', 'medium', 'high'] as const
  return {
    hours: known.map((hour) => ({ ...hour, days: hour.p90_kw > 0 ? days_good : null })),
    run_at: new Date(Math.max(...runs.map(({ issued_at }) => issued_at.getTime()))).toISOString(),
    confidence: levels.find((level) => runs.some(({ confidence }) => confidence === level))!,
    peak_p50_kw: Math.max(...known.map(({ p50_kw }) => p50_kw)),
    peak_p90_kw: Math.max(...known.map(({ p90_kw }) => p90_kw)),
    energy_p50_kwh: energy.reduce((sum, kwh) => sum + kwh, 0),
  }
}

type Step = Span & { p10_kw: number; p50_kw: number; p90_kw: number }

/** Means over a span. A mean of quantiles is only close to a quantile for few steps per span. */
function meanOf(span: Span, steps: readonly Step[]): Step | null {
  let [covered_ms, p10, p50, p90] = [0, 0, 0, 0]
  for (const step of steps) {
    const within_ms = Math.min(span.end_ms, step.end_ms) - Math.max(span.start_ms, step.start_ms)
    if (within_ms <= 0) continue
    covered_ms += within_ms
    p10 += step.p10_kw * within_ms
    p50 += step.p50_kw * within_ms
    p90 += step.p90_kw * within_ms
  }
  if (covered_ms < span.end_ms - span.start_ms) return null
  const [p10_kw, p50_kw, p90_kw] = [p10 / covered_ms, p50 / covered_ms, p90 / covered_ms]
  return { ...span, p10_kw, p50_kw, p90_kw }
}
