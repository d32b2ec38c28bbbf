import type { Values } from '../../../ui/history.ts'

interface Statistics {
  lowest: number | null
  mean: number | null
  highest: number | null
  known_pct: number
}

export function statisticsOf(values: Values): Statistics {
  let [lowest, highest, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0]
  for (const value of values) {
    if (value === null) continue
    if (value < lowest) lowest = value
    if (value > highest) highest = value
    sum += value
    count += 1
  }
  const known_pct = values.length === 0 ? 0 : (100 * count) / values.length
  if (count === 0) return { lowest: null, mean: null, highest: null, known_pct }
  return { lowest, mean: sum / count, highest, known_pct }
}

/** Energy of known steps of power in kW, kWh. */
export function energyOf(values: Values, step_s: number): number | null {
  const known = values.filter((kw) => kw !== null)
  return known.length === 0 ? null : known.reduce((sum, kw) => sum + kw, 0) * (step_s / 3600)
}
