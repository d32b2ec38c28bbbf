import { conformalRank } from './conformal.ts'
import { type Plant, type Step, stepHours } from './plant.ts'
import type { PlantPhysics } from './plant-physics.ts'
import type { StepAhead } from './production-samples.ts'

/** A step of a forecast. Production is below P10 with a probability of 10 %: p10 <= p50 <= p90. */
export interface ProductionPoint extends Step {
  p10_kw: number
  p50_kw: number
  p90_kw: number
  p10_kwh: number
  p50_kwh: number
  p90_kwh: number
  /** Mean in the planes of the arrays, weighted by capacity; null without forecast irradiance. */
  poa_irradiance_w_m2: number | null
  ambient_temperature_c: number | null
  cloud_cover_pct: number | null
  /** The sun stays below the horizon. */
  is_night: boolean
}

export type Confidence = 'low' | 'medium' | 'high'

export interface ProductionForecast {
  points: ProductionPoint[]
  /**
   * Quantiles of the sum of all steps, which are not the sums of their quantiles: `totalQuantiles`.
   */
  total_p10_kwh: number
  total_p50_kwh: number
  total_p90_kwh: number
  confidence: Confidence
}

/** The levels of a whole quantile function, including those of P10, P50 and P90. */
export const quantile_levels: readonly number[] = Array.from(
  { length: 19 },
  (_, i) => (5 * (i + 1)) / 100,
)
const [p10_at, p50_at, p90_at] = [0.1, 0.5, 0.9].map((level) => quantile_levels.indexOf(level))

/** P10, P50 and P90 of a quantile function with a column for each of `quantile_levels`. */
export function threeQuantiles(quantiles: readonly Float64Array[]) {
  return { p10: quantiles[p10_at!]!, p50: quantiles[p50_at!]!, p90: quantiles[p90_at!]! }
}

/** Ratio of the actual to the forecast spread, below and above the median. */
export interface SpreadScale {
  below: number
  above: number
}

export const as_told: SpreadScale = { below: 1, above: 1 }

/** A forecast's quantiles of a total, and its outcome. */
export interface SpreadOutcome {
  p10: number
  p50: number
  p90: number
  actual: number
}

const scale_min = 0.2
const scale_max = 3

/**
 * Factors for the spread of forecasts, from the median to P10 and to P90, at which one in ten
 * outcomes lies beyond each: split conformal prediction with the deviation over the spread as its
 * score (J. Lei et al., "Distribution-free predictive inference for regression", Journal of the
 * American Statistical Association 113, 2018, section 5.2; each side separately as Y. Romano et
 * al., 2019, theorem 2). Held to 0.2 to 3; 1 without outcomes. `spread_min` is the minimum spread,
 * in the unit of the outcomes. `independent_count`: of `conformalRank`.
 */
export function conformalScale(
  outcomes: readonly SpreadOutcome[],
  spread_min: number,
  independent_count = outcomes.length,
): SpreadScale {
  const beyond = (score: (outcome: SpreadOutcome) => number) => {
    const scores = Float64Array.from(outcomes, score).sort()
    if (scores.length === 0) return 1
    const rank = conformalRank(scores.length, 0.9, Math.min(independent_count, scores.length))
    return Math.min(scale_max, Math.max(scale_min, scores[rank]!))
  }
  return {
    below: beyond(({ p10, p50, actual }) => (p50 - actual) / Math.max(p50 - p10, spread_min)),
    above: beyond(({ p90, p50, actual }) => (actual - p50) / Math.max(p90 - p50, spread_min)),
  }
}

/** Stretches quantile functions about their medians, in place, and holds them within 0 to 1. */
export function stretchQuantiles(quantiles: readonly Float64Array[], scale: SpreadScale): void {
  const median = quantiles[p50_at!]!.slice()
  for (const column of quantiles) {
    for (let i = 0; i < column.length; i++) {
      const off = column[i]! - median[i]!
      const stretched = median[i]! + off * (off < 0 ? scale.below : scale.above)
      column[i] = Math.min(1, Math.max(0, stretched))
    }
  }
}

/**
 * P10, P50 and P90 of a sum of steps. The errors of a day's steps are partly correlated: with full
 * correlation (comonotonic), the quantiles of the sum were the sums of the quantiles; without any,
 * its spread would nearly vanish. `scale` is the share of the comonotonic spread within which 80 %
 * of the totals of past days lay (`conformalScale`); 1, the widest, if unknown. The median is the
 * sum of medians.
 */
