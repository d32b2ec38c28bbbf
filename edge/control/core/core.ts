/**
 * The export limiter. From events the core knows the worst case of each source, and decides limits
 * and setpoints so that no plant and no connection exceeds its permit. Pure functions: no clock, no
 * I/O. Watts, positive towards the grid; milliseconds of a stopwatch.
 */
import {
  type GroupSums,
  type Groups,
  type Requested,
  type Sum,
  targetsOf,
  type View,
} from './share.ts'
import type { Source } from './source.ts'
import {
  type Cap,
  commandReach,
  held,
  isAnswered,
  isFresh,
  isRaise,
  type Kind,
  kinds,
  mostHeld,
  obeys,
  reach,
  type State,
  timerValue,
  times,
  worst,
} from './worst.ts'

/** A raise goes on the wire only after its `sent` is durable. */
export type Command = { id: string; w: number; is_raise: boolean }

interface Decision {
  commands: readonly Command[]
  targets_w: ReadonlyMap<string, number>
  /** By kind and group: `export plant-1`. */
  sums: ReadonlyMap<string, Sum>
  /** The decision failed its own check: nothing is raised. */
  fault: string | null
}

/** Lowers go at once. A raise goes when each sum has room for the raise beside all worst cases. */
export function decide(
  state: State,
  now: number,
  requested: Requested,
  kept: Requested = new Map(),
): Decision {
  const groups = new Map<string, GroupSums>()
  const views: View[] = []
  let own: Groups | null = null
  for (const s of state.sources.values()) {
    // Mostly a source is in the same groups as the one before.
    if (!own || !isSame(s.groups, own.names)) own = groupsOf(state, s.groups, groups)
    views.push(view(state, s, own, now))
  }
  const is_started =
    now > state.raise_from_ms || views.every(({ s }) => s.was_read || s.is_uncontrolled)
  const targets = targetsOf({ now, requested, kept, is_started, groups }, views)
  const targets_w = new Map<string, number>()
  const lowers: Command[] = []
  const raises: Command[] = []
  for (let nth = 0; nth < views.length; nth++) {
    const one = views[nth]!
    const target_w = targets[nth]!
    if (target_w !== null) targets_w.set(one.s.id, target_w)
    if (target_w === null || !one.is_controllable) continue
    const command = commandOf(one, target_w, now)
    if (!command) continue
    if (!command.is_raise) lowers.push(command)
    else {
      raises.push(command)
      addRaise(one, command.w)
    }
  }
  const all = lowers.concat(raises)
  const fault = whyUnsafe(state, all, now)
  const sums = new Map<string, Sum>()
  for (const [group, of_group] of groups) {
    for (const kind of kinds) sums.set(`${kind} ${group}`, of_group[kind])
  }
  return { commands: fault === null ? all : lowers, targets_w, sums, fault }
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  for (let nth = 0; nth < names.length; nth++) if (names[nth] !== others[nth]) return false
  return names.length === others.length
}

function groupsOf(state: State, names: readonly string[], all: Map<string, GroupSums>): Groups {
  const sums = names.map((name) => {
    const of_group = all.get(name) ?? noSums(state, name, all.size)
    all.set(name, of_group)
    return of_group
  })
  const roomsOf = (kind: Kind) => sums.map((of_group) => of_group[kind].nth)
  const rooms = {
    export: roomsOf('export'),
    import: roomsOf('import'),
    fallback: roomsOf('fallback'),
  }
  return { names, sums, rooms }
}

/** Views one source, and adds its worst cases to the sums of its groups. */
function view(state: State, s: Source, groups: Groups, now: number): View {
  const worst_w = {
    export: worst(state, s, 'export', now),
    import: worst(state, s, 'import', now),
    fallback: worst(state, s, 'fallback', now),
  }
  const is_controllable = isControllable(s, now)
  const is_obeying = is_controllable && obeys(s, now)
  for (const sums of groups.sums) {
    addWorst(sums.export, worst_w.export, is_obeying)
    addWorst(sums.import, worst_w.import, is_obeying)
    addWorst(sums.fallback, worst_w.fallback, is_obeying)
  }
  return { s, groups, worst_w, is_controllable, is_obeying }
}

export const isControllable = (s: Source, now: number) =>
  !s.is_uncontrolled && s.has_control && s.was_read && isFresh(s, now)

