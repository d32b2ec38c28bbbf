/** Forecast production of the plants behind a connection for a day. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { isOutage, readKnownLimits } from '../../forecasts/limits.ts'
import { withoutOutages } from '../../forecasts/outages.ts'
import { newestRuns } from '../../forecasts/run-store.ts'
import { meanOver } from '../../forecasts/started-steps.ts'
import { readPlants, targetOf, targetsOf } from '../../forecasts/targets.ts'
import type { Queries } from '../../storage/database.ts'
import type { PlanDay } from './plan-prices.ts'

export interface DayProduction {
  /** Null without plants. */
  issued_at: Date | null
  /** P50 by step from 00:00Z on, kW, less planned outages. */
  p50_kw: number[]
}

/** The last issued forecast of a plant or the site; null without one. */
export async function readDayProduction(
  db: Queries,
  { site_id, logger_id, step_ms }: { site_id: string; logger_id: number | null; step_ms: number },
  day: PlanDay,
): Promise<DayProduction | null> {
  const [from, to] = [new Date(day.day_ms), new Date(day.day_ms + day_ms)]
  const known = await readKnownLimits(db, site_id, { from, to })
  const plants = await readPlants(db, site_id)
  const steps = Array.from({ length: day_ms / step_ms }, (_, nth) => nth)
  const is_empty = logger_id === null && plants.length === 0
  if (is_empty) return { issued_at: null, p50_kw: steps.map(() => 0) }
  const runs = await newestRuns(db, site_id, {
    targets: targetsOf(plants),
    target_date: utcDate(day.day_ms),
    until: day.now,
  })
  const target = targetOf(logger_id)
  const run = withoutOutages(runs, known.filter(isOutage)).find((one) => one.target === target)
  if (!run) return null
  const run_step_ms = run.resolution_minutes * 60_000
  return {
    issued_at: run.issued_at,
    p50_kw: steps.map((nth) =>
      meanOver(run.p50_kw, (nth * step_ms) / run_step_ms, ((nth + 1) * step_ms) / run_step_ms),
    ),
  }
}
