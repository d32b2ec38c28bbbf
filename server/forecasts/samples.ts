/** Unpacks task data of the thread into steps and samples. */
import { hour_ms } from '@heliograph/domain/durations'
import type { Step } from '@heliograph/forecast/plant'
import type {
  Measurement,
  ProductionSample,
  StepAhead,
} from '@heliograph/forecast/production-samples'
import { type Course, outcomeOf } from './course.ts'
import type { Grid, History } from './tasks.ts'
import { unpackSteps } from './weather-grid.ts'

/** Every step of a grid; `weather` is null where none was known in time. */
export function stepsOf({ from_ms, to_ms, step_ms }: Grid, packed: Float64Array): StepAhead[] {
  const known = new Map(unpackSteps(packed).map((step) => [step.start_ms, step]))
  return Array.from({ length: Math.round((to_ms - from_ms) / step_ms) }, (_, nth) => {
    const start_ms = from_ms + nth * step_ms
    const weather = known.get(start_ms) ?? null
    const lead_ms = weather === null ? 0 : start_ms - weather.issued_ms
    const lead_time_h = Math.max(0, lead_ms / hour_ms)
    return { start_ms, end_ms: start_ms + step_ms, weather, lead_time_h }
  })
}

export function measuredIn(course: Course, { start_ms, end_ms }: Step): Measurement {
  const { energy_kwh, is_estimated, ...outcome } = outcomeOf(course, start_ms, end_ms)
  // Counter energy spread over a gap was not measured per step.
  if (is_estimated) return { ...outcome, available_kwh: null }
  // A curtailed step is excluded as curtailed, not as unmeasured.
  return outcome.is_curtailed
    ? { ...outcome, available_kwh: outcome.available_kwh ?? energy_kwh }
    : outcome
}

/** One series of samples per lead time of the weather. */
export function samplesOf({ course, weather, grid }: History): ProductionSample[][] {
  return weather.map((packed) =>
    stepsOf(grid, packed).map((step) => ({ ...step, ...measuredIn(course, step) })),
  )
}