function addWorst(sum: Sum, worst_w: number, is_obeying: boolean): void {
  sum.worst_w += worst_w
  if (!is_obeying) sum.fixed_w += worst_w
}

function noSums(state: State, group: string, nth: number): GroupSums {
  const sumOf = (kind: Kind): Sum => ({
    nth: nth * kinds.length + kinds.indexOf(kind),
    kind,
    ...capOf(state, kind, group),
    worst_w: 0,
    fixed_w: 0,
  })
  return { export: sumOf('export'), import: sumOf('import'), fallback: sumOf('fallback') }
}

function capOf({ permits, curtailments }: State, kind: Kind, group: string): Cap {
  const cap = permits.get(group)?.[kind === 'import' ? 'import' : 'export']
  let most_w = cap?.most_w ?? Number.POSITIVE_INFINITY
  if (kind === 'export') {
    for (const one of curtailments) if (one.group === group) most_w = Math.min(most_w, one.most_w)
  }
  return { most_w: Math.floor(most_w), may_raise: cap?.may_raise ?? false }
}

/** The command of a source, if one is needed. */
function commandOf(one: View, own_w: number, now: number): Command | null {
  const { s } = one
  // A disobedient source is commanded to its share, as far as others that disobey leave that.
  const target_w = one.is_obeying
    ? own_w
    : within(own_w, leftTo(one, 'export'), leftTo(one, 'import'))
  const wanted_w = settable(s, target_w)
  const { command } = s
  const is_ready =
    !command || now - command.at_ms >= s.raise_pause_ms || isLower(wanted_w, command.w)
  const may_go = !isRaise(s, wanted_w) || (is_ready && fits(one, wanted_w))
  // A raise on its way is left alone, whatever the pause of the next one.
  if (!may_go && command?.w === wanted_w && timerValue(s, now) === 0) return null
  // A battery that reverses comes to 0 at once and waits there for room.
  const w = may_go ? wanted_w : settable(s, within(wanted_w, held(s, 'export'), held(s, 'import')))
  return isNeeded(one, w, target_w, now) ? { id: s.id, w, is_raise: isRaise(s, w) } : null
}

/** Closer to 0 than a command of the same sign. */
const isLower = (w: number, command_w: number) => w * Math.sign(command_w) < Math.abs(command_w)

const within = (w: number, export_w: number, import_w: number) =>
  Math.min(export_w, Math.max(-import_w, w))

/** What others that do not obey leave: all that obey make room. */
function leftTo({ groups, worst_w }: View, kind: Kind): number {
  const left_w = groups.sums.map(({ [kind]: sum }) => sum.most_w - sum.fixed_w + worst_w[kind])
  return Math.max(0, Math.min(...left_w))
}

const growth = ({ s, worst_w }: View, w: number, kind: Kind) =>
  Math.max(0, commandReach(s, w, kind) - worst_w[kind])

function addRaise(one: View, w: number): void {
  for (const kind of kinds) {
    const growth_w = growth(one, w, kind)
    for (const sums of one.groups.sums) sums[kind].worst_w += growth_w
  }
}

/** Nothing is raised in a sum that is exceeded, or would be. */
function fits(one: View, w: number): boolean {
  for (const kind of kinds) {
    if (reach(one.s, w, kind) <= held(one.s, kind)) continue
    const growth_w = growth(one, w, kind)
    for (const { [kind]: sum } of one.groups.sums) {
      if (!sum.may_raise || sum.worst_w + growth_w > sum.most_w) return false
    }
  }
  return true
}

/** The highest step of the register that does not exceed the target, even if rounded up. */
export function settable(s: Source, w: number): number {
  // Nothing rounds above its own ceiling.
  const is_full = w >= s.max_w || w <= s.min_w
  const most_w = is_full ? Math.abs(w) : Math.abs(w) - s.tolerance_w
  const max_w = w > 0 ? s.max_w : -s.min_w
  const size_w = s.settable(Math.floor(Math.min(most_w, max_w)), max_w)
  return size_w <= 0 || size_w < s.smallest_limit_w ? 0 : Math.sign(w) * size_w
}

