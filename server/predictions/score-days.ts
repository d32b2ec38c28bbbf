/** Holds what was forecast in time against what came, day by day, beside smart persistence. */
import type { Plant } from '@heliograph/forecast/plant'
import { plantPhysics } from '@heliograph/forecast/plant-physics'
import { completeness_min_pct } from '@heliograph/forecast/production-samples'
import { type Course, outcomeOf } from './course.ts'
import { addSums, noSums, type ScoreSums, sumsOf } from './score-sums.ts'
import type { DayScores, ScoreTask } from './tasks.ts'
import type { VintageStep } from './vintage-steps.ts'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms
/** Of the rated power under a clear sky: below that a share of it says nothing. */
const clear_min_ratio = 0.05
/** How far back smart persistence looks for the same time of a day. */
const persistence_days_max = 4

/** Sums of the steps of each day that were forecast in time and whose outcome is known. */
export function scoreDays({ plant, course, days }: Omit<ScoreTask, 'kind'>): DayScores[] {
  const clear = clearSky(plant)
  return days.map(({ target_date, lead_time, steps }) => ({
    target_date,
    lead_time,
    sums: steps.reduce(
      (sums, step) => addSums(sums, scoreStep(step, { plant, course, clear })),
      noSums,
    ),
  }))
}

interface Known {
  plant: Plant
  course: Course
  clear(start_ms: number, end_ms: number): ClearSky
}

interface ClearSky {
  /** Of the rated power, over a span. */
  ratio: number
  is_night: boolean
}

function clearSky(plant: Plant): Known['clear'] {
  const known = new Map<number, ClearSky>()
  return (start_ms, end_ms) => {
    const found = known.get(start_ms)
    if (found !== undefined) return found
    const { clear_ratio, is_night } = plantPhysics(plant, [{ start_ms, end_ms }], [null])
    const clear = { ratio: clear_ratio[0]!, is_night: is_night[0] === 1 }
    known.set(start_ms, clear)
    return clear
  }
}

function scoreStep(step: VintageStep, known: Known): ScoreSums {
  const { plant, course, clear } = known
  const { start_ms, end_ms, p10_kw, p50_kw, p90_kw } = step
  if (p10_kw === null || p50_kw === null || p90_kw === null) return noSums
  if (clear(start_ms, end_ms).is_night) return noSums
  const outcome = outcomeOf(course, start_ms, end_ms)
  const is_known =
    outcome.available_kwh !== null &&
    outcome.completeness_pct >= completeness_min_pct &&
    !outcome.is_estimated &&
    !outcome.is_faulty
  if (!is_known) return noSums
  if (outcome.is_curtailed) return { ...noSums, curtailed: 1 }
  return sumsOf(
    {
      ...{ p10_kw, p50_kw, p90_kw, is_hindcast: step.is_hindcast },
      actual_kw: powerOf(outcome.available_kwh!, start_ms, end_ms),
      persistence_kw: persistenceOf(step, known),
    },
    plant.rated_power_kw,
  )
}

const powerOf = (kwh: number, start_ms: number, end_ms: number) =>
  Math.max(0, kwh) / ((end_ms - start_ms) / hour_ms)

/**
 * "Smart" persistence (T. E. Hoff and R. Perez, Solar Energy 86(6), 2012): the share of its clear
 * sky that the plant gave in the last hour known by then, if that is of the same morning or
 * afternoon, else at the same time of the last day that was known, times the clear sky of the step.
 */
function persistenceOf(
  { start_ms, end_ms, known_ms }: VintageStep,
  { plant, course, clear }: Known,
): number | null {
  const shareIn = (from_ms: number, to_ms: number): number | null => {
    const clear_ratio = clear(from_ms, to_ms).ratio
    if (to_ms > known_ms || clear_ratio < clear_min_ratio) return null
    const { available_kwh, is_estimated } = outcomeOf(course, from_ms, to_ms)
    if (available_kwh === null || is_estimated) return null
    return powerOf(available_kwh, from_ms, to_ms) / (clear_ratio * plant.rated_power_kw)
  }
  const is_soon = start_ms - known_ms <= 2 * hour_ms
  const before = is_soon ? start_ms - known_ms + (end_ms - start_ms) : day_ms
  let share = is_soon ? shareIn(start_ms - before, end_ms - before) : null
  for (let days = 1; share === null && days <= persistence_days_max; days += 1) {
    share = shareIn(start_ms - days * day_ms, end_ms - days * day_ms)
  }
  if (share === null) return null
  return Math.min(1, share * clear(start_ms, end_ms).ratio) * plant.rated_power_kw
}
