/** What the core learns: each event gives the next state. */
import { describe } from './site.ts'
import type { Source, Timer, Traits } from './source.ts'
import {
  answers,
  ceiling,
  isAnswered,
  isAt,
  isDistrusted,
  isFresh,
  type Kind,
  mostHeld,
  noise,
  type OwnState,
  rampReach,
  reach,
  registerValues,
  type State,
  shows,
  times,
} from './worst.ts'

type At = { id: string; at_ms: number; w: number }

/** `is_first`: the first read of a new contact. */
type Read = At & {
  is: 'read'
  /** When the read began, if not at `at_ms`. */
  began_ms?: number
  is_first?: boolean
  max_w: number
  min_w: number
  timer: Timer | null
}

type Done = At & { is: 'done'; is_taken?: boolean; is_refused?: boolean }

type SourceEvent =
  | Read
  | (At & { is: 'power' })
  /** Before a command goes on the wire. */
  | (At & { is: 'sent' })
  /** After its driver returned, with any result. The device accepted or refused the command. */
  | Done
  /** The command never went on the wire; `command` is the one before. */
  | { is: 'unsent'; id: string; w: number; command: Source['command'] }
  /** What the device says of itself at a contact. */
  | { is: 'traits'; id: string; traits: Partial<Omit<Traits, 'id' | 'groups'>> }
  /** A new order: a command that had no effect is tried again at once. */
  | { is: 'retry'; id: string }
  /** What the device falls back to when the edge is silent; null: unknown. */
  | { is: 'armed'; id: string; falls_back_w: number | null }
  /** What was read says nothing any more: its heartbeat stands still, or another commands it. */
  | { is: 'silent'; id: string }
  /** Whether commands can be written to the device. */
  | { is: 'contact'; id: string; has_control: boolean }
  /**
   * An operator: the external limit is void, and the source is in these groups only. A source in
   * no group is disconnected.
   */
  | { is: 'released'; id: string; groups: readonly string[] }

export type Event =
  | SourceEvent
  | { is: 'permits'; permits: State['permits']; curtailments: State['curtailments'] }
  | { is: 'night'; is_night: boolean }
  | { is: 'site'; sources: readonly Traits[] }

/**
 * The next state. Only these events let a worst case grow: a command, a higher read-back or
 * ceiling, power above the limit, silence, a timer, dawn, a new source.
 */
export const step = (state: State, event: Event): State =>
  stepIn({ ...state, sources: new Map(state.sources) }, event)

/** The same without a copy of the map: a site of thousands of sources has as many events. */
export function stepIn(state: OwnState, event: Event): OwnState {
  if (event.is === 'permits') {
    const { permits, curtailments } = event
    return { ...state, permits, curtailments }
  }
  if (event.is === 'night') {
    return { ...state, night: { ...state.night, is_night: event.is_night } }
  }
  if (event.is === 'site') return { ...state, sources: describe(state.sources, event.sources) }
  const { sources, night } = state
  const s = sources.get(event.id)
  if (!s || ('w' in event && !Number.isFinite(event.w))) return state
  if (event.is === 'released' && event.groups.length === 0) sources.delete(s.id)
  else sources.set(s.id, stepSource(s, event))
  const is_in_daylight = event.is === 'power' && s.is_pv && night.is_night && event.w > noise(s)
  if (!is_in_daylight) return state
  return { ...state, night: { ...night, doubt_until_ms: event.at_ms + times.night_doubt_ms } }
}

function stepSource(s: Source, event: SourceEvent): Source {
  if (event.is === 'read') return onRead(s, event)
  if (event.is === 'power') return onPower(s, event)
  if (event.is === 'released') return { ...s, groups: event.groups, external_w: null }
  if (event.is === 'traits') return { ...s, ...event.traits }
  if (event.is === 'retry') return { ...s, ineffective_since_ms: null }
  if (event.is === 'armed') return { ...s, falls_back_w: event.falls_back_w }
  if (event.is === 'silent') {
    return { ...s, read: s.read && { ...s.read, at_ms: Number.NEGATIVE_INFINITY, timer: null } }
  }
  if (event.is === 'contact') return { ...s, has_control: event.has_control }
  if (event.is === 'unsent') return withoutCommand(s, event)
  if (event.is === 'done') return withDone(s, event)
  const { w, at_ms } = event
  const is_interrupting = s.command !== null && at_ms - s.command.at_ms < s.settle_ms
  return {
    ...s,
    under_way: [...s.under_way, { w, at_ms: null }],
    command: { w, at_ms, ...(is_interrupting && { is_interrupting }) },
    ineffective_since_ms: s.ineffective_since_ms ?? at_ms,
    deviates_since_ms: is_interrupting ? at_ms : (s.deviates_since_ms ?? at_ms),
  }
}

