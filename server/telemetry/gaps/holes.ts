/** Holes in the readings of one source, from the instants of the readings. Pure. */
import type { Wakefulness } from './wakefulness.ts'

/** Missing readings between two neighbouring readings, or since the last one. */
export interface Hole {
  /** The reading before; after a night the time the source should have woken up. */
  start_ms: number
  /** The reading after, or the evening before it; null while the hole lasts. */
  end_ms: number | null
  /** Usual interval of the readings around the hole. */
  step_s: number
  /** Missing readings at that interval while the source should have been awake. */
  expected_count: number
}

export interface Expectation {
  /** Configured poll interval. */
  poll_s: number
  /** Null for a source that is read at night as well. */
  sleeps: Wakefulness | null
  /** Whether the reading at this instant reported that the source goes to sleep. */
  wentToRest(time_ms: number): boolean
  /** Instants directly before lost readings. */
  lost_after_ms?: readonly number[]
}

/** Steps on either side of a step that define its usual interval. */
export const steps_aside = 5
/** Readings needed on either side of an hour to judge every step that its readings affect. */
export const readings_aside = 2 * steps_aside + 1
/** Longer steps prove no interval unless configured. */
const nominal_step_max_s = 300
/** Tolerated missing polls and time: they are missing every day. */
const missed_polls = 3
const hole_ms_min = 60_000
/** A step with a known loss and longer than this lacks a reading. */
const steps_whole_max = 1.5
/** Tolerated time of transmission. */
const delivery_ms = 60_000

/** Longer steps are holes, ms. */
const holeBeyondMs = (step_s: number, poll_s: number): number =>
  Math.max(hole_ms_min, missed_polls * 1000 * Math.max(step_s, poll_s))

/**
 * The holes between neighbouring readings: steps that are too long, and steps with a known loss
 * that lack a reading.
 *
 * @param times_ms ascending, each once
 * @param bounds indices of the readings between which holes are searched; readings beyond only
 * define the usual interval
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
    // Shorter steps are never holes.
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

/** The hole since the last reading; null without one and while the source sleeps. */
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

/** The lower median, seconds, of the step after a reading and its neighbours. */
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

/** The part of a step in which the source should have been awake, if long enough for a hole. */
function holeIn(step: Step, { sleeps, wentToRest }: Expectation): Hole | null {
  const { step_s, allowed_ms } = step
  const until_ms = step.end_ms === null ? step.now_ms : step.end_ms
  // `wentToRest` may be costly: skip short steps first.
  if (until_ms - step.start_ms <= allowed_ms) return null
  let start_ms = step.start_ms
  if (sleeps && sleeps.awakeMs(start_ms, until_ms) <= allowed_ms) return null
  if (sleeps && (wentToRest(start_ms) || !sleeps.isAwake(start_ms))) {
    start_ms = sleeps.next(true, sleeps.next(false, start_ms, until_ms), until_ms)
  }
  const missed_ms = sleeps ? sleeps.awakeMs(start_ms, until_ms) : until_ms - start_ms
  if (missed_ms <= allowed_ms) return null
  const end_ms = step.end_ms === null ? null : (sleeps?.lastAwake(start_ms, until_ms) ?? until_ms)
  // The reading at the end is present.
  const present = end_ms === step.end_ms && end_ms !== null ? 1 : 0
  const expected_count = Math.max(1, Math.round(missed_ms / (step_s * 1000)) - present)
  return { start_ms, end_ms, step_s, expected_count }
}

/** A part of a hole as a hole of its own. */
export function partOf(
  { step_s }: Pick<Hole, 'step_s'>,
  { start_ms, end_ms }: { start_ms: number; end_ms: number },
  { sleeps }: Pick<Expectation, 'sleeps'>,
): Hole {
  const missed_ms = sleeps ? sleeps.awakeMs(start_ms, end_ms) : end_ms - start_ms
  const expected_count = Math.max(1, Math.round(missed_ms / (step_s * 1000)) - 1)
  return { start_ms, end_ms, step_s, expected_count }
}