function totalQuantiles(
  points: readonly ProductionPoint[],
  scale: SpreadScale,
): { p10_kwh: number; p50_kwh: number; p90_kwh: number } {
  const sum = (of: 'p10_kwh' | 'p50_kwh' | 'p90_kwh') =>
    points.reduce((total, point) => total + point[of], 0)
  const p50_kwh = sum('p50_kwh')
  return {
    p10_kwh: Math.max(0, p50_kwh - scale.below * Math.max(0, p50_kwh - sum('p10_kwh'))),
    p50_kwh,
    p90_kwh: p50_kwh + scale.above * Math.max(0, sum('p90_kwh') - p50_kwh),
  }
}

const confidences = ['low', 'medium', 'high'] as const satisfies Confidence[]
const high_spread_max = 0.3
const medium_spread_max = 0.6

/**
 * Confidence by the spread of the total from P10 to P90 relative to a clear sky: up to 0.3 is high,
 * up to 0.6 medium, more is low. Limited to the confidence proven by such forecasts, and low with
 * daylight steps without weather.
 */
function confidenceOf(basis: {
  spread_kwh: number
  clear_kwh: number
  confidence_max: Confidence
  has_all_weather: boolean
}): Confidence {
  const { spread_kwh, clear_kwh, confidence_max, has_all_weather } = basis
  if (!has_all_weather) return 'low'
  const spread_ratio = clear_kwh > 0 ? spread_kwh / clear_kwh : 0
  if (spread_ratio > medium_spread_max) return 'low'
  const by_spread = spread_ratio > high_spread_max ? 'medium' : 'high'
  return confidences.find((one) => one === by_spread || one === confidence_max)!
}

interface ForecastParts {
  plant: Plant
  steps: readonly StepAhead[]
  physics: PlantPhysics
  /** Power relative to rated power, a column for each of `quantile_levels`, within 0 to 1. */
  quantiles: readonly Float64Array[]
  total_scale: SpreadScale
  /** Proven confidence of forecasts from this source. */
  confidence_max: Confidence
}

export function productionForecast(parts: ForecastParts): ProductionForecast {
  const { plant, steps, physics } = parts
  const points = steps.map((_, i) => pointOf(parts, i))
  const total = totalQuantiles(points, parts.total_scale)
  const most_kwh = steps.reduce((sum, step) => sum + plant.rated_power_kw * stepHours(step), 0)
  const p90_kwh = Math.min(most_kwh, total.p90_kwh)
  const clear_kwh = steps.reduce(
    (sum, step, i) =>
      sum + Math.min(1, physics.clear_ratio[i]!) * plant.rated_power_kw * stepHours(step),
    0,
  )
  return {
    points,
    total_p10_kwh: total.p10_kwh,
    total_p50_kwh: total.p50_kwh,
    total_p90_kwh: Math.max(total.p50_kwh, p90_kwh),
    confidence: confidenceOf({
      spread_kwh: p90_kwh - total.p10_kwh,
      clear_kwh,
      confidence_max: parts.confidence_max,
      has_all_weather: steps.every(
        ({ weather }, i) => physics.is_night[i] === 1 || typeof weather?.ghi_w_m2 === 'number',
      ),
    }),
  }
}

function pointOf({ plant, steps, physics, quantiles }: ForecastParts, i: number) {
  const step = steps[i]!
  const hours = stepHours(step)
  const { p10, p50, p90 } = threeQuantiles(quantiles)
  const p10_kw = p10[i]! * plant.rated_power_kw
  const p50_kw = p50[i]! * plant.rated_power_kw
  const p90_kw = p90[i]! * plant.rated_power_kw
  const poa_w_m2 = physics.poa_w_m2[i]!
  return {
    start_ms: step.start_ms,
    end_ms: step.end_ms,
    p10_kw,
    p50_kw,
    p90_kw,
    p10_kwh: p10_kw * hours,
    p50_kwh: p50_kw * hours,
    p90_kwh: p90_kw * hours,
    poa_irradiance_w_m2: Number.isNaN(poa_w_m2) ? null : poa_w_m2,
    ambient_temperature_c: step.weather?.temperature_c ?? null,
    cloud_cover_pct: step.weather?.cloud_cover_pct ?? null,
    is_night: physics.is_night[i] === 1,
  }
}
