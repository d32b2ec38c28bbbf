/** Known limits of plants: current and future curtailment orders, and planned outages. */
import type { Step } from '@heliograph/forecast/plant'
import type { Queries } from '../storage/database.ts'

/** Limit of one plant over [start_ms, end_ms), Unix ms. */
export interface KnownLimit extends Step {
  logger_id: number
  /** Highest power; null for outages. */
  max_power_kw: number | null
  /** Share of the plant in service, 0 to 1. */
  available_ratio: number
  /** Time of the report, Unix ms; null: known from the beginning. */
  reported_ms: number | null
}

export const isOutage = ({ max_power_kw }: KnownLimit): boolean => max_power_kw === null

/** Limits that overlap [from, to), without outages of plants that were retired by then. */
export const readKnownLimits = (
  db: Queries,
  site_id: string,
  { from, to }: { from: Date; to: Date },
) =>
  db.query<KnownLimit>(
    `select logger_id, max_power_kw, available_ratio,
            (extract(epoch from start_at) * 1000)::float8 as start_ms,
            (extract(epoch from end_at) * 1000)::float8 as end_ms,
            (extract(epoch from reported_at) * 1000)::float8 as reported_ms
     from (
       select logger_id, start_at, end_at, max_power_kw, 1::float8 as available_ratio,
              null::timestamptz as reported_at
       from curtailment_rows
       where site_id = $1 and released_at is null and end_at > $2 and start_at < $3
       union all
       select l.logger_id, o.start_at, o.end_at, null, 1 - o.unavailable_pct / 100, o.created_at
       from planned_outages o
       join loggers l on l.site_id = o.site_id
         and (l.retired_at is null or l.retired_at > o.start_at)
         and (o.logger_id is null or l.logger_id = o.logger_id)
       where o.site_id = $1 and o.end_at > $2 and o.start_at < $3
     ) as known`,
    [site_id, from.toISOString(), to.toISOString()],
  )

/**
 * Mean power over a step under the limits of one plant. At each instant the lowest power limit and
 * the largest outage apply.
 */
export function limitedPower(
  power_kw: number,
  { start_ms, end_ms }: Step,
  limits: readonly KnownLimit[],
): number {
  const within = limits.filter((limit) => limit.start_ms < end_ms && limit.end_ms > start_ms)
  if (within.length === 0) return power_kw
  const changes = within.flatMap((limit) => [
    Math.max(start_ms, limit.start_ms),
    Math.min(end_ms, limit.end_ms),
  ])
  const bounds = [...new Set([start_ms, ...changes, end_ms])].sort((a, b) => a - b)
  let sum = 0
  for (let nth = 0; nth + 1 < bounds.length; nth += 1) {
    const [from_ms, to_ms] = [bounds[nth]!, bounds[nth + 1]!]
    const now = within.filter((limit) => limit.start_ms <= from_ms && limit.end_ms >= to_ms)
    const most_kw = Math.min(power_kw, ...now.map((limit) => limit.max_power_kw ?? power_kw))
    const left = Math.min(1, ...now.map(({ available_ratio }) => available_ratio))
    sum += Math.min(most_kw, power_kw * left) * (to_ms - from_ms)
  }
  return sum / (end_ms - start_ms)
}
