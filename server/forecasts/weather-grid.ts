/** Resamples weather forecasts to steps of one length. */
import { type WeatherStep, weather_quantities } from '@heliograph/forecast/weather-step'
import type { Grid } from './tasks.ts'
import type { KnownStep } from './weather/run.ts'

const quantities = [...weather_quantities, 'ghi_spread_w_m2'] as const
type Quantity = (typeof quantities)[number]

export interface GridStep extends WeatherStep {
  /** Standard deviation of the ensemble; null without one. */
  ghi_spread_w_m2: number | null
  /** Issue time of the oldest forecast in the step. */
  issued_ms: number
}

type Part = Omit<GridStep, 'issued_ms'> & { issued_at: Date }

/** Distance of P10 and P90 of a normal distribution in standard deviations. */
const deviations = 2.563

const withSpread = (step: KnownStep): Part => {
  const { ghi_p10_w_m2, ghi_p90_w_m2 } = step
  const is_known = ghi_p10_w_m2 !== null && ghi_p90_w_m2 !== null
  return { ...step, ghi_spread_w_m2: is_known ? (ghi_p90_w_m2 - ghi_p10_w_m2) / deviations : null }
}

/**
 * Steps of [from_ms, to_ms), ascending, each the mean over it, without steps that are known only in
 * part. `known` ascends without overlap.
 */
export function onGrid(known: readonly KnownStep[], { from_ms, to_ms, step_ms }: Grid): GridStep[] {
  const steps: GridStep[] = []
  let first = 0
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += step_ms) {
    const end_ms = start_ms + step_ms
    while (first < known.length && known[first]!.end_ms <= start_ms) first += 1
    const parts: Part[] = []
    for (let nth = first; nth < known.length && known[nth]!.start_ms < end_ms; nth += 1) {
      parts.push(withSpread(known[nth]!))
    }
    const step = meanOf(parts, start_ms, end_ms)
    if (step) steps.push(step)
  }
  return steps
}

function meanOf(parts: readonly Part[], start_ms: number, end_ms: number): GridStep | null {
  const within = (part: WeatherStep) =>
    Math.min(part.end_ms, end_ms) - Math.max(part.start_ms, start_ms)
  const known_ms = parts.reduce((sum, part) => sum + within(part), 0)
  if (known_ms < end_ms - start_ms) return null
  const mean = (quantity: Quantity): number | null => {
    let sum = 0
    for (const part of parts) {
      const value = part[quantity]
      if (value === null) return null
      sum += value * within(part)
    }
    return sum / known_ms
  }
  const values = quantities.map((quantity) => [quantity, mean(quantity)])
  return {
    ...(Object.fromEntries(values) as Record<Quantity, number | null>),
    start_ms,
    end_ms,
    issued_ms: Math.min(...parts.map(({ issued_at }) => issued_at.getTime())),
  }
}

/** Numbers per packed step: start, end, issue time, and the quantities. */
const width = 3 + quantities.length

/** Packs steps into one array that is cheap to send to a thread. */
export function packSteps(steps: readonly GridStep[]): Float64Array {
  const packed = new Float64Array(steps.length * width)
  for (const [nth, step] of steps.entries()) {
    packed.set([step.start_ms, step.end_ms, step.issued_ms], nth * width)
    for (const [at, quantity] of quantities.entries()) {
      packed[nth * width + 3 + at] = step[quantity] ?? Number.NaN
    }
  }
  return packed
}

export function unpackSteps(packed: Float64Array): GridStep[] {
  return Array.from({ length: packed.length / width }, (_, nth) => {
    const at = (index: number) => packed[nth * width + index]!
    const values = quantities.map((quantity, index) => {
      const value = at(3 + index)
      return [quantity, Number.isNaN(value) ? null : value]
    })
    return {
      ...(Object.fromEntries(values) as Record<Quantity, number | null>),
      start_ms: at(0),
      end_ms: at(1),
      issued_ms: at(2),
    }
  })
}
