/**
 * Rain, and the dust that it washes off. Both follow from the seed at any instant: rain of a day is
 * summed from the clouds, and dust depends only on the days before.
 */
import { day_ms } from '@heliograph/domain/durations'
import { rainRate } from './clouds.ts'

export interface Soiling {
  /** Rain since the solar midnight of the place, mm. */
  rain_mm(time_ms: number): number
  /** Age of the dust in days without rain, 0 or more: a shower removes part of it. */
  dust_days(time_ms: number): number
}

const rain_steps = 144
const rain_step_ms = day_ms / rain_steps
/** Rain that reduces the dust to 1/e. */
const washing_mm = 2
/** Older dust counts as washed off. */
const days_remembered = 90

export function createSoiling(seed: number, longitude: number): Soiling {
  /** The sun crosses a degree of longitude in four minutes. */
  const shift_ms = (longitude * day_ms) / 360
  const dayOf = (time_ms: number) => Math.floor((time_ms + shift_ms) / day_ms)
  const startOf = (day: number) => day * day_ms - shift_ms
  // Only a cache: results do not depend on it.
  const rains = new Map<number, Float64Array>()
  const dusts = new Map<number, number>()

  const rainOf = (day: number): Float64Array => {
    const known = rains.get(day)
    if (known) return known
    const fallen = new Float64Array(rain_steps + 1)
    for (let step = 0; step < rain_steps; step += 1) {
      const middle_ms = startOf(day) + (step + 0.5) * rain_step_ms
      fallen[step + 1] = fallen[step]! + (rainRate(seed, middle_ms) * 24) / rain_steps
    }
    rains.set(day, fallen)
    return fallen
  }
  const dustAtStartOf = (day: number): number => {
    const known = dusts.get(day)
    if (known !== undefined) return known
    let dust = 0
    for (let before = day - days_remembered; before < day; before += 1) {
      dust = (dust + 1) * Math.exp(-rainOf(before)[rain_steps]! / washing_mm)
    }
    dusts.set(day, dust)
    return dust
  }
  return {
    rain_mm(time_ms) {
      const day = dayOf(time_ms)
      const step = (time_ms - startOf(day)) / rain_step_ms
      const from = Math.min(rain_steps - 1, Math.floor(step))
      const fallen = rainOf(day)
      return fallen[from]! + (fallen[from + 1]! - fallen[from]!) * (step - from)
    },
    dust_days(time_ms) {
      const day = dayOf(time_ms)
      const share = (time_ms - startOf(day)) / day_ms
      return (dustAtStartOf(day) + share) * Math.exp(-this.rain_mm(time_ms) / washing_mm)
    },
  }
}
