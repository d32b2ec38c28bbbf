import { type Step, stepHours } from './plant.ts'
import type { WeatherStep } from './weather-step.ts'

/** Forecast weather of a step, with the spread of its ensemble if there is one. */
export interface ForecastWeather extends WeatherStep {
  /** Standard deviation of global irradiance over the members of the ensemble. */
  ghi_spread_w_m2?: number | null
}

/** A step with its weather as forecast beforehand. */
export interface StepAhead extends Step {
  weather: ForecastWeather | null
  /** From the issue of that forecast to the start of the step, hours. */
  lead_time_h: number
}

export interface Measurement {
  /** Energy of the plant plus the energy lost to curtailment; null if not measured. */
  available_kwh: number | null
  /** Measured share of the step. */
  completeness_pct: number
  is_curtailed: boolean
  /** Limited by the rating of inverters. */
  is_clipped: boolean
  /** Faults or stops reduced the plant. */
  is_faulty: boolean
}

/**
 * Measurement of a past step, with the forecast known before. Samples are ascending series; a step
 * back in time starts another series (for example another lead time).
 */
export interface ProductionSample extends StepAhead, Measurement {}

export const exclusions = ['missing', 'partial', 'curtailed', 'faulty', 'clipped'] as const
export type Exclusion = (typeof exclusions)[number]

/** Below this the energy of a step is too uncertain. */
const completeness_min_pct = 95

/**
 * Reason to exclude a measurement from training; null if there is none. Energy lost to curtailment
 * is an estimate, and the potential of clipped steps is unknown.
 */
export function exclusionOf(measured: Measurement): Exclusion | null {
  if (measured.available_kwh === null || !Number.isFinite(measured.available_kwh)) return 'missing'
  if (!(measured.completeness_pct >= completeness_min_pct)) return 'partial'
  if (measured.is_curtailed) return 'curtailed'
  if (measured.is_faulty) return 'faulty'
  return measured.is_clipped ? 'clipped' : null
}

/** True if the output of a step is known for scoring, which includes clipped steps. */
export function isScorable(measured: Measurement): boolean {
  const exclusion = exclusionOf(measured)
  return exclusion === null || exclusion === 'clipped'
}

/** Mean power of a measured step, kW, not below 0; NaN if not measured. */
export function measuredPower(step: Step, { available_kwh }: Measurement): number {
  return Math.max(0, available_kwh ?? Number.NaN) / stepHours(step)
}
