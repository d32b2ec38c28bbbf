/** Sharing of limited power: the target of each source. The check of the core does not use this. */
import type { Source } from './source.ts'
import { type Cap, isFresh, type Kind, kinds, reach, unraised } from './worst.ts'

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

/** The groups that several sources are in. */
export interface Groups {
  names: readonly string[]
  sums: readonly GroupSums[]
  /** The numbers of the sums. */
  rooms: Readonly<Record<Kind, readonly number[]>>
}

/** A source with the sums of its groups and its worst cases. */
export interface View {
  s: Source
  groups: Groups
  worst_w: Readonly<Record<Kind, number>>
  is_controllable: boolean
  /** The source follows its commands, as far as known. */
  is_obeying: boolean
}

interface Request {
  now: number
  requested: Requested
  /** Export that is kept free for a source, also while it is requested less. */
  kept: Requested
  /** Each source was read since the start, or has been waited for. */
  is_started: boolean
  groups: ReadonlyMap<string, GroupSums>
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
  const holdsMore = (view: View, nth: number) =>
    view.is_controllable && !view.is_obeying && isAbove(view, targets_w[nth]!)
  const isAny = (view: View) => view.is_controllable || isAwaited(view)
  share(by, views, isAny, targets_w)
  const out = new Set(views.filter(holdsMore))
  if (out.size > 0) {
    share(by, views, (view) => isAny(view) && !out.has(view), targets_w)
    // Less is left then, which others that disobey may hold more than.
    if (views.some((view, nth) => !out.has(view) && holdsMore(view, nth))) {
      share(by, views, (view) => view.is_obeying || isAwaited(view), targets_w)
    }
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
  for (const sums of by.groups.values()) for (const kind of kinds) room_w.push(sums[kind].most_w)
  const wants_w: number[] = []
  const exports: Part[] = []
  const imports: Part[] = []
  for (let nth = 0; nth < views.length; nth++) {
    const view = views[nth]!
    const { s, groups, worst_w } = view
    const is_included = isIncluded(view)
    for (const kind of kinds) {
      if (is_included && (kind !== 'fallback' || s.has_no_watchdog)) continue
      for (const room of groups.rooms[kind]) room_w[room]! -= worst_w[kind]
    }
    if (!is_included) continue
    targets_w[nth] = 0
    const export_w = wantOf(by, view, 'export')
    const import_w = wantOf(by, view, 'import')
    wants_w[nth] = export_w
    const taken_w = Math.max(export_w, Math.min(by.kept.get(s.id) ?? 0, s.max_w))
    if (taken_w > 0) exports.push(partOf(by, view, { nth, kind: 'export', want_w: taken_w }))
    if (import_w > 0) imports.push(partOf(by, view, { nth, kind: 'import', want_w: import_w }))
  }
  fill(room_w, exports, (nth, w) => {
    targets_w[nth]! += Math.min(w, wants_w[nth]!)
  })
  fill(room_w, imports, (nth, w) => {
    targets_w[nth]! -= w
  })
}

function partOf(
  { kept }: Request,
  { s, groups }: View,
  { nth, kind, want_w }: { nth: number; kind: 'export' | 'import'; want_w: number },
): Part {
  const { [kind]: own, fallback } = groups.rooms
  const rooms = kind === 'export' && s.has_no_watchdog ? [...own, ...fallback] : own
  const weight = s.rated_w * (kept.has(s.id) ? kept_weight : 1)
  return { nth, rooms, weight, want_w }
}

/** So large that a source has what is kept for it before the others have anything. */
const kept_weight = 1e6

/** The request, bounded by all but the permits. */
function wantOf(
  { requested, is_started }: Request,
  { s, groups }: View,
  kind: 'export' | 'import',
): number {
  // A ceiling that holds nothing has to be undercut.
  const full_w = s.exceeds ? Math.max(0, s.max_w - 2) : s.max_w
  const top_w = kind === 'import' ? -s.min_w : full_w
  if (top_w <= 0) return 0
  const requested_w = reach(s, requested.get(s.id) ?? (s.is_pv ? s.max_w : 0), kind)
  const external_w = kind === 'export' && s.external_w !== null ? s.external_w : top_w
  const own_w = (is_started && mayRaise(groups, kind)) || !s.read ? top_w : unraised(s, kind)
  const most_w = Math.min(requested_w, external_w, own_w, top_w)
  return most_w > 0 ? Math.floor(most_w) : 0
}

function mayRaise({ sums }: Groups, kind: Kind): boolean {
  for (const { [kind]: sum } of sums) if (!sum.may_raise) return false
  return true
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
    const tops_w = left_w.map((w) => Math.max(0, w))
    const levels = weights.map((weight, room) =>
      weight > 0 ? tops_w[room]! / weight : Number.POSITIVE_INFINITY,
    )
    const level = Math.min(...levels)
    const isFull = ({ want_w, weight }: Part) => want_w <= level * weight
    // When no part is full at this level, the room with the lowest level is used up.
    const isLowest = (room: number) => levels[room] === level
    const isTight = ({ rooms }: Part) => rooms.some(isLowest)
    const partOfLowest = ({ rooms, weight }: Part) => {
      const room = rooms.find(isLowest)!
      return Math.floor((tops_w[room]! * weight) / weights[room]!)
    }
    const is_any_full = open.some(isFull)
    const isDone = is_any_full ? isFull : isTight
    const rest: Part[] = []
    for (const part of open) {
      if (!isDone(part)) {
        rest.push(part)
        continue
      }
      const share_w = is_any_full ? part.want_w : partOfLowest(part)
      give(part.nth, share_w)
      for (const room of part.rooms) left_w[room]! -= share_w
    }
    if (rest.length === open.length) throw new Error('a permit or a request is not a number')
    open = rest
  }
}

/** Shares one room. Parts get whole watts, at most their `max_w`. */
export function waterFill(
  total_w: number,
  all: readonly { weight: number; max_w: number }[],
): number[] {
  const shares = all.map(() => 0)
  const parts = all.flatMap(({ weight, max_w }, nth): Part[] => {
    const want_w = Math.floor(max_w)
    return weight > 0 && want_w > 0 ? [{ nth, rooms: [0], weight, want_w }] : []
  })
  fill([Math.floor(total_w)], parts, (nth, share_w) => {
    shares[nth] = share_w
  })
  return shares
}
