/**
 * The worst case of a source: the most that the source may export or import before it is read
 * again. A source holds one value. At 50 it delivers 0 to 50; at -50 it imports 0 to 50.
 */
import type { Source, Traits } from './source.ts'

/** What is summed per group. `fallback` is the export that continues when the edge is silent. */
export type Kind = 'export' | 'import' | 'fallback'
export const kinds = ['export', 'import', 'fallback'] as const

export type Cap = { most_w: number; may_raise: boolean }

export interface State {
  sources: ReadonlyMap<string, Source>
  /** The permit of each group, less its guard. Nothing is raised in a group without a permit. */
  permits: ReadonlyMap<string, { export: Cap; import: Cap }>
  /** The curtailments in force. */
  curtailments: readonly { group: string; most_w: number }[]
  /** PV that is silent at night exports nothing, unless PV power has put the night in doubt. */
  night: { is_night: boolean; doubt_until_ms: number }
  /** Nothing is raised before: until then each source was read or is stale. */
  raise_from_ms: number
}

/** A state whose map of sources nobody else holds: `stepIn` changes that map. */
export type OwnState = State & { sources: Map<string, Source> }

export const times = {
  /** A timer due within this time counts already: one poll, one decision and one write. */
  timer_margin_ms: 30_000,
  start_ms: 15_000,
  /** After its own delay, a command that the device accepted takes effect within this time. */
  taken_ms: 2000,
  /** Two raises by another master within this time: the source counts with its ceiling as long. */
  contest_ms: 60_000,
  /** Power above the limit for this long, ramp over: distrust for `distrust_ms`. */
  settle_ms: 30_000,
  distrust_ms: 60_000,
  night_doubt_ms: 3_600_000,
  repeat_most_ms: 600_000,
}

/** The export or import that the value allows the source. */
export const reach = (s: Traits, w: number, kind: Kind) =>
  kind === 'import' ? Math.max(0, -w) : kind === 'export' || s.has_no_watchdog ? Math.max(0, w) : 0

/** The ceiling is never below the rating: one wrong read-back must not make a source small. */
export const ceiling = (s: Source, kind: Kind) =>
  kind === 'import'
    ? Math.max(-s.lowest_w, -s.min_w)
    : Math.max(s.peak_w, s.max_w, s.exceeds?.power_w ?? 0)

/** The register holds a limit that did not hold before. */
const isExceeding = (s: Source) =>
  s.exceeds !== null && s.read !== null && s.read.w >= Math.min(s.exceeds.limit_w, s.max_w)

/** The export or import that a value of the register allows. */
const allows = (s: Source, w: number, kind: Kind) =>
  s.exceeds && kind === 'export' && w >= Math.min(s.exceeds.limit_w, s.max_w)
    ? ceiling(s, kind)
    : reach(s, w, kind)

/** The error of a power measurement. */
export const noise = (s: Source) => 0.02 * Math.max(s.max_w, -s.min_w)

export const isFresh = (s: Source, now: number) =>
  s.read !== null && now - s.read.at_ms <= s.stale_ms

export const isDistrusted = (s: Source, now: number) =>
  s.distrusted_until_ms !== null && now < s.distrusted_until_ms

/**
 * Bounds of the register are known: fresh, or kept in silence. A source that left the site file is
 * not read any more: what was saved of it says nothing.
 */
const isKnown = (s: Source, now: number) =>
  ((isFresh(s, now) && (s.was_read || !s.is_uncontrolled)) ||
    (s.keeps_limit && !s.is_uncontrolled && s.read !== null)) &&
  !isDistrusted(s, now)

/** The most that the register makes of a command. A lower never rounds above the read-back. */
function rounded(s: Source, w: number): number {
  if (w === 0) return 0
  const size_w = Math.abs(w)
  const read_w = s.read && s.read.w * w > 0 ? Math.abs(s.read.w) : 0
  // Nothing rounds above its own ceiling.
  const bound_w = size_w <= read_w ? read_w : Math.max(size_w, w < 0 ? -s.min_w : s.max_w)
  return Math.sign(w) * Math.min(size_w + s.tolerance_w, bound_w)
}

/** The export or import that a command allows the source, rounding included. */
export const commandReach = (s: Source, w: number, kind: Kind) => allows(s, rounded(s, w), kind)

/** The value of a timer that no command could prevent any more. */
export function timerValue(s: Source, now: number): number {
  const timer = s.read?.timer
  return timer && timer.at_ms - now <= times.timer_margin_ms ? timer.to_w : 0
}

/** All values that the register may hold before the next read. */
export const registerValues = (s: Source, now: number) => [
  s.read!.w,
  timerValue(s, now),
  ...s.under_way.map(({ w }) => rounded(s, w)),
]

