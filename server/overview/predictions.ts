/** What the site is expected to give today and in the hours to come, by the forecast in force. */
import { significant } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import type { ForecastRun } from '../forecasts/run-store.ts'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'

const minute_ms = 60_000
/** Of steps that begin sooner than this. */
const ahead_h = 12

const kw = (description: string) => Type.Number({ minimum: 0, description })
const kwh = (description: string) => Nullable(Type.Number({ minimum: 0, description }))

export type PredictionsNow = Static<typeof PredictionsNow>
export const PredictionsNow = Type.Object(
  {
    forecast_run_at: Nullable(At('When the forecast of today was issued; null without one.')),
    today_p50_kwh: kwh('Median of the energy of today, a day of UTC, the hours that are over too.'),
    remaining_today_p50_kwh: kwh('What of it is yet to come.'),
    next_hours: Type.Array(
      Type.Object(
        {
          start_at: At('Start of the step, inclusive.'),
          end_at: At('End of the step, exclusive.'),
          p10_kw: kw('Undercut with a probability of 10 %.'),
          p50_kw: kw('The median.'),
          p90_kw: kw('Undercut with a probability of 90 %.'),
        },
        { additionalProperties: false, $id: 'PredictedStep' },
      ),
      { description: `Steps that are under way or begin within ${ahead_h} hours; of the site.` },
    ),
  },
  {
    additionalProperties: false,
    $id: 'PredictionsNow',
    description:
      'The last issued forecast of the site, also where the plan lacks `ai_predictions`. Without ' +
      'one every value is null and `next_hours` is empty.',
  },
)

/** `runs` are those of the site, of today and the day after, as far as there are any. */
export function predictionsNow(runs: readonly ForecastRun[], now: Date): PredictionsNow {
  const now_ms = now.getTime()
  const today = runs.find(({ target_date }) => target_date === utcDate(now))
  const steps = runs.flatMap(stepsOf)
  const next = steps.filter(
    ({ start_ms, end_ms }) => end_ms > now_ms && start_ms < now_ms + ahead_h * 60 * minute_ms,
  )
  const remaining_kwh = (today ? stepsOf(today) : []).reduce(
    (sum, { start_ms, end_ms, p50_kw }) => {
      const left_ms = Math.max(0, end_ms - Math.max(start_ms, now_ms))
      return sum + (p50_kw * left_ms) / (60 * minute_ms)
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