/** From here on the command has its latency; of several of the same value one stands for all. */
function withDone(s: Source, { w, at_ms, is_taken, is_refused = false }: Done): Source {
  const same = s.under_way.filter((one) => sentAs(one) === w)
  const others = s.under_way.filter((one) => sentAs(one) !== w)
  const is_repeated = same.filter((one) => one.w === w).length > 1
  const result = { at_ms, is_repeated, is_taken: is_taken === true && !is_repeated }
  const done = new Map(same.map((one) => [one.w, { ...one, ...result }]))
  const is_newest = s.command?.w === w
  const is_first = is_newest && s.deviates_since_ms === s.command?.at_ms
  return {
    ...s,
    under_way: [...others, ...done.values()],
    command: is_newest && s.command ? { ...s.command, at_ms, is_refused } : s.command,
    deviates_since_ms: is_first ? at_ms : s.deviates_since_ms,
  }
}

const sentAs = ({ w, sent_w = w }: Source['under_way'][number]) => sent_w

function withoutCommand(
  s: Source,
  { w, command }: { w: number; command: Source['command'] },
): Source {
  const nth = s.under_way.findLastIndex((one) => one.w === w && one.at_ms === null)
  const others = nth < 0 ? s.under_way : s.under_way.toSpliced(nth, 1)
  const under_way = others.filter((one) => one.at_ms !== null || one.sent_w !== w)
  const next = { ...s, under_way, command }
  const is_settled = command === null || isAt(next, command.w)
  return is_settled ? { ...next, deviates_since_ms: null, ineffective_since_ms: null } : next
}

function onRead(s: Source, event: Read): Source {
  const { at_ms, began_ms = at_ms, max_w, min_w, timer } = event
  const is_in_range = max_w > 0 && max_w <= 2 * s.peak_w && min_w <= 0 && min_w >= 2 * s.lowest_w
  const most_w = 1.1 * Math.max(s.peak_w, max_w)
  // Of two reads that overlap nobody knows which is older: the one known first counts.
  const is_plausible = is_in_range && event.w <= most_w && event.w >= 1.1 * min_w
  if (!is_plausible || (s.read && began_ms < s.read.at_ms)) return s
  const w = Math.min(max_w, Math.max(min_w, event.w))
  // A register in percent scales with its ceiling; an external limit does so downwards only.
  const ratio = max_w / s.max_w
  const is_scaled =
    ratio !== 1 && s.known_w !== null && Math.abs(w - s.known_w * ratio) <= 1 + s.tolerance_w
  const external_w =
    is_scaled && s.external_w !== null && ratio < 1
      ? Math.floor(s.external_w * ratio)
      : s.external_w
  const read: Source = {
    ...s,
    max_w,
    min_w,
    external_w,
    under_way: scaled(s, event).filter((one) => isUnderWay(s, one, { w, began_ms })),
    distrusted_until_ms: isDistrusted(s, at_ms) ? s.distrusted_until_ms : null,
    exceeds: s.exceeds && s.exceeds.power_w > max_w ? s.exceeds : null,
    // In a new contact a command is tried again at once.
    ineffective_since_ms: w === s.read?.w && !event.is_first ? s.ineffective_since_ms : null,
    read: { w, at_ms, began_ms, timer },
    // Power that was within the former limit says nothing of a lower one.
    power: s.above_since_ms === null && w !== s.read?.w ? null : s.power,
    was_read: true,
  }
  const is_own = is_scaled || isExplained(s, w)
  const next: Source = {
    ...read,
    ramps: rampsAfter(s, read, at_ms),
    ...(is_own ? { known_w: w } : byAnother(s, external_w, { ...event, w })),
  }
  if (!next.command) return next
  if (isAt(next, next.command.w)) {
    return { ...next, deviates_since_ms: null, ineffective_since_ms: null }
  }
  // Its smallest limit in place of 0 is not commanded again, so after a restart nothing else tells
  // that it does not obey.
  const deviates_since_ms = next.deviates_since_ms ?? at_ms
  return isAnswered(next, next.command.w) ? { ...next, deviates_since_ms } : next
}

/** The only command, sent once and shown, has taken effect; others may until their latency. */
function isUnderWay(
  s: Source,
  { w, at_ms, is_repeated, is_taken }: Source['under_way'][number],
  read: { w: number; began_ms: number },
): boolean {
  if (at_ms === null) return true
  const is_alone = s.under_way.length === 1 && is_repeated !== true
  const is_shown = read.w !== s.read?.w && read.began_ms >= at_ms && shows(s, read.w, w)
  const latency_ms = is_taken ? Math.min(s.latency_ms, s.settle_ms + times.taken_ms) : s.latency_ms
  return !(is_alone && is_shown) && read.began_ms < at_ms + latency_ms
}

/** A command in percent of a lower ceiling may take effect as as much of a higher one. */
function scaled(s: Source, { max_w, min_w }: Read): Source['under_way'] {
  const ratio = max_w / s.max_w
  if (ratio <= 1) return s.under_way
  return s.under_way.flatMap((one) => {
    const size_w = Math.ceil(Math.abs(one.w) * ratio)
    const w = Math.max(min_w, Math.min(max_w, Math.sign(one.w) * size_w))
    return Math.abs(w) > Math.abs(one.w) ? [{ ...one, w, sent_w: sentAs(one) }, one] : [one]
  })
}