/** The most that read-back, timer and commands under way allow. */
export function mostHeld(s: Source, kind: Kind, now: number): number {
  if (!s.read) return ceiling(s, kind)
  let most_w = Math.max(allows(s, s.read.w, kind), allows(s, timerValue(s, now), kind))
  for (const { w } of s.under_way) most_w = Math.max(most_w, commandReach(s, w, kind))
  return most_w
}

export function rampReach(s: Source, kind: Kind): number {
  let most_w = 0
  for (const { w } of s.ramps) most_w = Math.max(most_w, reach(s, w, kind))
  return most_w
}

/** PV that does not answer at night. A source that left the site file may hide a battery. */
const isAsleep = ({ night }: State, s: Source, now: number) =>
  s.is_pv &&
  night.is_night &&
  now >= night.doubt_until_ms &&
  !s.is_uncontrolled &&
  !isFresh(s, now) &&
  !isMeasured(s, now)

const isMeasured = (s: Source, now: number) =>
  s.power !== null && (now - s.power.at_ms <= s.stale_ms || s.above_since_ms !== null)

/** The most that the register holds before the next read, as far as known. */
export const limitOf = (s: Source, kind: Kind, now: number) =>
  isKnown(s, now) ? mostHeld(s, kind, now) : ceiling(s, kind)

/** The most that the source may export or import before it is read again. */
export function worst(state: State, s: Source, kind: Kind, now: number): number {
  if (kind === 'fallback') return worstAlone(s, now)
  if (isAsleep(state, s, now)) return 0
  const limit_w = Math.max(limitOf(s, kind, now), rampReach(s, kind))
  const power_w = isMeasured(s, now) ? s.power!.w * (kind === 'import' ? -1 : 1) : 0
  return power_w > limit_w + noise(s) ? power_w : limit_w
}

/** The export that continues on a bright day when the edge never commands again. */
function worstAlone(s: Source, now: number): number {
  if (s.is_uncontrolled || !s.read) return ceiling(s, 'fallback')
  if (s.falls_back_w !== null) return Math.min(s.falls_back_w, ceiling(s, 'fallback'))
  if (s.has_no_watchdog || s.keeps_limit) return mostHeld(s, 'export', now)
  return s.is_pv || !s.read.timer ? ceiling(s, 'fallback') : Math.max(0, s.read.timer.to_w)
}

/** Rounding of the scale of a register. */
const scale_w = 1

/** The read-back fits the command, up to the rounding of the register. */
export function shows(s: Source, w: number, command_w: number): boolean {
  if (command_w === 0 || w * command_w < 0) return w === command_w
  // Full power is not rounded, and more than that shows as that.
  const is_full = command_w >= s.max_w || command_w <= s.min_w
  const shown_w = Math.max(s.min_w, Math.min(s.max_w, command_w))
  return Math.abs(w - shown_w) <= scale_w + (is_full ? 0 : s.tolerance_w)
}

/** As `shows`; also, a device that cannot go below its smallest limit answers 0 with that. */
export const answers = (s: Source, w: number, command_w: number) =>
  shows(s, w, command_w) || (command_w === 0 && Math.abs(w) <= s.smallest_limit_w)

/** The register was read after the last command and holds this value. */
export const isAt = (s: Source, w: number) =>
  s.read !== null && (!s.command || s.read.began_ms >= s.command.at_ms) && shows(s, s.read.w, w)

/** The same, or its smallest limit in place of 0. */
export const isAnswered = (s: Source, w: number) =>
  isAt(s, w) ||
  (s.read !== null && s.read.began_ms >= (s.command?.at_ms ?? 0) && answers(s, s.read.w, w))

/** The source holds no more than its command, or had no time yet to follow. */
export function obeys(s: Source, now: number): boolean {
  if (isDistrusted(s, now) || isExceeding(s)) return false
  if (s.deviates_since_ms === null || now - s.deviates_since_ms <= s.latency_ms) return true
  const { w } = s.command!
  return (
    mostHeld(s, 'export', now) <= commandReach(s, w, 'export') &&
    mostHeld(s, 'import', now) <= commandReach(s, w, 'import')
  )
}

/** What both the command and the read-back allow. More than that is a raise. */
export const held = (s: Source, kind: Kind) =>
  Math.min(reach(s, s.command?.w ?? s.read?.w ?? 0, kind), reach(s, s.read?.w ?? 0, kind))

/** What the source may hold without a raise: its command, as the register rounds it. */
export function unraised(s: Source, kind: Kind): number {
  const { command, read } = s
  if (command === null || read === null) return held(s, kind)
  const is_coming = reach(s, read.w, kind) >= reach(s, command.w, kind)
  return is_coming || isAt(s, command.w) ? commandReach(s, command.w, kind) : held(s, kind)
}

/** A raise of `fallback` is one of `export` as well. */
export const isRaise = (s: Source, w: number) =>
  reach(s, w, 'export') > held(s, 'export') || reach(s, w, 'import') > held(s, 'import')
