/** Reduces forecasts, which assume that all of a plant is in service, by planned outages. */
import type { Step } from '@heliograph/forecast/plant'
import { type KnownLimit, limitedPower } from './limits.ts'
import type { ForecastRun } from './run-store.ts'
import { loggerOf, type Target } from './targets.ts'

/** Share of a target in service over a span, 0 to 1. */
type InService = (span: Step) => number

/** Expected power of a plant, kW, which weights its outages within the site. */
export interface PlantShare {
  logger_id: number
  power(span: Step): number
}

/**
 * Share of a plant in service; of concurrent outages the largest applies. Outages reported after
 * the start of a span do not change its forecast.
 */
const plantInService =
  (logger_id: number, outages: readonly KnownLimit[]): InService =>
  (span) =>
    limitedPower(
      1,
      span,
      outages.filter(
        ({ logger_id: id, reported_ms }) =>
          id === logger_id && (reported_ms === null || reported_ms <= span.start_ms),
      ),
    )

/** Share of a plant in service, or of the site weighted by the power of its plants. */
export function inService(
  target: Target,
  outages: readonly KnownLimit[],
  plants: readonly PlantShare[],
): InService {
  const logger_id = loggerOf(target)
  if (logger_id !== null) return plantInService(logger_id, outages)
  const parts = plants.map((plant) => ({
    ...plant,
    left: plantInService(plant.logger_id, outages),
  }))
  return (span) => {
    const whole_kw = parts.reduce((sum, { power }) => sum + power(span), 0)
    if (whole_kw <= 0) return 1
    return parts.reduce((sum, { power, left }) => sum + power(span) * left(span), 0) / whole_kw
  }
}

/** Runs of one day reduced by outages; totals shrink in proportion to the median. */
export function withoutOutages(
  runs: readonly ForecastRun[],
  outages: readonly KnownLimit[],
): ForecastRun[] {
  if (outages.length === 0) return [...runs]
  const plants = runs.flatMap((run): PlantShare[] => {
    const logger_id = loggerOf(run.target)
    if (logger_id === null) return []
    const power = ({ start_ms }: Step) => run.p50_kw[stepAt(run, start_ms)] ?? 0
    return [{ logger_id, power }]
  })
  return runs.map((run) => lowered(run, inService(run.target, outages, plants)))
}

const stepLength = ({ resolution_minutes }: ForecastRun) => resolution_minutes * 60_000

const stepAt = (run: ForecastRun, at_ms: number) =>
  Math.floor((at_ms - Date.parse(run.target_date)) / stepLength(run))

function lowered(run: ForecastRun, left: InService): ForecastRun {
  const step_ms = stepLength(run)
  const first_ms = Date.parse(run.target_date)
  const ratios = run.p50_kw.map((_, nth) => {
    const start_ms = first_ms + nth * step_ms
    return left({ start_ms, end_ms: start_ms + step_ms })
  })
  const scaled = (powers: readonly number[]) => powers.map((kw, nth) => kw * ratios[nth]!)
  const p50_kw = scaled(run.p50_kw)
  const sum = (powers: readonly number[]) => powers.reduce((total, kw) => total + kw, 0)
  const whole = sum(run.p50_kw)
  const share = whole > 0 ? sum(p50_kw) / whole : 1
  return {
    ...run,
    p10_kw: scaled(run.p10_kw),
    p50_kw,
    p90_kw: scaled(run.p90_kw),
    total_p10_kwh: run.total_p10_kwh * share,
    total_p50_kwh: run.total_p50_kwh * share,
    total_p90_kwh: run.total_p90_kwh * share,
  }
}
