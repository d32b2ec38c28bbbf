import type { LoggerEfficiency } from '@heliograph/sdk'
import { sumKnown } from '../../../ui/format.ts'

/** Weighted mean over the plants whose value is known; null without any. */
export function mean(
  plants: readonly LoggerEfficiency[],
  of: (plant: LoggerEfficiency) => number | null,
  weightOf: (plant: LoggerEfficiency) => number | null,
): number | null {
  const known = plants.filter((plant) => of(plant) !== null && weightOf(plant) !== null)
  const weight = sumKnown(known, weightOf) ?? 0
  const total = sumKnown(known, (plant) => of(plant)! * weightOf(plant)!)
  return weight > 0 && total !== null ? total / weight : null
}

/** Energy per expected energy of all plants, %. */
export const performanceIndex = (plants: readonly LoggerEfficiency[]) =>
  mean(
    plants,
    (plant) => plant.energy_performance_index_pct,
    (plant) => plant.expected_energy_kwh,
  )
