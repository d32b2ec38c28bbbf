import type { Step } from './plant.ts'
import type { WeatherStep } from './weather-step.ts'

/** A step of a forecast's weather, with what its ensemble tells where it has one. */
export interface ForecastWeather extends WeatherStep {
  /** Standard deviation of the global irradiance among the members of the ensemble. */
  ghi_spread_w_m2?: number | null
}

/**
 * What a plant did in a step of the past, and what was known of it before. Samples come in
 * ascending series; where time goes back another series starts (one for each lead, for instance).
 */
export interface ProductionSample extends Step {
  /** As it was forecast `lead_time_h` before the step; null where there was no forecast. */
  weather: ForecastWeather | null
  /** From the issue of that forecast to the start of the step, hours. */
  lead_time_h: number
  /** Energy that the plant gave, with what curtailments took added back; null: not measured. */
  available_kwh: number | null
  /** Share of the step that was measured. */
  completeness_pct: number
  is_curtailed: boolean
  /** Held down by the rating of inverters. */
  is_clipped: boolean
  /** Faults or stops kept part of the plant down. */
  is_faulty: boolean
}

/** Why a step of the past teaches nothing of what the plant gives at its weather. */
export const exclusions = ['missing', 'partial', 'curtailed', 'faulty', 'clipped'] as const
export type Exclusion = (typeof exclusions)[number]

/** Of a step less measured than this, too much is guessed. */
export const completeness_min_pct = 95

/**
 * Why a sample is left out of training, null when it is not. The energy that a curtailment took is
 * an estimate, and what a full inverter could have given is not known: neither is learnt from.
 */
export function exclusionOf(sample: ProductionSample): Exclusion | null {
  if (sample.available_kwh === null || !Number.isFinite(sample.available_kwh)) return 'missing'
  if (!(sample.completeness_pct >= completeness_min_pct)) return 'partial'
  if (sample.is_curtailed) return 'curtailed'
  if (sample.is_faulty) return 'faulty'
  return sample.is_clipped ? 'clipped' : null
}

/**
 * Whether the output of a step is known, to hold forecasts against: a full inverter gives what it
 * gives, so that clipped steps count here.
 */
export function isScorable(sample: ProductionSample): boolean {
  const exclusion = exclusionOf(sample)
  return exclusion === null || exclusion === 'clipped'
}
