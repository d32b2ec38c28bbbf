/** The expected energy of today and the coming hours, by the last issued forecast. */

import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import type { ForecastRun } from '../forecasts/run-store.ts'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'

const ahead_h = 12

export type PredictionsNow = Static<typeof PredictionsNow>
export const PredictionsNow = Named(
  'PredictionsNow',
  {
    forecast_run_at: field.AtOrNull('When the forecast for today was issued; null without one.'),
    today_p50_kwh: field.FromZeroOrNull('Median of the energy of the whole day (UTC).', 1790.1),
    remaining_today_p50_kwh: field.FromZeroOrNull(
      'The part of `today_p50_kwh` that is still to come.',
      1042.7,
    ),
    next_hours: Type.Array(
      Named('PredictedStep', {
        start_at: field.At('Start of the step, inclusive.'),
        end_at: field.At('End of the step, exclusive.'),
        p10_kw: field.FromZero('10th percentile, kW.', 188),
        p50_kw: field.FromZero('Median, kW.', 240.2),
        p90_kw: field.FromZero('90th percentile, kW.', 262.1),
      }),
      {
        description: `The current step of the site and the steps that begin within ${ahead_h} hours.`,
      },
    ),
  },
  {
    description:
      'The last issued forecast of the site, even if the plan lacks `ai_predictions`. Without a ' +
      'forecast every value is null and `next_hours` is empty.',
  },
)

/** @param runs those of the site for today and tomorrow, if issued */
export function predictionsNow(runs: readonly ForecastRun[], now: Date): PredictionsNow {
  const now_ms = now.getTime()
  const today = runs.find(({ target_date }) => target_date === utcDate(now))
  const steps = runs.flatMap(stepsOf)
  const next = steps.filter(
    ({ start_ms, end_ms }) => end_ms > now_ms && start_ms < now_ms + ahead_h * hour_ms,
  )
  const remaining_kwh = (today ? stepsOf(today) : []).reduce(
    (sum, { start_ms, end_ms, p50_kw }) => {
      const left_ms = Math.max(0, end_ms - Math.max(start_ms, now_ms))
      return sum + (p50_kw * left_ms) / hour_ms
    },
    0,
  )
  return {
    forecast_run_at: today?.issued_at.toISOString() ?? null,
    today_p50_kwh: today?.total_p50_kwh ?? null,
    remaining_today_p50_kwh: today ? significant(remaining_kwh) : null,
    next_hours: next.map(({ start_ms, end_ms, ...powers }) => ({
      start_at: new Date(start_ms).toISOString(),
      end_at: new Date(end_ms).toISOString(),
      ...powers,
    })),
  }
}

function stepsOf({ target_date, resolution_minutes, p10_kw, p50_kw, p90_kw }: ForecastRun) {
  const step_ms = resolution_minutes * minute_ms
  return p50_kw.map((power_kw, nth) => {
    const start_ms = Date.parse(target_date) + nth * step_ms
    const [p10, p90] = [p10_kw[nth]!, p90_kw[nth]!]
    return { start_ms, end_ms: start_ms + step_ms, p10_kw: p10, p50_kw: power_kw, p90_kw: p90 }
  })
}
