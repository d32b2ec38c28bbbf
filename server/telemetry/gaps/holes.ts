/** Holes in the readings of one source. Pure: instants in, holes out. */
import type { Wakefulness } from './wakefulness.ts'

/** What lacks between two neighbouring readings, or since the last one. */
export interface Hole {
  /** The reading before it; for a source that sleeps at night, when it should have woken up. */
  start_ms: number
  /** The reading after it, or the evening after which it was not missed; null while it lasts. */
  end_ms: number | null
  /** How far apart readings are here as a rule. */
  step_s: number
  /** Readings that lack, at that distance, while the source should have answered. */
  expected_count: number
}

export interface Expectation {
  /** What the source is configured to be read at. */
  poll_s: number
  /** Null for a source that is read by night, too. */
  sleeps: Wakefulness | null
  /** Whether the reading at this instant said that the source goes to rest. */
  wentToRest(time_ms: number): boolean
  /** Instants right after which readings are known to be lost. */
  lost_after_ms?: readonly number[]
}

/** Steps on either side of one that say, with it, what is usual there. */
export const steps_aside = 5
/** Readings needed on either side of an hour to judge all steps that its readings matter to. */
export const readings_aside = 2 * steps_aside + 1
/** Steps in a row that are longer prove no rate, unless they are configured. */
const nominal_step_max_s = 300
/** As many readings in a row may lack, and so long may none come: it happens every day. */
const missed_polls = 3
const hole_ms_min = 60_000
/** Of a step in which something was lost: longer, and it lacks a reading. */
const steps_whole_max = 1.5
/** How long a reading may be on its way before the silence counts as a hole. */
const delivery_ms = 60_000

/** How long a step may be before it is a hole, ms. */
const holeBeyondMs = (step_s: number, poll_s: number): number =>
  Math.max(hole_ms_min, missed_polls * 1000 * Math.max(step_s, poll_s))

/**
 * The holes between neighbours of `times_ms`, which ascend, each once: steps that are too long, and
 * where something is known to be lost those that lack a reading. `first` and `last` are the
 * indices of the readings between which holes are looked for; those beyond only help to tell what
 * distance is usual.
 */
export function holesBetween(
  times_ms: readonly number[],
  { first, last }: { first: number; last: number },
  expectation: Expectation,
): Hole[] {
  const holes: Hole[] = []
  for (let from = first; from < last; from += 1) {
    const start_ms = times_ms[from]!
    const end_ms = times_ms[from + 1]!
    const is_lossy = expectation.lost_after_ms?.some((at) => at >= start_ms && at < end_ms)
    // Nothing shorter is a hole, whatever is usual.
    if (!is_lossy && end_ms - start_ms <= holeBeyondMs(0, expectation.poll_s)) continue
    const step_s = nominalStep(times_ms, from, expectation.poll_s)
    const allowed_ms = is_lossy
      ? steps_whole_max * 1000 * step_s
      : holeBeyondMs(step_s, expectation.poll_s)
    const hole = holeIn({ start_ms, end_ms, step_s, allowed_ms }, expectation)
    if (hole) holes.push(hole)
  }
  return holes
}

/** The hole since the last reading; null while there is none, or while the source sleeps. */
export function holeUntilNow(
  times_ms: readonly number[],
  now_ms: number,
  expectation: Expectation,
): Hole | null {
  const start_ms = times_ms.at(-1)
  if (start_ms === undefined) return null
  const step_s = nominalStep(times_ms, times_ms.length - 1, expectation.poll_s)
  const allowed_ms = holeBeyondMs(step_s, expectation.poll_s) + delivery_ms
  return holeIn({ start_ms, end_ms: null, now_ms, step_s, allowed_ms }, expectation)
}

/** The lower median, seconds, of the step after a reading and those beside it. */
function nominalStep(times_ms: readonly number[], from: number, poll_s: number): number {
  const steps_ms: number[] = []
  const last = Math.min(from + steps_aside, times_ms.length - 2)
  for (let near = Math.max(0, from - steps_aside); near <= last; near += 1) {
    steps_ms.push(times_ms[near + 1]! - times_ms[near]!)
  }
  steps_ms.sort((a, b) => a - b)
  const median_s = (steps_ms[(steps_ms.length - 1) >> 1] ?? poll_s * 1000) / 1000
  return Math.min(median_s, Math.max(nominal_step_max_s, poll_s))
}

type Step = { start_ms: number; step_s: number; allowed_ms: number } & (
  | { end_ms: number }
  | { end_ms: null; now_ms: number }
)

/** The part of a step in which the source should have been heard, where that makes it a hole. */
function holeIn(step: Step, { sleeps, wentToRest }: Expectation): Hole | null {
  const { step_s, allowed_ms } = step
  const until_ms = step.end_ms === null ? step.now_ms : step.end_ms
  // Asking what a reading said may cost something: only where there is a hole otherwise.
  if (until_ms - step.start_ms <= allowed_ms) return null
  let start_ms = step.start_ms
  if (sleeps && sleeps.awakeMs(start_ms, until_ms) <= allowed_ms) return null
  if (sleeps && (wentToRest(start_ms) || !sleeps.isAwake(start_ms))) {
    start_ms = sleeps.next(true, sleeps.next(false, start_ms, until_ms), until_ms)
  }
  const missed_ms = sleeps ? sleeps.awakeMs(start_ms, until_ms) : until_ms - start_ms
  if (missed_ms <= allowed_ms) return null
  const end_ms = step.end_ms === null ? null : (sleeps?.lastAwake(start_ms, until_ms) ?? until_ms)
  // The readings at both ends are there.
  const present = end_ms === step.end_ms && end_ms !== null ? 1 : 0
  const expected_count = Math.max(1, Math.round(missed_ms / (step_s * 1000)) - present)
  return { start_ms, end_ms, step_s, expected_count }
}

/** A part of a hole in which nothing is known to have changed, in its own right. */
export function partOf(
  { step_s }: Pick<Hole, 'step_s'>,
  { start_ms, end_ms }: { start_ms: number; end_ms: number },
  { sleeps }: Pick<Expectation, 'sleeps'>,
): Hole {
  const missed_ms = sleeps ? sleeps.awakeMs(start_ms, end_ms) : end_ms - start_ms
  const expected_count = Math.max(1, Math.round(missed_ms / (step_s * 1000)) - 1)
  return { start_ms, end_ms, step_s, expected_count }
}
