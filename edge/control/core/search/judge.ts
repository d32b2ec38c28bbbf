/** The judge of the search: what must hold in each state and for each step. */
import { type Command, decide } from '../core.ts'
import type { Source } from '../source.ts'
import { type Kind, obeys, reach, times, worst } from '../worst.ts'
import { type Config, unlimited } from './configurations.ts'
import { keyOf } from './key.ts'
import { requestsOf, type Step } from './steps.ts'
import { Broken, real, sourcesOf, type World } from './world.ts'

const sumOf = ({ state }: World, kind: Kind, group: string) =>
  [...state.sources.values()].reduce(
    (sum_w, s) => sum_w + (s.groups.includes(group) ? worst(state, s, kind, 0) : 0),
    0,
  )

export function permitOf(config: Config, { permit }: World, kind: Kind, group: string): number {
  const { export: out, import: drawn = {}, curtailment } = config.permits[permit]!
  if (kind === 'import') return (drawn[group] ?? unlimited).most_w
  return Math.min(
    out[group]!.most_w,
    group === 'p' && kind === 'export'
      ? (curtailment ?? Number.POSITIVE_INFINITY)
      : Number.POSITIVE_INFINITY,
  )
}

export function judgeStep(config: Config, before: World, [name, after, kind]: Step): void {
  if (after.state.sources.size < before.state.sources.size)
    throw new Broken(`${name}: a source is forgotten`)
  if (name.startsWith('nonsense') && keyOf(config, before) !== keyOf(config, after))
    throw new Broken(`${name} is taken`)
  judgeWorst(after, name)
  const may_distrust =
    config.full_w !== undefined ||
    (['ignore', 'external', 'garbage', 'reset', 'timer'] as const).some((what) =>
      config.does.includes(what),
    )
  const distrusted = may_distrust
    ? undefined
    : sourcesOf(after).find((s) => s.distrusted_until_ms !== null)
  if (distrusted) throw new Broken(`${name}: ${distrusted.id} is distrusted for nothing`)
  for (const group of Object.keys(config.permits[0]!.export)) {
    for (const way of ['export', 'import'] as const) {
      const [was_w, sum_w] = [sumOf(before, way, group), sumOf(after, way, group)]
      if (sum_w <= was_w) continue
      if (['device', 'terms', 'done'].includes(kind))
        throw new Broken(`${name}: ${way} of ${group} grows from ${was_w} to ${sum_w}`)
      if (kind === 'time' && !isNamed(before, after))
        throw new Broken(`${way} of ${group} grows from ${was_w} to ${sum_w} by itself`)
      if (kind === 'sent' && sum_w > permitOf(config, after, way, group))
        throw new Broken(`${name}: ${way} of ${group} is raised to ${sum_w}`)
    }
  }
  if (kind === 'sent') judgeSent(config, before, after, name)
}

/** (a) No source does more than it counts with, unless nobody could know yet. */
function judgeWorst(world: World, name: string): void {
  const { state, devices, is_dark } = world
  for (const [nth, s] of sourcesOf(world).entries()) {
    const device = devices[nth]!
    const is_measured =
      s.power?.w === Math.max(device.full_w, s.rated_w) &&
      (-s.power.at_ms <= s.stale_ms || s.above_since_ms !== null)
    const is_exceeding = device.full_w > s.rated_w && s.exceeds === null && !is_measured
    const is_unseen = (device.is_ignoring && !is_measured) || is_exceeding
    // A silence proves nothing, unless the register keeps its limit and is in the site file.
    const is_lost =
      s.read !== null && -s.read.at_ms > s.stale_ms && (device.is_removed || !s.keeps_limit)
    const is_wrong_night = state.night.is_night && !is_dark && world.daylight_ms === 0
    if ((device.is_excused && !is_lost) || is_unseen || is_wrong_night) continue
    for (const way of ['export', 'import'] as const) {
      const [real_w, worst_w] = [real(s, device, way, is_dark), worst(state, s, way, 0)]
      if (real_w > worst_w)
        throw new Broken(`${name}: ${s.id} does ${real_w} of ${way} and counts with ${worst_w}`)
    }
  }
}

/** (b) By time alone a worst case grows by silence, a timer, or the end of measurements. */
const isNamed = (before: World, { state }: World) =>
  before.state.night.doubt_until_ms <= 0 !== state.night.doubt_until_ms <= 0 ||
  sourcesOf(before).some((was) => {
    const s = state.sources.get(was.id)!
    const turns_silent =
      s.read &&
      -s.read.at_ms > s.stale_ms &&
      -was.read!.at_ms <= s.stale_ms &&
      (!s.keeps_limit || s.is_uncontrolled)
    const is_due = s.read?.timer && s.read.timer.at_ms <= times.timer_margin_ms
    return turns_silent || is_due || (was.power && -was.power.at_ms <= was.stale_ms)
  })

