/** Forecasts that were issued before the gate closed, and what came of them. */
import { day_ms, utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import { gateOf } from './assigned-market.ts'
import { type Course, readCourses } from './course.ts'
import { isOutage, readKnownLimits } from './limits.ts'
import { inService, type PlantShare } from './outages.ts'
import { targetOf } from './targets.ts'
import { leadSpans, readVintageSteps, type VintageStep } from './vintage-steps.ts'

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

function lowered(step: VintageStep, left: number): VintageStep {
  const scaled = (power_kw: number | null) => (power_kw === null ? null : power_kw * left)
  const [p10_kw, p90_kw] = [scaled(step.p10_kw), scaled(step.p90_kw)]
  return { ...step, p10_kw, p50_kw: scaled(step.p50_kw), p90_kw }
}

/** What was forecast of each plant on the same steps. */
async function plantShares(
  db: Queries,
  { site_id, logger_ids }: { site_id: string; logger_ids: readonly number[] },
  asked: Parameters<typeof readVintageSteps>[2],
): Promise<PlantShare[]> {
  const shares: PlantShare[] = []
  for (const logger_id of logger_ids) {
    const steps = await readVintageSteps(db, { site_id, target: targetOf(logger_id) }, asked)
    const known = new Map(steps.map((step) => [step.start_ms, step.p50_kw]))
    shares.push({ logger_id, power: ({ start_ms }) => known.get(start_ms) ?? 0 })
  }
  return shares
}

/**
 * The steps that begin in [start_ms, end_ms), ascending. Of the gate that of the market which is
 * assigned on the first day. Of planned outages those count that had been told of by then.
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
  const gate = await gateOf(db, of, utcDate(start_ms))
  const lead_time = 'day_ahead'
  const spans = leadSpans(lead_time, { from_ms: start_ms, to_ms: end_ms }, gate)
  const target = targetOf(logger_id)
  const window = { from: new Date(start_ms), to: new Date(end_ms) }
  const outages = (await readKnownLimits(db, site_id, window)).filter(isOutage)
  const issued = await readVintageSteps(db, { site_id, target }, { lead_time, spans })
  const logger_ids = loggers.map((logger) => logger.logger_id)
  const needs_shares = logger_id === null && outages.length > 0
  const shares = needs_shares
    ? await plantShares(db, { site_id, logger_ids }, { lead_time, spans })
    : []
  const steps = issued.map((step) => {
    const told = outages.filter(({ told_ms }) => told_ms === null || told_ms <= step.known_ms)
    return told.length === 0 ? step : lowered(step, inService(target, told, shares)(step))
  })
  const { site, plants } = await readCourses(db, {
    site_id,
    logger_ids,
    from_ms: utcDayStart(start_ms),
    to_ms: Math.ceil(end_ms / day_ms) * day_ms,
  })
  return {
    steps: steps.filter((step) => step.start_ms >= start_ms && step.start_ms < end_ms),
    course: logger_id === null ? site : (plants.get(logger_id) ?? site),
    rated_power_kw: loggers.reduce((sum, logger) => sum + logger.rated_power_kw, 0),
  }
}
