/** Sharing of limited power: the target of each source. The check of the core does not use this. */
import type { Source } from './source.ts'
import { type Cap, isFresh, type Kind, reach, type State, sunMost, unraised } from './worst.ts'

/** The requested limit or setpoint of each source, by id. A policy may err in any way. */
export type Requested = ReadonlyMap<string, number>

/** The sum of a group, of one kind. */
export interface Sum extends Cap {
  /** Number among all sums of the decision. */
  nth: number
  kind: Kind
  worst_w: number
  /** The part that no command can lower. `fixed_w` above `most_w`: the permit is lost. */
  fixed_w: number
}

/** The sums of a group. */
export type GroupSums = Readonly<Record<Kind, Sum>>

/** A source with the sums of its groups and its worst cases. */
export interface View {
  s: Source
  groups: readonly GroupSums[]
  worst_w: Readonly<Record<Kind, number>>
  is_controllable: boolean
  /** The source follows its commands, as far as known. */
  is_obeying: boolean
}

interface Request {
  state: State
  now: number
  requested: Requested
  /** Each source was read since the start, or has been waited for. */
  is_started: boolean
}

/**
 * The target of each source that is commanded or awaited, by number of its view. Disobedient ones
 * get what they would have if they obeyed; for what they hold above that the others make room.
 */
export function targetsOf(by: Request, views: readonly View[]): readonly (number | null)[] {
  // Until each was read, those that were take their own share only.
  const isAwaited = ({ s }: View) => {
    const is_unknown = !s.was_read && (s.read === null || isFresh(s, by.now))
    return !by.is_started && is_unknown && !s.is_uncontrolled
  }
  const targets_w: (number | null)[] = views.map(() => null)
  share(by, views, (view) => view.is_controllable || isAwaited(view), targets_w)
  const holdsMore = (view: View, nth: number) =>
    view.is_controllable && !view.is_obeying && isAbove(view, targets_w[nth]!)
  if (views.some(holdsMore)) {
    share(by, views, (view) => view.is_obeying || isAwaited(view), targets_w)
  }
  return targets_w
}

const isAbove = ({ s, worst_w }: View, target_w: number) =>
  worst_w.export > reach(s, target_w, 'export') || worst_w.import > reach(s, target_w, 'import')

/** Shares the room that the worst cases of all others leave. */
function share(
  by: Request,
  views: readonly View[],
  isIncluded: (view: View) => boolean,
  targets_w: (number | null)[],
): void {
  const room_w: number[] = []
  const takeRoom = ({ nth, most_w }: Sum, w: number) => {
    room_w[nth] = (room_w[nth] ?? most_w) - w
  }
  const exports: Part[] = []
  const imports: Part[] = []
  for (let nth = 0; nth < views.length; nth++) {
    const view = views[nth]!
    const { s, groups, worst_w } = view
    const is_included = isIncluded(view)
    for (const sums of groups) {
      takeRoom(sums.export, is_included ? 0 : worst_w.export)
      takeRoom(sums.import, is_included ? 0 : worst_w.import)
      takeRoom(sums.fallback, is_included && s.has_no_watchdog ? 0 : worst_w.fallback)
    }
    if (!is_included) continue
    targets_w[nth] = 0
    const export_w = wantOf(by, view, 'export')
    const import_w = wantOf(by, view, 'import')
    if (export_w > 0) exports.push(partOf(view, nth, 'export', export_w))
    if (import_w > 0) imports.push(partOf(view, nth, 'import', import_w))
  }
  fill(room_w, exports, (nth, w) => {
    targets_w[nth]! += w
  })
  fill(room_w, imports, (nth, w) => {
    targets_w[nth]! -= w
  })
}

function partOf({ s, groups }: View, nth: number, kind: 'export' | 'import', want_w: number): Part {
  const rooms = groups.map((one) => one[kind].nth)
  if (kind === 'export' && s.has_no_watchdog) for (const one of groups) rooms.push(one.fallback.nth)
  return { nth, rooms, weight: s.rated_w, want_w }
}

/** The request, bounded by all but the permits. */
function wantOf(
  { state, now, requested, is_started }: Request,
  { s, groups }: View,
  kind: 'export' | 'import',
): number {
  // A ceiling that holds nothing has to be undercut.
  const full_w = s.exceeds ? Math.max(0, s.max_w - 2) : s.max_w
  const top_w = kind === 'import' ? -s.min_w : full_w
  if (top_w <= 0) return 0
  const requested_w = reach(s, requested.get(s.id) ?? (s.is_pv ? s.max_w : 0), kind)
  const external_w = kind === 'export' && s.external_w !== null ? s.external_w : top_w
  const may_raise = groups.every((sums) => sums[kind].may_raise)
  const own_w = (may_raise && is_started) || !s.read ? top_w : unraised(s, kind)
  const most_w = Math.min(requested_w, external_w, own_w, top_w, sunMost(state, s, kind, now))
  return most_w > 0 ? Math.floor(most_w) : 0
}

export interface Part {
  /** Its number, for `give`. */
  nth: number
  /** The rooms that the part takes from, by number. */
  rooms: readonly number[]
  weight: number
  /** Above 0. */
  want_w: number
}

/**
 * Shares in proportion to weight. No part gets more than it wants; the others get what it leaves.
 * All parts together take no more of a room than there is.
 */
export function fill(
  room_w: readonly number[],
  parts: readonly Part[],
  give: (nth: number, share_w: number) => void,
): void {
  const left_w = [...room_w]
  let open = parts
  while (open.length > 0) {
    const weights = room_w.map(() => 0)
    for (const { rooms, weight } of open) for (const room of rooms) weights[room]! += weight
    const levels = weights.map((weight, room) =>
      weight > 0 ? Math.max(0, left_w[room]!) / weight : Number.POSITIVE_INFINITY,
    )
    const level = Math.min(...levels)
    const isFull = ({ want_w, weight }: Part) => want_w <= level * weight
    // When no part is full at this level, the room with the lowest level is used up.
    const isTight = ({ rooms }: Part) => rooms.some((room) => levels[room] === level)
    const is_any_full = open.some(isFull)
    const isDone = is_any_full ? isFull : isTight
    const rest: Part[] = []
    for (const part of open) {
      if (!isDone(part)) {
        rest.push(part)
        continue
      }
      const share_w = is_any_full ? part.want_w : Math.floor(level * part.weight)
      give(part.nth, share_w)
      for (const room of part.rooms) left_w[room]! -= share_w
    }
    if (rest.length === open.length) throw new Error('a permit or a request is not a number')
    open = rest
  }
}
