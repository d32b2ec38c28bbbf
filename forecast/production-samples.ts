import { type Step, stepHours } from './plant.ts'
import type { WeatherStep } from './weather-step.ts'

/** A step of a forecast's weather, with what its ensemble tells where it has one. */
export interface ForecastWeather extends WeatherStep {
  /** Standard deviation of the global irradiance among the members of the ensemble. */
  ghi_spread_w_m2?: number | null
}

/** A step with what was forecast of its weather beforehand. */
export interface StepAhead extends Step {
  /** null where there is no forecast of it. */
  weather: ForecastWeather | null
  /** From the issue of that forecast to the start of the step, hours. */
  lead_time_h: number
}

/** What a plant did in a step. */
export interface Measurement {
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

/**
 * What a plant did in a step of the past, and what was known of it before. Samples come in
 * ascending series; where time goes back another series starts (one for each lead, for instance).
 */
export interface ProductionSample extends StepAhead, Measurement {}

/** Why a step of the past teaches nothing of what the plant gives at its weather. */
export const exclusions = ['missing', 'partial', 'curtailed', 'faulty', 'clipped'] as const
export type Exclusion = (typeof exclusions)[number]

/** Of a step less measured than this, too much is guessed. */
const completeness_min_pct = 95

/**
 * Why a measurement is left out of training, null when it is not. The energy that a curtailment
 * took is an estimate, and what a full inverter could have given is not known: neither is learnt
 * from.
 */
export function exclusionOf(measured: Measurement): Exclusion | null {
  if (measured.available_kwh === null || !Number.isFinite(measured.available_kwh)) return 'missing'
  if (!(measured.completeness_pct >= completeness_min_pct)) return 'partial'
  if (measured.is_curtailed) return 'curtailed'
  if (measured.is_faulty) return 'faulty'
  return measured.is_clipped ? 'clipped' : null
}

/**
 * Whether the output of a step is known, to hold forecasts against: a full inverter gives what it
 * gives, so that clipped steps count here.
 */
export function isScorable(measured: Measurement): boolean {
  const exclusion = exclusionOf(measured)
  return exclusion === null || exclusion === 'clipped'
}

/** Mean power of a measured step, kW, not below 0; NaN where it was not measured. */
export function measuredPower(step: Step, { available_kwh }: Measurement): number {
  return Math.max(0, available_kwh ?? Number.NaN) / stepHours(step)
}
