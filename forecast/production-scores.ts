/** Scores production forecasts against measurements, with smart persistence as reference. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Plant, Step } from './plant.ts'
import { plantPhysics } from './plant-physics.ts'
import { exclusionOf, isScorable, type Measurement, measuredPower } from './production-samples.ts'
import { noSums, type ScoreSums, sumsOf } from './score-sums.ts'

export interface ForecastStep extends Step {
  p10_kw: number
  p50_kw: number
  p90_kw: number
  /** Data later than this, Unix ms, were not known. */
  known_ms: number
  is_hindcast: boolean
}

/** Measurement of a plant in a span; null if unknown. */
type Measured = (span: Step) => Measurement | null

/** Minimum clear-sky power relative to rated power; shares of less are meaningless. */
const clear_min_ratio = 0.05
/** Days that smart persistence looks back for the same time of day. */
const persistence_days_max = 4

/**
 * Sums scores of steps of a plant, kW: errors of steps with known output (`isScorable`) by day, and
 * the number of curtailed steps.
 */
export function productionScorer(
  plant: Plant,
  measured: Measured,
): (step: ForecastStep) => ScoreSums {
  const known: Known = { plant, measured, clear: clearSky(plant) }
  return (step) => {
    const outcome = measured(step)
    if (outcome === null || known.clear(step).is_night) return noSums
    if (exclusionOf(outcome) === 'curtailed') return { ...noSums, curtailed: 1 }
    if (!isScorable(outcome)) return noSums
    const { p10_kw, p50_kw, p90_kw, is_hindcast } = step
    const actual = measuredPower(step, outcome)
    const persistence = smartPersistence(step, known)
    return sumsOf(
      { p10: p10_kw, p50: p50_kw, p90: p90_kw, actual, persistence, is_hindcast },
      plant.rated_power_kw,
    )
  }
}

interface Known {
  plant: Plant
  measured: Measured
  clear: (span: Step) => ClearSky
}

interface ClearSky {
  ratio: number
  is_night: boolean
}

/** A cache, as spans repeat: steps, lead times, and days. */
function clearSky(plant: Plant): Known['clear'] {
  const known = new Map<string, ClearSky>()
  return ({ start_ms, end_ms }) => {
    const key = `${start_ms} ${end_ms}`
    let sky = known.get(key)
    if (sky === undefined) {
      const { clear_ratio, is_night } = plantPhysics(plant, [{ start_ms, end_ms }], [null])
      sky = { ratio: clear_ratio[0]!, is_night: is_night[0] === 1 }
      known.set(key, sky)
    }
    return sky
  }
}

/**
 * Persistence of the clear-sky index (H. T. C. Pedro and C. F. M. Coimbra, "Assessment of
 * forecasting techniques for solar power production with no exogenous inputs", Solar Energy 86(7),
 * 2012), kW: the clear sky of the step times the clear-sky share of the last span known by then, if
 * it ended within two hours of the step, else at the same time of the last known day. Null without
 * such a span.
 */
function smartPersistence(
  { start_ms, end_ms, known_ms }: ForecastStep,
  { plant, measured, clear }: Known,
): number | null {
  const shareBefore = (before_ms: number): number | null => {
    const span = { start_ms: start_ms - before_ms, end_ms: end_ms - before_ms }
    const { ratio } = clear(span)
    const outcome = span.end_ms > known_ms || ratio < clear_min_ratio ? null : measured(span)
    if (outcome === null || !isScorable(outcome)) return null
    return measuredPower(span, outcome) / (ratio * plant.rated_power_kw)
  }
  const is_soon = start_ms - known_ms <= 2 * hour_ms
  let share = is_soon ? shareBefore(end_ms - known_ms) : null
  for (let days = 1; share === null && days <= persistence_days_max; days += 1) {
    share = shareBefore(days * day_ms)
  }
  if (share === null) return null
  return Math.min(1, share * clear({ start_ms, end_ms }).ratio) * plant.rated_power_kw
}
