/** Forecasts issued before the gate closure, with the actual production. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Step } from '@heliograph/forecast/plant'
import type { Queries } from '../storage/database.ts'
import { gateOf } from './assigned-market.ts'
import { type Course, outcomeOf, readCourses } from './course.ts'
import type { Production } from './schemas.ts'
import { ratedPowerAt, readServices, siteInService } from './service.ts'
import { readSoldSteps } from './sold-steps.ts'
import type { VintageStep } from './vintage-steps.ts'

interface HistoryQuery extends Step {
  site_id: string
  /** null: the site. */
  logger_id: number | null
}

interface ForecastHistory {
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

/** Share of rated power below which an error in percent is meaningless. */
const relative_min_ratio = 0.01

/** The record of a step of the API. */
export function productionItem(
  step: VintageStep,
  of: { logger_id: number | null; now_ms: number } & Pick<
    ForecastHistory,
    'course' | 'ratedPowerKw'
  >,
): Production {
  const { start_ms, end_ms, issued_ms } = step
  const hours = (end_ms - start_ms) / hour_ms
  const kwh = (kw: number | null) => (kw === null ? null : significant(kw * hours))
  const outcome = outcomeOf(of.course, start_ms, end_ms)
  const is_over = end_ms <= of.now_ms
  const actual_kwh = is_over ? outcome.energy_kwh : null
  const available_kwh = is_over ? outcome.available_kwh : null
  const [p10, p50, p90] = [kwh(step.p10_kw), kwh(step.p50_kw), kwh(step.p90_kw)]
  const error_kwh = p50 === null || available_kwh === null ? null : p50 - available_kwh
  const is_relative =
    available_kwh !== null &&
    available_kwh >= relative_min_ratio * of.ratedPowerKw(start_ms) * hours
  return {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(end_ms).toISOString(),
    logger_id: of.logger_id,
    forecast_run_at: issued_ms === null ? null : new Date(issued_ms).toISOString(),
    is_hindcast: step.is_hindcast,
    lead_time_h: issued_ms === null ? null : significant((start_ms - issued_ms) / hour_ms),
    p10_kwh: p10,
    p50_kwh: p50,
    p90_kwh: p90,
    actual_kwh: significant(actual_kwh),
    actual_available_kwh: significant(available_kwh),
    error_kwh: significant(error_kwh),
    error_pct:
      error_kwh === null || !is_relative ? null : significant((100 * error_kwh) / available_kwh),
    inside_band:
      available_kwh === null || p10 === null || p90 === null
        ? null
        : available_kwh >= p10 && available_kwh <= p90,
    curtailed: outcome.is_curtailed,
    completeness_pct: significant(outcome.completeness_pct),
  }
}