function isNeeded(one: View, w: number, target_w: number, now: number): boolean {
  const { s } = one
  // An external limit, not its share, holds the source: a lower command would walk it down.
  const external_w = s.external_w ?? Number.NEGATIVE_INFINITY
  const is_free = Math.max(s.read!.w, timerValue(s, now)) <= external_w && external_w <= target_w
  const is_off = isRaise(s, w) || (!is_free && mayExceed(s, target_w, now))
  const timer_w = timerValue(s, now)
  const is_ending_timer =
    reach(s, timer_w, 'export') > reach(s, w, 'export') ||
    reach(s, timer_w, 'import') > reach(s, w, 'import')
  if (!s.command) return is_off && (is_ending_timer || w !== s.read!.w)
  const age_ms = now - s.command.at_ms
  if (w !== s.command.w) {
    // Devices that restart their delay with each write would never come down under ever lower
    // commands: one interrupts another, further ones wait, unless they are lower by half. After a
    // command of 0 all else is more.
    const is_lower = isLower(w, s.command.w)
    const is_half = w * Math.sign(s.command.w) <= Math.abs(s.command.w) / 2
    const may_interrupt = is_lower && (is_half || !s.command.is_interrupting)
    return is_off && (age_ms >= s.settle_ms || may_interrupt)
  }
  // A repeat waits for the latency, and ever longer while the register stands still: registers
  // endure a limited number of writes. What is refused wears none: it waits no longer in a sum
  // that is exceeded.
  const is_urgent = s.command.is_refused === true && isExceeded(one)
  const since_ms = is_urgent ? null : s.ineffective_since_ms
  const pause_ms = since_ms === null ? 0 : (s.command.at_ms - since_ms) / 4
  if (age_ms < Math.max(s.latency_ms, Math.min(times.repeat_most_ms, pause_ms))) return false
  return is_ending_timer || (is_off && !isAnswered(s, w))
}

const isExceeded = ({ groups }: View) =>
  groups.sums.some((sums) => kinds.some((kind) => sums[kind].worst_w > sums[kind].most_w))

/** The source may deliver more than its target. */
const mayExceed = (s: Source, target_w: number, now: number) =>
  mostHeld(s, 'export', now) > reach(s, target_w, 'export') ||
  mostHeld(s, 'import', now) > reach(s, target_w, 'import')

/** The sum of the worst cases of a group. */
export function worstIn(state: State, group: string, kind: Kind, now: number): number {
  let sum_w = 0
  for (const s of state.sources.values()) {
    if (s.groups.includes(group)) sum_w += worst(state, s, kind, now)
  }
  return sum_w
}

/** A group of these that may be exceeded, or where nothing may be raised; null: none. */
export const exceeded = (state: State, groups: readonly string[], now: number): string | null =>
  groups.find((group) => {
    const { most_w, may_raise } = capOf(state, 'export', group)
    return !may_raise || !(worstIn(state, group, 'export', now) <= most_w)
  }) ?? null

/** The claim itself, summed anew for a decision, and again before each command goes on the wire. */
export function whyUnsafe(state: State, commands: readonly Command[], now: number): string | null {
  /** The sums that a command raises, by group. */
  const raised: Record<Kind, Map<string, { w: number }>> = {
    export: new Map(),
    import: new Map(),
    fallback: new Map(),
  }
  for (const { id, w } of commands) {
    const s = state.sources.get(id)
    if (!s || s.is_uncontrolled || !(w <= s.max_w && w >= s.min_w)) {
      return `${id} cannot be set to ${w} W`
    }
    if (w > Math.max(s.external_w ?? s.max_w, mostHeld(s, 'export', now))) {
      return `${id}: above an external limit`
    }
    for (const kind of kinds) {
      const reach_w = commandReach(s, w, kind)
      if (reach_w === 0 || reach_w <= mostHeld(s, kind, now)) continue
      for (const group of s.groups) {
        if (!raised[kind].has(group)) raised[kind].set(group, { w: 0 })
      }
    }
  }
  for (const kind of kinds) {
    const sums = raised[kind]
    if (sums.size === 0) continue
    const add = (s: Source, more_w: number) => {
      for (const group of s.groups) {
        const sum = sums.get(group)
        if (sum) sum.w += more_w
      }
    }
    for (const s of state.sources.values()) add(s, worst(state, s, kind, now))
    for (const { id, w } of commands) {
      const s = state.sources.get(id)!
      add(s, Math.max(0, commandReach(s, w, kind) - worst(state, s, kind, now)))
    }
    for (const [group, { w }] of sums) {
      const { most_w, may_raise } = capOf(state, kind, group)
      if (!may_raise || !(w <= most_w)) return `${group}: ${kind} would exceed its permit`
    }
  }
  return null
}
