/** A history as samples: a series for each lead of the weather, with what came of each step. */
import type { ProductionSample } from '@heliograph/forecast/production-samples'
import { outcomeOf } from './course.ts'
import type { History } from './tasks.ts'
import { type GridStep, unpackSteps } from './weather-grid.ts'

const hour_ms = 3_600_000

/** From the issue of the weather to the start of the step. */
export const leadHours = ({ start_ms, issued_ms }: GridStep): number =>
  Math.max(0, (start_ms - issued_ms) / hour_ms)

/** Every step of the grid, once for each series; without weather where none was known in time. */
export function samplesOf({ course, weather, grid }: History): ProductionSample[] {
  return weather.flatMap((packed) => {
    const known = new Map(unpackSteps(packed).map((step) => [step.start_ms, step]))
    const samples: ProductionSample[] = []
    for (let start_ms = grid.from_ms; start_ms < grid.to_ms; start_ms += grid.step_ms) {
      const end_ms = start_ms + grid.step_ms
      const step = known.get(start_ms) ?? null
      const outcome = outcomeOf(course, start_ms, end_ms)
      samples.push({
        start_ms,
        end_ms,
        weather: step,
        lead_time_h: step === null ? 0 : leadHours(step),
        // What a counter told of a gap was not measured step by step.
        available_kwh: outcome.is_estimated ? null : outcome.available_kwh,
        completeness_pct: outcome.completeness_pct,
        is_curtailed: outcome.is_curtailed,
        is_clipped: outcome.is_clipped,
        is_faulty: outcome.is_faulty,
      })
    }
    return samples
  })
}
