/** Service times of plants, which define the site at any time in the past. */
import { quarter_ms } from '@heliograph/domain/durations'
import type { Queries } from '../storage/database.ts'
import { type Course, copyCourse, emptyCourse, type Span, sumOf } from './course.ts'

/** A plant and its service [from_ms, to_ms), Unix ms; `to_ms` is infinite until it is retired. */
export interface PlantService extends Span {
  logger_id: number
  rated_power_kw: number
}

/**
 * Plants in service during a part of the span, by id. Service starts with the first known energy or
 * the entry into the inventory, whichever is earlier, and ends with the retirement.
 */
export async function readServices(
  db: Queries,
  site_id: string,
  { from_ms, to_ms }: Span,
): Promise<PlantService[]> {
  const plants = await db.query<Omit<PlantService, 'to_ms'> & { to_ms: number | null }>(
    `select logger_id, rated_power_kw,
            (extract(epoch from least(created_at, first_at)) * 1000)::float8 as from_ms,
            (extract(epoch from retired_at) * 1000)::float8 as to_ms
     from loggers l, lateral (
       select min(hour_at) as first_at from logger_hours h
       where h.site_id = $1 and h.logger_id = l.logger_id
     ) as known
     where site_id = $1 and rated_power_kw > 0
     order by logger_id`,
    [site_id],
  )
  return plants
    .map((plant) => ({ ...plant, to_ms: plant.to_ms ?? Number.POSITIVE_INFINITY }))
    .filter((plant) => plant.from_ms < to_ms && plant.to_ms > from_ms)
}

/** Rated power of the plants in service at an instant, kW. */
export const ratedPowerAt = (services: readonly PlantService[], at_ms: number): number =>
  services
    .filter((service) => isWithin(service, at_ms))
    .reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)

const isWithin = ({ from_ms, to_ms }: Span, at_ms: number): boolean =>
  from_ms <= at_ms && at_ms < to_ms

/**
 * Sum of the plants in service at each time, over a span of whole quarter hours that their courses
 * cover; unknown while no plant is in service.
 */
export function siteInService(
  plants: ReadonlyMap<number, Course>,
  services: readonly PlantService[],
  { from_ms, to_ms }: Span,
): Course {
  const site = emptyCourse(from_ms, (to_ms - from_ms) / quarter_ms)
  const changes = services.flatMap((service) => [service.from_ms, service.to_ms])
  const borders = [from_ms, ...changes.map(quarterFrom), to_ms]
    .filter((at_ms) => at_ms >= from_ms && at_ms <= to_ms)
    .sort((a, b) => a - b)
  for (const [nth, start_ms] of borders.slice(0, -1).entries()) {
    const end_ms = borders[nth + 1]!
    const serving = services.filter((service) => isWithin(service, start_ms))
    const parts = serving.map(({ logger_id }) => partOf(plants.get(logger_id), start_ms, end_ms))
    const sum = sumOf(parts, start_ms, (end_ms - start_ms) / quarter_ms)
    copyCourse(sum, site, (start_ms - from_ms) / quarter_ms)
  }
  return site
}

/** A change within a quarter hour takes effect with the next one. */
const quarterFrom = (at_ms: number): number => Math.ceil(at_ms / quarter_ms) * quarter_ms

function partOf(course: Course | undefined, start_ms: number, end_ms: number): Course {
  if (course === undefined) return emptyCourse(start_ms, (end_ms - start_ms) / quarter_ms)
  const [first, end] = [start_ms, end_ms].map((ms) => (ms - course.from_ms) / quarter_ms)
  return {
    from_ms: start_ms,
    available_wh: course.available_wh.subarray(first, end),
    energy_wh: course.energy_wh.subarray(first, end),
    completeness_pct: course.completeness_pct.subarray(first, end),
    flags: course.flags.subarray(first, end),
  }
}
