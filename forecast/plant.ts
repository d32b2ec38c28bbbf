import { hour_ms } from '@heliograph/domain/durations'
import type { Place } from '@heliograph/domain/place'

interface PlantArray {
  /** 0 horizontal to 90 vertical. */
  tilt_deg: number
  /** Clockwise from north. */
  azimuth_deg: number
  dc_capacity_kwp: number
}

/** Properties of a plant for forecasts; a site is a plant with all its arrays. */
export interface Plant {
  /** Maximum power, above 0. */
  rated_power_kw: number
  /** Of all arrays together, above 0. */
  dc_capacity_kwp: number
  place: Place
  /** Not empty; capacities are weighted by their shares. */
  arrays: readonly PlantArray[]
}

/** A span of time, Unix ms: from its start to before its end. */
export interface Step {
  start_ms: number
  end_ms: number
}

export const stepHours = ({ start_ms, end_ms }: Step): number => (end_ms - start_ms) / hour_ms

/** Throws a RangeError naming an invalid property. */
export function requirePlant(plant: Plant): void {
  const { rated_power_kw, dc_capacity_kwp, place, arrays } = plant
  const numbers = { rated_power_kw, dc_capacity_kwp, ...place }
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isFinite(value)) throw new RangeError(`${name} of the plant is ${value}`)
  }
  if (rated_power_kw <= 0) throw new RangeError(`rated_power_kw is ${rated_power_kw}, not above 0`)
  if (dc_capacity_kwp <= 0) {
    throw new RangeError(`dc_capacity_kwp is ${dc_capacity_kwp}, not above 0`)
  }
  if (!(arrays.reduce((sum, array) => sum + array.dc_capacity_kwp, 0) > 0)) {
    throw new RangeError('arrays: none has a capacity')
  }
}

/** Throws a RangeError unless steps ascend without overlap and last 1 minute to 1 hour. */
export function requireSteps(steps: readonly Step[]): void {
  let free_from_ms = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    const { start_ms, end_ms } = step
    const hours = stepHours(step)
    if (!(hours >= 1 / 60 && hours <= 1)) {
      throw new RangeError(`a step lasts ${hours} h, not 1 minute to 1 hour`)
    }
    if (start_ms < free_from_ms) {
      throw new RangeError(`steps overlap or descend at ${new Date(start_ms).toISOString()}`)
    }
    free_from_ms = end_ms
  }
}
