/** Forecasts that were issued before the gate closed, and what came of them. */
import type { Queries } from '../storage/database.ts'
import { gateOf } from './assigned-market.ts'
import { type Course, readCourses } from './course.ts'
import { targetOf } from './targets.ts'
import { leadSpans, readVintageSteps, type VintageStep } from './vintage-steps.ts'

const day_ms = 86_400_000

export interface HistoryAsked {
  site_id: string
  /** null: the site. */
  logger_id: number | null
  start_ms: number
  end_ms: number
}

export interface ForecastHistory {
  steps: VintageStep[]
  course: Course
  rated_power_kw: number
}

/**
 * The steps that begin in [start_ms, end_ms), ascending. Of the gate that of the market which is
 * assigned on the first day.
 */
export async function readForecastHistory(
  db: Queries,
  { site_id, logger_id, start_ms, end_ms }: HistoryAsked,
): Promise<ForecastHistory> {
  const loggers = await db.query<{ logger_id: number; rated_power_kw: number }>(
    `select logger_id, rated_power_kw from loggers
     where site_id = $1 and rated_power_kw > 0
       and ($2::int = logger_id or $2 is null and retired_at is null)`,
    [site_id, logger_id],
  )
  const of = { site_id, logger_id }
  const gate = await gateOf(db, of, new Date(start_ms).toISOString().slice(0, 10))
  const lead_time = 'day_ahead'
  const spans = leadSpans(lead_time, { from_ms: start_ms, to_ms: end_ms }, gate)
  const target = targetOf(logger_id)
  const steps = await readVintageSteps(db, { site_id, target }, { lead_time, spans })
  const { site, plants } = await readCourses(db, {
    site_id,
    logger_ids: loggers.map((logger) => logger.logger_id),
    from_ms: Math.floor(start_ms / day_ms) * day_ms,
    to_ms: Math.ceil(end_ms / day_ms) * day_ms,
  })
  return {
    steps: steps.filter((step) => step.start_ms >= start_ms && step.start_ms < end_ms),
    course: logger_id === null ? site : (plants.get(logger_id) ?? site),
    rated_power_kw: loggers.reduce((sum, logger) => sum + logger.rated_power_kw, 0),
  }
}
