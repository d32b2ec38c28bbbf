/** How far physics is off by how far ahead the weather was forecast, with calibrated spread. */
import {
  fitPhysicalErrors,
  type PhysicalErrors,
  predictPhysical,
  published_errors,
  type SkyErrors,
} from './physical-forecast.ts'
import type { Plant } from './plant.ts'
import { utcDay } from './production-features.ts'
import {
  as_told,
  conformalScale,
  quantile_levels,
  type SpreadOutcome,
  type SpreadScale,
} from './production-forecast.ts'
import { isScorable, measuredPower, type ProductionSample } from './production-samples.ts'

/** The errors of physics at a lead of the weather forecast, hours. */
export type LeadErrors = (lead_time_h: number) => PhysicalErrors

/** Up to which leads, hours, errors are taken for the same: hours ahead, a day, two days, more. */
const lead_classes_h = [12, 36, 60, Number.POSITIVE_INFINITY] as const
/** The lead that the published errors are of. */
const published_class = 1
/**
 * How much wider the spread is a class further ahead, where nothing of the plant's own tells it: as
 * the error of the clear-sky index grows from 24 to 72 hours ahead in the simulated forecasts.
 */
const growth = 1.24
const folds = 5
/** Of fewer days the spread is taken as the fit tells it. */
const calibration_days_min = 10
/** Of rated power: the least spread that counts. */
const spread_min_ratio = 1e-3

/**
 * Errors of physics at a plant by lead. Samples of a lead are fitted as `fitPhysicalErrors` has it;
 * then their spread is stretched until four of five of them lie within when their own days are left
 * out of the fit: R. F. Barber et al., "Predictive inference with the jackknife+", Annals of
 * Statistics 49(1), 2021, section 3, of five folds of consecutive days. Leads that have no samples
 * take the errors of the nearest shorter one, wider by 24 % for each day, or else of the next
 * longer one; without any they are the published ones.
 */
export function fitLeadErrors(samples: readonly ProductionSample[], plant: Plant): LeadErrors {
  const byClass = Map.groupBy(
    // Nights say nothing, and there are many.
    samples.filter(({ weather }) => weather !== null && weather.ghi_w_m2 !== 0),
    ({ lead_time_h }) => classOf(lead_time_h),
  )
  const own = lead_classes_h.map((_, at) => {
    const of_lead = byClass.get(at)
    return of_lead ? calibrated(once(of_lead), plant) : null
  })
  const lately = fitPhysicalErrors(once(samples), plant)
  const known = lead_classes_h.map((_, at) => withSkyOf(own[at] ?? borrowed(own, at), lately))
  return (lead_time_h) => known[classOf(lead_time_h)]!
}

/** The errors that are known of no plant but the published one, wider the further ahead. */
export const published_lead_errors: LeadErrors = (lead_time_h) => publishedAt(classOf(lead_time_h))

const classOf = (lead_time_h: number) => lead_classes_h.findIndex((most_h) => lead_time_h <= most_h)

const publishedAt = (at: number) => widened(published_errors, at - published_class)

function borrowed(own: readonly (PhysicalErrors | null)[], at: number): PhysicalErrors {
  const shorter = own.findLastIndex((errors, from) => errors !== null && from < at)
  if (shorter >= 0) return widened(own[shorter]!, at - shorter)
  return own.find((errors) => errors !== null) ?? publishedAt(at)
}

/** What the sky of these days does where no weather is known has no lead. */
function withSkyOf(errors: PhysicalErrors, { high_sun, low_sun }: PhysicalErrors): PhysicalErrors {
  return {
    high_sun: { ...errors.high_sun, without_weather: high_sun.without_weather },
    low_sun: { ...errors.low_sun, without_weather: low_sun.without_weather },
  }
}

function widened(errors: PhysicalErrors, classes: number): PhysicalErrors {
  if (classes <= 0) return errors
  const scale = growth ** classes
  return stretched(errors, { below: scale, above: scale })
}

/** Series of different leads may have come to the same forecasts. */
function once(samples: readonly ProductionSample[]): ProductionSample[] {
  return [...new Map(samples.map((sample) => [sample.start_ms, sample])).values()].sort(
    (a, b) => a.start_ms - b.start_ms,
  )
}

function calibrated(samples: readonly ProductionSample[], plant: Plant): PhysicalErrors {
  return stretched(fitPhysicalErrors(samples, plant), scaleOf(samples, plant))
}

function scaleOf(samples: readonly ProductionSample[], plant: Plant): SpreadScale {
  const days = [...new Set(samples.filter(isScorable).map(utcDay))]
  if (days.length < calibration_days_min) return as_told
  const foldOf = new Map(days.map((day, nth) => [day, Math.floor((nth * folds) / days.length)]))
  const outcomes = Array.from({ length: folds }, (_, fold) => {
    const isHeld = (sample: ProductionSample) => foldOf.get(utcDay(sample)) === fold
    const errors = fitPhysicalErrors(
      samples.filter((sample) => !isHeld(sample)),
      plant,
    )
    return outcomesOf(samples.filter(isHeld), plant, errors)
  })
  return conformalScale(outcomes.flat(), spread_min_ratio * plant.rated_power_kw)
}

function outcomesOf(
  samples: readonly ProductionSample[],
  plant: Plant,
  errors: PhysicalErrors,
): SpreadOutcome[] {
  const { points } = predictPhysical(plant, samples, () => errors)
  return points.flatMap(({ p10_kw: p10, p50_kw: p50, p90_kw: p90, is_night }, nth) => {
    const sample = samples[nth]!
    if (is_night || !isScorable(sample)) return []
    return [{ p10, p50, p90, actual: measuredPower(sample, sample) }]
  })
}

const median_at = quantile_levels.indexOf(0.5)

/** Ratios further from their medians, and not below 0; those without weather have no lead. */
function stretched(errors: PhysicalErrors, { below, above }: SpreadScale): PhysicalErrors {
  const stretch = (ratios: readonly number[]) => {
    const median = ratios[median_at]!
    return ratios.map((ratio) =>
      Math.max(0, median + (ratio - median) * (ratio < median ? below : above)),
    )
  }
  const sky = ({ by_clear_index, without_weather }: SkyErrors): SkyErrors => ({
    by_clear_index: by_clear_index.map(stretch),
    without_weather,
  })
  return { high_sun: sky(errors.high_sun), low_sun: sky(errors.low_sun) }
}
