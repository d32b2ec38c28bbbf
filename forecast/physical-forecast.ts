/**
 * The forecast of a plant without history: physics, with the errors of physics under such a sky.
 */

import { day_ms } from '@heliograph/domain/durations'
import { type Plant, requireSteps, stepHours } from './plant.ts'
import { type PlantPhysics, plantPhysics } from './plant-physics.ts'
import {
  as_told,
  type ProductionForecast,
  productionForecast,
  quantile_levels,
} from './production-forecast.ts'
import {
  exclusionOf,
  measuredPower,
  type ProductionSample,
  type StepAhead,
} from './production-samples.ts'
import { quantileInPlace } from './quantiles.ts'

/**
 * Quantiles of the ratio of measured to computed power, one for each of `quantile_levels`,
 * ascending.
 */
export interface SkyErrors {
  /**
   * Relative to physics with the forecast weather, by classes of clear-sky index
   * (`clear_index_edges`).
   */
  by_clear_index: readonly (readonly number[])[]
  /** Relative to the power under a clear sky, without a weather forecast. */
  without_weather: readonly number[]
}

/** A low sun is subject to hills, rows and dirt unknown to physics. */
export interface PhysicalErrors {
  /** Typical ratio of measured to computed power, by energy. */
  level: number
  high_sun: SkyErrors
  low_sun: SkyErrors
  /**
   * Quantiles of the power itself, relative to rated power, where physics computes less than 1 % of
   * it: physics has inverters start a little too late, and a ratio to nothing is no ratio.
   */
  twilight: readonly number[]
}

/** Limits between the classes of clear-sky index: overcast, cloudy, broken, clear. */
const clear_index_edges = [0.3, 0.6, 0.85] as const
const low_sun_below_deg = 15

/**
 * Errors of `plantPhysics` without knowledge of the plant beyond its design: solar zone 1 of the
 * Global Energy Forecasting Competition 2014 (T. Hong et al., International Journal of Forecasting
 * 32(3), 2016), April 2012 to December 2013, hours of at least 1 % of rated power, ECMWF weather up
 * to a day ahead; 27 (low sun, overcast) to 5829 hours each, and 792 hours of twilight. All ratios
 * are divided by the common median of the brighter hours, as the DC capacity of the plant is
 * unknown.
 */
export const published_errors: PhysicalErrors = {
  level: 1,
  high_sun: {
    by_clear_index: [
      [
        0.41, 0.51, 0.68, 0.78, 0.86, 0.94, 1.02, 1.15, 1.25, 1.41, 1.52, 1.6, 1.68, 1.87, 1.99,
        2.47, 2.73, 3.21, 4.5,
      ],
      [
        0.31, 0.45, 0.54, 0.62, 0.69, 0.76, 0.85, 0.91, 1.01, 1.08, 1.18, 1.29, 1.39, 1.51, 1.69,
        1.84, 2.12, 2.52, 3.11,
      ],
      [
        0.34, 0.45, 0.55, 0.64, 0.71, 0.77, 0.83, 0.9, 0.95, 1.01, 1.07, 1.12, 1.18, 1.24, 1.32,
        1.39, 1.5, 1.61, 1.85,
      ],
      [
        0.48, 0.66, 0.77, 0.86, 0.92, 0.96, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04, 1.06, 1.08, 1.1,
        1.13, 1.17, 1.25,
      ],
    ],
    without_weather: [
      0.2, 0.3, 0.42, 0.55, 0.65, 0.75, 0.82, 0.89, 0.96, 0.99, 1.01, 1.03, 1.04, 1.06, 1.08, 1.11,
      1.15, 1.26, 1.89,
    ],
  },
  low_sun: {
    by_clear_index: [
      [
        0.32, 0.53, 0.68, 0.75, 0.78, 0.9, 0.97, 1.18, 1.46, 1.68, 1.9, 1.95, 2.12, 2.42, 2.75,
        3.06, 3.54, 3.85, 4.59,
      ],
      [
        0.29, 0.38, 0.41, 0.43, 0.55, 0.63, 0.73, 0.83, 0.91, 1, 1.06, 1.13, 1.2, 1.41, 1.51, 1.66,
        1.79, 2.22, 2.41,
      ],
      [
        0.25, 0.36, 0.46, 0.52, 0.59, 0.64, 0.7, 0.76, 0.8, 0.86, 0.9, 0.97, 1.02, 1.06, 1.17, 1.29,
        1.39, 1.61, 1.95,
      ],
      [
        0.19, 0.25, 0.29, 0.33, 0.38, 0.44, 0.49, 0.57, 0.62, 0.68, 0.71, 0.75, 0.8, 0.87, 0.93,
        0.98, 1.04, 1.13, 1.28,
      ],
    ],
    without_weather: [
      0.08, 0.13, 0.16, 0.2, 0.23, 0.25, 0.29, 0.32, 0.35, 0.39, 0.44, 0.51, 0.61, 0.79, 1.27, 1.53,
      2, 2.41, 2.93,
    ],
  },
  // The lowest two are 0.0003 and 0.0004 there; inverters that start later give nothing.
  twilight: [
    0, 0, 0.0005, 0.0006, 0.0008, 0.001, 0.0012, 0.0015, 0.0018, 0.0021, 0.0023, 0.0026, 0.0033,
    0.004, 0.0048, 0.0058, 0.0071, 0.0085, 0.0115,
  ],
}

