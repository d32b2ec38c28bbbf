/** Errors of physics by lead time of the weather forecast, with calibrated spread. */
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

/** The errors of physics at a lead time of the weather forecast, hours. */
export type LeadErrors = (lead_time_h: number) => PhysicalErrors

/** Upper limits of the classes of lead time, h: hours ahead, one day, two days, more. */
const lead_classes_h = [12, 36, 60, Number.POSITIVE_INFINITY] as const
const published_class = 1
/**
 * Growth of the spread per class of lead time without own data: that of the error of the clear-sky
 * index from 24 to 72 hours ahead in the simulated forecasts.
 */
const growth = 1.24
const folds = 5
/** With fewer days the spread of the fit is not calibrated. */
const calibration_days_min = 5
const spread_min_ratio = 1e-3

/**
 * Errors of physics at a plant by lead time. Samples of a lead class are fitted by
 * `fitPhysicalErrors`; then their spread is stretched until four of five samples lie within it when
 * their own days are left out of the fit: R. F. Barber et al., "Predictive inference with the
 * jackknife+", Annals of Statistics 49(1), 2021, section 3, with five folds of consecutive days. A
 * class without samples has the errors of the nearest shorter one, 24 % wider per day, or else of
 * the next longer one; without any samples, the published errors.
 */
export function fitLeadErrors(samples: readonly ProductionSample[], plant: Plant): LeadErrors {
  const byClass = Map.groupBy(
    // Nights carry no information, and there are many.
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

/** Errors without own data: the published ones, wider with longer lead time. */
export const published_lead_errors: LeadErrors = (lead_time_h) => publishedAt(classOf(lead_time_h))

const classOf = (lead_time_h: number) => lead_classes_h.findIndex((most_h) => lead_time_h <= most_h)

const publishedAt = (at: number) => widened(published_errors, at - published_class)

function borrowed(own: readonly (PhysicalErrors | null)[], at: number): PhysicalErrors {
  const shorter = own.findLastIndex((errors, from) => errors !== null && from < at)
  if (shorter >= 0) return widened(own[shorter]!, at - shorter)
  return own.find((errors) => errors !== null) ?? publishedAt(at)
}

/** Errors without weather have no lead time. */
function withSkyOf(errors: PhysicalErrors, { high_sun, low_sun }: PhysicalErrors): PhysicalErrors {
  return {
    ...errors,
    high_sun: { ...errors.high_sun, without_weather: high_sun.without_weather },
    low_sun: { ...errors.low_sun, without_weather: low_sun.without_weather },
  }
}

function widened(errors: PhysicalErrors, classes: number): PhysicalErrors {
  if (classes <= 0) return errors
  const scale = growth ** classes
  return stretched(errors, { below: scale, above: scale })
}

/** Samples of different lead times may share forecasts. */
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

/** Stretches ratios about their medians, not below 0; errors without weather stay. */
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
  return {
    ...errors,
    high_sun: sky(errors.high_sun),
    low_sun: sky(errors.low_sun),
    twilight: stretch(errors.twilight),
  }
}
