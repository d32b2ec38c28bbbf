/** Forecasts issued before the gate closure, with the actual production. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Step } from '@heliograph/forecast/plant'
import type { Queries } from '../storage/database.ts'
import { gateOf } from './assigned-market.ts'
import { type Course, readCourses } from './course.ts'
import { ratedPowerAt, readServices, siteInService } from './service.ts'
import { readSoldSteps } from './sold-steps.ts'
import type { VintageStep } from './vintage-steps.ts'

interface HistoryQuery extends Step {
  site_id: string
  /** null: the site. */
  logger_id: number | null
}

export interface ForecastHistory {
  steps: VintageStep[]
  course: Course
  /** Rated power in service at an instant, Unix ms. */
  ratedPowerKw: (at_ms: number) => number
}

/**
 * Steps that start in [start_ms, end_ms), ascending. The gate is that of the market assigned on the
 * first day. The site counts the plants in service at the time, and the outages reported by then.
 */
export async function readForecastHistory(
  db: Queries,
  { site_id, logger_id, start_ms, end_ms }: HistoryQuery,
): Promise<ForecastHistory> {
  const days = { from_ms: utcDayStart(start_ms), to_ms: Math.ceil(end_ms / day_ms) * day_ms }
  const services = (await readServices(db, site_id, days)).filter(
    (service) => logger_id === null || service.logger_id === logger_id,
  )
  const of = { site_id, logger_id }
  const gate = await gateOf(db, of, utcDate(start_ms))
  const logger_ids = services.map((service) => service.logger_id)
  const span = { from_ms: start_ms, to_ms: end_ms }
  const steps = await readSoldSteps(db, { ...of, logger_ids, ...span }, gate)
  const { site, plants } = await readCourses(db, { site_id, logger_ids, ...days })
  return {
    steps: steps.filter((step) => step.start_ms >= start_ms && step.start_ms < end_ms),
    course:
      logger_id === null ? siteInService(plants, services, days) : (plants.get(logger_id) ?? site),
    ratedPowerKw: (at_ms) => ratedPowerAt(services, at_ms),
  }
}