const computed_min_ratio = 0.01
/** Hours at which own data of a class weigh as much as the published spread. */
const trusted_h = 50
/** The same for the common level of all classes, in hours at rated power by physics. */
const trusted_level_h = 8
/** Samples up to this age represent the present sky if there is no weather forecast. */
const recent_ms = 14 * day_ms

interface Ratios {
  ratios: number[]
  hours: number
}

type SkyRatios = { by_clear_index: Ratios[]; without_weather: Ratios }

/**
 * The errors of physics at a plant from its history: the published ones at the plant's own level,
 * blended with its own quantile by quantile in proportion to its hours. Steps excluded by
 * `exclusionOf` do not count. Without weather, the newest 14 days of the samples count.
 */
export function fitPhysicalErrors(
  samples: readonly ProductionSample[],
  plant: Plant,
): PhysicalErrors {
  const usable = samples.filter((sample) => exclusionOf(sample) === null)
  const weather = usable.map((sample) => sample.weather)
  const physics = plantPhysics(plant, usable, weather)
  return errorsOfRows({ samples: usable, plant, physics }, [...usable.keys()])
}

interface Measured {
  samples: readonly ProductionSample[]
  plant: Plant
  physics: PlantPhysics
}

/** `fitPhysicalErrors` from some of the samples, all usable, with known physics. */
export function errorsOfRows(
  { samples, plant, physics }: Measured,
  rows: readonly number[],
): PhysicalErrors {
  const newest_ms = rows.reduce((newest, row) => Math.max(newest, samples[row]!.end_ms), 0)
  const own = { high_sun: emptySky(), low_sun: emptySky(), twilight: emptyRatios() }
  const levels: WeightedRatio[] = []
  for (const row of rows) {
    const sample = samples[row]!
    const hours = stepHours(sample)
    const measured = measuredPower(sample, sample) / plant.rated_power_kw
    const sky = own[sunOf(physics, row)]
    const computed = physics.potential_ratio[row]!
    if (computed >= computed_min_ratio) {
      addRatio(sky.by_clear_index[classOf(physics.clear_index[row]!)]!, measured / computed, hours)
      levels.push({ ratio: measured / computed, weight: computed * hours })
    } else if (physics.is_night[row] === 0 && !Number.isNaN(computed)) {
      addRatio(own.twilight, measured, hours)
    }
    const clear = physics.clear_ratio[row]!
    if (clear >= computed_min_ratio && sample.end_ms > newest_ms - recent_ms) {
      addRatio(sky.without_weather, measured / clear, hours)
    }
  }
  const level = commonLevel(levels)
  return {
    level,
    high_sun: blendedSky(own.high_sun, published_errors.high_sun, level),
    low_sun: blendedSky(own.low_sun, published_errors.low_sun, level),
    twilight: blendedRatios(own.twilight, published_errors.twilight),
  }
}