/** (c) A command respects external limits and missing permits, and does not repeat too early. */
function judgeSent(config: Config, before: World, after: World, name: string): void {
  for (const [nth, s] of sourcesOf(after).entries()) {
    const was = before.state.sources.get(s.id)!
    const is_sent = s.under_way.some(
      (one) => !was.under_way.some((it) => it.w === one.w && it.at_ms === one.at_ms),
    )
    if (!is_sent) continue
    const { w } = s.command!
    const { read_w, external } = before.devices[nth]!
    if (s.respects_external && external !== null && w > external && w > read_w!)
      throw new Broken(`${name}: ${s.id} is raised to ${w}, another set ${external}`)
    const may_raise = s.groups.every(
      (group) => config.permits[after.permit]!.export[group]!.may_raise,
    )
    const most_w = Math.max(read_w!, was.command?.w ?? 0, ...was.under_way.map((one) => one.w))
    if (!may_raise && w > most_w) throw new Broken(`${name}: ${s.id} is raised without a permit`)
    if (!after.todo && was.command?.w === w && -was.command.at_ms < s.latency_ms)
      throw new Broken(`${name}: ${s.id} is set to the same value again too early`)
    if (!s.has_control) throw new Broken(`${name}: ${s.id} cannot be written to`)
    const is_settling = was.command && -was.command.at_ms < s.settle_ms
    const is_higher = is_settling && Math.abs(w) > Math.abs(was.command!.w)
    const is_second =
      is_settling && was.command!.is_interrupting && Math.abs(2 * w) > Math.abs(was.command!.w)
    if (!after.todo && (is_higher || is_second))
      throw new Broken(`${name}: a burst of commands to ${s.id}`)
  }
  judgeFallback(config, before, after)
}

/** Without a watchdog no source is raised beyond what the others leave in a silence. */
function judgeFallback(config: Config, before: World, after: World): void {
  const most = (s: Source) => Math.max(s.read!.w, ...s.under_way.map((one) => one.w))
  const raised = sourcesOf(after).filter(
    (s) => s.has_no_watchdog && s.read && most(s) > most(before.state.sources.get(s.id)!),
  )
  for (const group of new Set(raised.flatMap((s) => s.groups))) {
    const alone = sourcesOf(after).map((s) =>
      s.read && (s.has_no_watchdog || s.keeps_limit) ? Math.max(0, most(s)) : s.rated_w,
    )
    const sum_w = alone.reduce((sum, w) => sum + w, 0)
    if (sum_w > config.permits[after.permit]!.export[group]!.most_w)
      throw new Broken(`${group} would come to ${sum_w} in a silence`)
  }
}

/** (d) Targets fit into the permit beside what nobody can lower, and all are commanded. */
export function judgeDecision(config: Config, world: World): void {
  const { state } = world
  const decision = decide(state, 0, requestsOf(config, world))
  for (const [key, { kind, most_w, fixed_w }] of decision.sums) {
    if (kind === 'fallback') continue
    const all = sourcesOf(world).filter((s) => s.groups.includes(key.split(' ')[1]!))
    const sumOfWorst = (those: readonly Source[]) =>
      those.reduce((sum, s) => sum + worst(state, s, kind, 0), 0)
    const is_started = state.raise_from_ms < 0 || sourcesOf(world).every(isReadOrLost)
    const isFixed = (s: Source) => !isCommandable(s) || !obeys(s, 0)
    // Until all were read, a source that was not yet has its share.
    const isAwaited = (s: Source) => !is_started && decision.targets_w.has(s.id) && !isReadOrLost(s)
    const fixed = all.filter(isFixed)
    const other_w = sumOfWorst(fixed.filter((s) => !isAwaited(s)))
    const target_w = all.reduce(
      (sum, s) => sum + (isFixed(s) ? 0 : reach(s, decision.targets_w.get(s.id)!, kind)),
      0,
    )
    if (Math.abs(fixed_w - sumOfWorst(fixed)) > 1e-9)
      throw new Broken(`${key}: ${fixed_w} is reported as fixed, ${sumOfWorst(fixed)} is`)
    if (target_w > Math.max(0, most_w - other_w))
      throw new Broken(`${key}: targets ${target_w} and fixed ${other_w} exceed ${most_w}`)
    for (const s of all)
      if (!isFixed(s) && kind === 'export')
        judgeCommanded(s, decision.targets_w.get(s.id)!, decision.commands)
  }
}

const isReadOrLost = (s: Source) => s.was_read || s.is_uncontrolled

const isCommandable = (s: Source) =>
  s.was_read && s.has_control && !s.is_uncontrolled && -s.read!.at_ms <= s.stale_ms

function judgeCommanded(s: Source, target_w: number, commands: readonly Command[]): void {
  const timer = s.read!.timer
  const timer_w = timer && timer.at_ms <= times.timer_margin_ms ? timer.to_w : 0
  const register_w = Math.max(s.read!.w, timer_w, ...s.under_way.map((one) => one.w))
  if (register_w <= Math.max(0, target_w) || commands.some((one) => one.id === s.id)) return
  // An external limit that holds the source leaves nothing to command.
  const is_free =
    s.external_w !== null &&
    Math.max(s.read!.w, timer_w) <= s.external_w &&
    s.external_w <= target_w
  if (is_free) return
  const is_reached =
    s.command &&
    timer_w <= Math.max(0, target_w) &&
    s.read!.w <= Math.max(s.command.w + s.tolerance_w, s.smallest_limit_w)
  const is_awaited =
    s.command &&
    (s.command.w <= Math.max(0, target_w)
      ? -s.command.at_ms < s.latency_ms || is_reached
      : -s.command.at_ms < s.settle_ms && s.command.is_interrupting && 2 * target_w > s.command.w)
  if (!is_awaited) throw new Broken(`${s.id} is above ${target_w} and is not commanded`)
}