/** The read-back is as before, or answers a command, or comes of a timer. */
export function isExplained(s: Source, w: number): boolean {
  const own = s.command && !s.command.is_external ? [s.command, ...s.under_way] : s.under_way
  const is_of_timer = s.external_w === null && w === s.read?.timer?.to_w
  return w === s.known_w || is_of_timer || own.some((one) => answers(s, w, one.w))
}

/**
 * A lower read-back frees nothing yet: the power may follow the earlier limits for the time of the
 * ramp. A read after that time frees them, so a single wrong read-back frees nothing.
 */
function rampsAfter(s: Source, next: Source, at_ms: number): Source['ramps'] {
  const ramps = s.ramps.filter(({ until_ms }) => at_ms < until_ms)
  if (s.ramp_ms === 0) return ramps
  // In a silence another master may have raised and lowered the register, also a kept one.
  const is_certain = isFresh(s, at_ms) && !isDistrusted(s, at_ms)
  const before = is_certain
    ? registerValues(s, at_ms)
    : [ceiling(s, 'export'), -ceiling(s, 'import')]
  const isAbove = (w: number, kind: Kind) => reach(s, w, kind) > mostHeld(next, kind, at_ms)
  const gone = new Set(before.filter((w) => isAbove(w, 'export') || isAbove(w, 'import')))
  const open_ms = next.under_way.length > 1 ? s.latency_ms : 0
  const until_ms = at_ms + s.ramp_ms + open_ms
  // A lower command, or another ceiling, may begin the ramp anew; a restart does so.
  const is_anew = !s.was_read || gone.size > 0 || mayBeLower(s) || next.max_w !== s.max_w
  const former = ramps.filter(({ w }) => !gone.has(w))
  const kept = is_anew ? former.map(({ w }) => ({ w, until_ms })) : former
  return [...kept, ...[...gone].map((w) => ({ w, until_ms }))]
}

/** The register may have held less since the last read. The same limit again lowers nothing. */
function mayBeLower(s: Source): boolean {
  const { read, command } = s
  if (read === null || command === null || command.at_ms < read.began_ms) return false
  const isLower = (w: number, kind: Kind) => reach(s, w, kind) < reach(s, read.w, kind)
  return s.under_way.some(
    ({ w }) => !shows(s, read.w, w) && (isLower(w, 'export') || isLower(w, 'import')),
  )
}

/** An unknown value is the limit of another master: the source is not raised above this limit. */
function byAnother(
  s: Source,
  external_w: number | null,
  { w, at_ms, max_w, is_first }: Read,
): Partial<Source> {
  // The external limit stays: a device that was away or has another ceiling may have lost it.
  const was_away = is_first || !s.was_read || !isFresh(s, at_ms) || max_w !== s.max_w
  const found_w = w < max_w ? w : null
  const is_kept = was_away && external_w !== null
  const limit_w = is_kept ? Math.min(external_w, found_w ?? external_w) : found_w
  const command = s.command && w < s.command.w ? { ...s.command, w, is_external: true } : s.command
  const limit = { external_w: limit_w, command }
  const found = { known_w: w, ...(s.respects_external && limit) }
  const is_lower = w * s.known_w! >= 0 && Math.abs(w) < Math.abs(s.known_w!)
  if (was_away || is_lower) return found
  const is_again = s.external_raise_ms !== null && at_ms - s.external_raise_ms < times.contest_ms
  const distrust = is_again && { distrusted_until_ms: at_ms + times.contest_ms }
  return { ...found, external_raise_ms: at_ms, ...distrust }
}

function onPower(s: Source, { at_ms, w }: At): Source {
  const kind = w > 0 ? 'export' : 'import'
  // A ramp explains power above the limit, but does not end a distrust.
  const ramp_w = isDistrusted(s, at_ms) ? 0 : rampReach(s, kind)
  const is_above = Math.abs(w) > Math.max(mostHeld(s, kind, at_ms), ramp_w) + noise(s)
  const above_since_ms = is_above ? (s.above_since_ms ?? at_ms) : null
  const is_settled = above_since_ms !== null && at_ms - above_since_ms >= times.settle_ms
  const limit_w = s.read?.w ?? s.max_w
  const exceeds =
    is_settled && w > s.max_w
      ? {
          power_w: Math.max(w, s.exceeds?.power_w ?? 0),
          limit_w: Math.min(limit_w, s.exceeds?.limit_w ?? limit_w),
        }
      : s.exceeds
  const distrusted_until_ms = is_settled ? at_ms + times.distrust_ms : s.distrusted_until_ms
  return { ...s, power: { w, at_ms }, above_since_ms, distrusted_until_ms, exceeds }
}
