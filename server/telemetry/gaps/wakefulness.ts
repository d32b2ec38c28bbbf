/** When the inverters of a site must be awake, by the sun. Missing readings at night are no gap. */
import { cached } from '@heliograph/domain/cached'
import { day_ms } from '@heliograph/domain/durations'
import { asleep_below_deg, drowsy_ms, type Place } from '@heliograph/domain/place'
import { solarPosition } from '@heliograph/physics/solar-position'

export type Wakefulness = ReturnType<typeof wakefulnessAt>

const cell_ms = 300_000
const cells_per_day = day_ms / cell_ms
const drowsy_cells = drowsy_ms / cell_ms

interface Day {
  awake: Uint8Array
  awake_count: number
  daylight: Uint8Array
}

/**
 * An inverter may sleep while the sun is less than 3 degrees above the horizon, and 15 minutes
 * before and after, on a grid of five minutes. Without a place inverters must always be awake.
 */
export function wakefulnessAt(place: Place | null) {
  const dayOf = cached((number: number) => (place === null ? always : dayAt(place, number)))
  const isAwakeCell = (cell: number) =>
    dayOf(Math.floor(cell / cells_per_day)).awake[modulo(cell)] === 1
  const cellOf = (time_ms: number) => Math.floor(time_ms / cell_ms)

  /**
   * The first awake (or asleep) instant from `time_ms` on; else `end_ms`. Skips whole days that are
   * all awake or all asleep.
   */
  function next(is_awake: boolean, time_ms: number, end_ms: number): number {
    for (let cell = cellOf(time_ms); cell * cell_ms < end_ms; ) {
      const { awake_count } = dayOf(Math.floor(cell / cells_per_day))
      if (awake_count === (is_awake ? 0 : cells_per_day)) cell += cells_per_day - modulo(cell)
      else if (isAwakeCell(cell) === is_awake) return Math.max(time_ms, cell * cell_ms)
      else cell += 1
    }
    return end_ms
  }

  return {
    /** Whether an inverter must answer at this instant. */
    isAwake: (time_ms: number) => isAwakeCell(cellOf(time_ms)),
    /** Awake part of [start_ms, end_ms), ms. */
    awakeMs(start_ms: number, end_ms: number): number {
      let sum_ms = 0
      for (let at_ms = start_ms; at_ms < end_ms; ) {
        const number = Math.floor(at_ms / day_ms)
        const day_end_ms = (number + 1) * day_ms
        if (at_ms === number * day_ms && day_end_ms <= end_ms) {
          sum_ms += dayOf(number).awake_count * cell_ms
          at_ms = day_end_ms
        } else {
          const until_ms = Math.min(end_ms, (cellOf(at_ms) + 1) * cell_ms)
          if (isAwakeCell(cellOf(at_ms))) sum_ms += until_ms - at_ms
          at_ms = until_ms
        }
      }
      return sum_ms
    },
    next,
    /** The end of the last awake part of [start_ms, end_ms); else `start_ms`. */
    lastAwake(start_ms: number, end_ms: number): number {
      for (let cell = cellOf(end_ms - 1); (cell + 1) * cell_ms > start_ms; cell -= 1) {
        if (isAwakeCell(cell)) return Math.min(end_ms, (cell + 1) * cell_ms)
      }
      return start_ms
    },
    /** Whether the sun is above the horizon at any time of the interval. */
    hasDaylight(start_ms: number, end_ms: number): boolean {
      for (let cell = cellOf(start_ms); cell * cell_ms < end_ms; cell += 1) {
        if (dayOf(Math.floor(cell / cells_per_day)).daylight[modulo(cell)] === 1) return true
      }
      return false
    },
  }
}

const modulo = (cell: number) => cell - Math.floor(cell / cells_per_day) * cells_per_day

const all = new Uint8Array(cells_per_day).fill(1)
const always: Day = { awake: all, awake_count: cells_per_day, daylight: all }

function dayAt({ latitude, longitude, elevation_m }: Place, number: number): Day {
  const sun_deg = Array.from({ length: cells_per_day + 2 * drowsy_cells }, (_, nth) => {
    const middle_ms = number * day_ms + (nth - drowsy_cells + 0.5) * cell_ms
    return solarPosition(middle_ms, latitude, longitude, { elevation_m }).apparent_elevation_deg
  })
  const awake = Uint8Array.from({ length: cells_per_day }, (_, nth) => {
    const around = sun_deg.slice(nth, nth + 2 * drowsy_cells + 1)
    return around.every((elevation_deg) => elevation_deg >= asleep_below_deg) ? 1 : 0
  })
  return {
    awake,
    awake_count: awake.reduce((sum, is_awake) => sum + is_awake, 0),
    daylight: Uint8Array.from({ length: cells_per_day }, (_, nth) =>
      sun_deg[nth + drowsy_cells]! > 0 ? 1 : 0,
    ),
  }
}