interface WeightedRatio {
  ratio: number
  weight: number
}

/** Median ratio of the energy, nearer to 1 with little energy. */
function commonLevel(ratios: readonly WeightedRatio[]): number {
  const ascending = ratios.toSorted((a, b) => a.ratio - b.ratio)
  const whole = ratios.reduce((sum, { weight }) => sum + weight, 0)
  let passed = 0
  const median = ascending.find(({ weight }) => {
    passed += weight
    return passed >= whole / 2
  })
  if (median === undefined) return 1
  return 1 + (whole / (whole + trusted_level_h)) * (median.ratio - 1)
}

const emptyRatios = (): Ratios => ({ ratios: [], hours: 0 })
const emptySky = (): SkyRatios => ({
  by_clear_index: [...clear_index_edges, Infinity].map(emptyRatios),
  without_weather: emptyRatios(),
})

const sunOf = (physics: PlantPhysics, i: number): 'high_sun' | 'low_sun' =>
  physics.elevation_deg[i]! < low_sun_below_deg ? 'low_sun' : 'high_sun'

const classOf = (clear_index: number): number =>
  clear_index_edges.filter((edge) => clear_index >= edge).length

function addRatio(to: Ratios, ratio: number, hours: number): void {
  to.ratios.push(ratio)
  to.hours += hours
}

function blendedSky(own: SkyRatios, published: SkyErrors, level: number): SkyErrors {
  return {
    by_clear_index: own.by_clear_index.map((ratios, at) =>
      blendedRatios(ratios, scaled(published.by_clear_index[at]!, level)),
    ),
    without_weather: blendedRatios(own.without_weather, scaled(published.without_weather, level)),
  }
}

const scaled = (ratios: readonly number[], level: number) => ratios.map((ratio) => level * ratio)

function blendedRatios({ ratios, hours }: Ratios, published: readonly number[]): number[] {
  if (ratios.length === 0) return [...published]
  const share = hours / (hours + trusted_h)
  const own = Float64Array.from(ratios)
  return published.map((value, at) => {
    const quantile = quantileInPlace(own, quantile_levels[at]!)
    return value + share * (quantile - value)
  })
}

/**
 * Quantiles of power relative to rated power by physics: a column for each of `quantile_levels`,
 * within 0 to 1 and not below the one before. Without irradiance the clear sky is used, with the
 * spread of the weather. `errors` are by position of the step.
 */
export function physicalQuantiles(
  physics: PlantPhysics,
  errorsOf: (step: number) => PhysicalErrors,
): Float64Array[] {
  return quantile_levels.map((_, level) =>
    physics.potential_ratio.map((computed, i) => {
      const errors = errorsOf(i)
      if (computed < computed_min_ratio) {
        return physics.is_night[i] === 1 ? 0 : errors.twilight[level]!
      }
      const sky = errors[sunOf(physics, i)]
      const ratio = Number.isNaN(computed)
        ? physics.clear_ratio[i]! * sky.without_weather[level]!
        : computed * sky.by_clear_index[classOf(physics.clear_index[i]!)]![level]!
      return Math.min(1, ratio)
    }),
  )
}

/**
 * The forecast of a plant by physics; quantiles of totals are comonotonic. The errors, by lead time
 * of the weather in hours, are those of hours: quarter hours under broken clouds have a wider
 * spread. Throws a RangeError for steps that overlap, descend or last over an hour, and for a plant
 * without capacity.
 */
export function predictPhysical(
  plant: Plant,
  steps: readonly StepAhead[],
  errorsAt: (lead_time_h: number) => PhysicalErrors,
): ProductionForecast {
  requireSteps(steps)
  const physics = plantPhysics(
    plant,
    steps,
    steps.map(({ weather }) => weather),
  )
  return productionForecast({
    plant,
    steps,
    physics,
    quantiles: physicalQuantiles(physics, (i) => errorsAt(steps[i]!.lead_time_h)),
    total_scale: as_told,
    confidence_max: 'medium',
  })
}
