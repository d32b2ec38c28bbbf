/** The claims of the control core, for sites of any size, with devices that answer anything. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { decide, whyUnsafe } from './core.ts'
import { type Event, step } from './events.ts'
import { load } from './site.ts'
import type { Source, Traits } from './source.ts'
import { type Cap, isFresh, type Kind, kinds, obeys, reach, type State, worst } from './worst.ts'

/** To try others: `CONTROL_RUNS=10000 CONTROL_SEED=7 npx node --test` with this file. */
const seed = Number(process.env['CONTROL_SEED'] ?? 2026)
const runs = Number(process.env['CONTROL_RUNS'] ?? 1000)
const step_w_max = 100
const groups = ['plant-1', 'plant-2', 'site'] as const

const drawnTraits = fc.record({
  plant: fc.constantFrom('plant-1', 'plant-2'),
  is_pv: fc.boolean(),
  rated_w: fc.constantFrom(5_000, 20_000, 100_000),
  keeps_limit: fc.boolean(),
  has_no_watchdog: fc.boolean(),
  is_uncontrolled: fc.constantFrom(false, false, false, true),
  step_w: fc.constantFrom(1, step_w_max),
  tolerance_w: fc.constantFrom(0, 0, 250),
  smallest_limit_w: fc.constantFrom(0, 0, 2_000),
  latency_ms: fc.constantFrom(0, 5_000, 12_000),
  is_settling: fc.boolean(),
  ramp_ms: fc.constantFrom(0, 10_000, 60_000),
  raise_pause_ms: fc.constantFrom(0, 10_000),
})

const traitsOf = (drawn: Parameters<typeof toTraits>[0][]): Traits[] => drawn.map(toTraits)
function toTraits(
  {
    plant,
    step_w,
    is_settling,
    ...drawn
  }: typeof drawnTraits extends fc.Arbitrary<infer Of> ? Of : never,
  nth: number,
): Traits {
  const { is_pv, rated_w, latency_ms } = drawn
  return {
    ...drawn,
    id: `source-${nth}`,
    groups: [plant, 'site'],
    peak_w: rated_w,
    lowest_w: is_pv ? 0 : -rated_w,
    settable: (w) => Math.floor(w / step_w) * step_w,
    settle_ms: is_settling ? latency_ms : 0,
    has_no_watchdog: drawn.has_no_watchdog && !is_pv,
    keeps_limit: drawn.keeps_limit && is_pv,
    respects_external: is_pv,
    stale_ms: 15_000,
  }
}

const share = fc.constantFrom(-1, -0.5, 0, 0, 0.1, 0.25, 0.5, 0.75, 1)
const source = fc.nat({ max: 20 })
const cap_share = fc.constantFrom(0, 0.2, 0.5, 0.8, 2)
const move = fc.oneof(
  { weight: 5, arbitrary: fc.record({ is: fc.constant('decide' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('time' as const),
      ms: fc.constantFrom(1_000, 5_000, 5_000, 16_000, 70_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('read all' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('read' as const),
      source,
      share,
      ceiling: fc.constantFrom(1, 1, 1, 0.5, 0),
      took_ms: fc.constantFrom(0, 0, 3000),
      timer: fc.option(fc.record({ in_ms: fc.constantFrom(10_000, 60_000), share })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('power' as const), source, share }) },
  {
    weight: 3,
    arbitrary: fc.record({ is: fc.constant('done' as const), source, is_taken: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('silent' as const), source }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constantFrom('keep' as const, 'armed' as const),
      source,
      share: fc.option(share),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('permits' as const),
      shares: fc.tuple(cap_share, cap_share, cap_share),
      may_raise: fc.constantFrom(true, true, false),
      curtailed: fc.option(cap_share),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('request' as const), source, share }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('night' as const), is_night: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('site' as const), without: source }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('release' as const), source }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('retry' as const), source }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('contact' as const),
      source,
      has_control: fc.boolean(),
    }),
  },
)
type Move = typeof move extends fc.Arbitrary<infer Of> ? Of : never

/** A site with the core, without true devices: reads may answer anything. */
interface Play {
  traits: readonly Traits[]
  state: State
  now: number
  requested: Map<string, number>
  kept: Map<string, number>
}

const sumsOf = ({ state, now }: Play): ReadonlyMap<string, number> =>
  new Map(
    groups.flatMap((group) =>
      kinds.map((kind) => {
        const all = [...state.sources.values()].filter((s) => s.groups.includes(group))
        const sum_w = all.reduce((sum, s) => sum + worst(state, s, kind, now), 0)
        return [`${kind} ${group}`, sum_w] as const
      }),
    ),
  )

function capOf({ state }: Play, kind: Kind, group: string): Cap {
  const cap = state.permits.get(group)![kind === 'import' ? 'import' : 'export']
  const orders = kind === 'export' ? state.curtailments : []
  const in_force = orders.filter((one) => one.group === group).map((one) => one.most_w)
  return { ...cap, most_w: Math.min(cap.most_w, ...in_force) }
}

function tell(play: Play, event: Event): void {
  play.state = step(play.state, event)
}

/** No sum grows by this event. */
function tellQuietly(play: Play, event: Event): void {
  const before = sumsOf(play)
  tell(play, event)
  for (const [key, sum_w] of sumsOf(play)) {
    assert.ok(sum_w <= before.get(key)! + 1e-6, `${event.is} lets ${key} grow to ${sum_w}`)
  }
}

function begin(traits: readonly Traits[]): Play {
  const requested = new Map<string, number>()
  const play: Play = { traits, state: load([], 0), now: 0, requested, kept: new Map() }
  tell(play, { is: 'site', sources: traits })
  permit(play, [0.5, 0.5, 0.5], true, null)
  play.now = 15_000
  return play
}

function permit(
  play: Play,
  shares: readonly number[],
  may_raise: boolean,
  curtailed: number | null,
): void {
  const rated_w = play.traits.reduce((sum, one) => sum + one.rated_w, 0)
  const permits = new Map(
    groups.map((group, nth) => {
      const cap = { most_w: Math.floor(rated_w * shares[nth]!), may_raise }
      return [group, { export: cap, import: cap }]
    }),
  )
  const curtailments =
    curtailed === null ? [] : [{ group: 'plant-1', most_w: Math.floor(rated_w * curtailed) }]
  tellQuietly(play, { is: 'permits', permits, curtailments })
}

const wattsOf = (s: Traits, of_rated: number) =>
  Math.max(s.lowest_w, Math.round(of_rated * s.rated_w))

function make(play: Play, one: Move): void {
  const { state, now } = play
  const all = [...state.sources.values()]
  const s = 'source' in one ? all[one.source % all.length] : all[0]
  if (!s) return
  const { id, rated_w: max_w, lowest_w: min_w } = s
  const at_ms = now
  if (one.is === 'time') play.now += one.ms
  else if (one.is === 'decide') decideAndSend(play)
  else if (one.is === 'read all') for (const each of all) readAgain(play, each)
  else if (one.is === 'read') {
    const timer = one.timer && {
      at_ms: now + one.timer.in_ms,
      to_w: wattsOf(s, one.timer.share),
    }
    const w = wattsOf(s, one.share)
    const began_ms = at_ms - one.took_ms
    tell(play, { is: 'read', id, at_ms, began_ms, w, max_w: one.ceiling * max_w, min_w, timer })
  } else if (one.is === 'power') tell(play, { is: 'power', id, at_ms, w: wattsOf(s, one.share) })
  else if (one.is === 'done') {
    const open = s.under_way.find((command) => command.at_ms === null)
    if (open) tellQuietly(play, { is: 'done', id, at_ms, w: open.w, is_taken: one.is_taken })
  } else if (one.is === 'permits') permit(play, one.shares, one.may_raise, one.curtailed)
  else if (one.is === 'request') play.requested.set(id, wattsOf(s, one.share))
  else if (one.is === 'keep') {
    if (one.share === null) play.kept.delete(id)
    else play.kept.set(id, wattsOf(s, Math.abs(one.share)))
  } else if (one.is === 'armed') {
    const falls_back_w = one.share === null ? null : wattsOf(s, Math.abs(one.share))
    tell(play, { is: 'armed', id, falls_back_w })
  } else if (one.is === 'silent') tell(play, { is: 'silent', id })
  else if (one.is === 'night') {
    if (one.is_night) tellQuietly(play, one)
    else tell(play, one)
  } else if (one.is === 'site') {
    const sources = play.traits.filter((_, nth) => nth !== one.without)
    tell(play, { is: 'site', sources })
  } else if (one.is === 'release') tellQuietly(play, { is: 'released', id, groups: s.groups })
  else if (one.is === 'retry') tellQuietly(play, { is: 'retry', id })
  else if (one.is === 'contact') {
    tellQuietly(play, { is: 'contact', id, has_control: one.has_control })
  } else restart(play)
}

/** The register holds what it held: without a silence no sum grows by this read. */
function readAgain(play: Play, s: Source): void {
  const { id, max_w, min_w, read } = s
  if (!read) {
    tell(play, { is: 'read', id, at_ms: play.now, w: max_w, max_w, min_w, timer: null })
    return
  }
  const event: Event = { ...read, is: 'read', id, at_ms: play.now, max_w, min_w }
  // A ramp may have begun in a silence.
  if (play.now - read.at_ms <= s.stale_ms) tellQuietly(play, event)
  else tell(play, event)
}

function restart(play: Play): void {
  const { permits, curtailments, sources } = play.state
  const saved = [...sources.values()].map((s) => {
    return { ...s, unheard_ms: s.read ? play.now - s.read.at_ms : 0 }
  })
  play.state = load(saved, play.now)
  tell(play, { is: 'permits', permits, curtailments })
}

/** What the source has by its last command and its last read-back, whichever is less. */
const leastOf = (s: Source, kind: Kind) =>
  Math.min(
    ...[s.command, s.read].map((one) =>
      one === null ? Number.POSITIVE_INFINITY : reach(s, one.w, kind),
    ),
  )

function decideAndSend(play: Play): void {
  const { state, now } = play
  const { commands, fault, sums, targets_w } = decide(state, now, play.requested, play.kept)
  assert.equal(fault, null)
  // Claim 2: the targets fit beside the worst cases of all sources that cannot be lowered.
  for (const [key, { kind, most_w, fixed_w }] of sums) {
    if (kind === 'fallback') continue
    const all = [...state.sources.values()].filter((s) => s.groups.includes(key.split(' ')[1]!))
    // Until all were read, a source that was not yet has a target, its share, and no command.
    const isCommandable = (s: Source) =>
      !s.is_uncontrolled && s.has_control && s.was_read && isFresh(s, now)
    const isFixed = (s: Source) => !isCommandable(s) || !obeys(s, now)
    const isAwaited = (s: Source) => !s.was_read && targets_w.has(s.id)
    const total = (of: readonly Source[], wOf: (s: Source) => number) =>
      of.reduce((sum, s) => sum + wOf(s), 0)
    const others_w = total(all.filter(isFixed), (s) => worst(state, s, kind, now))
    const obeying = all.filter((s) => !isFixed(s))
    const target_w = total(obeying, (s) => reach(s, targets_w.get(s.id)!, kind))
    assert.ok(Math.abs(fixed_w - others_w) < 1e-6, `${key}: ${fixed_w} of ${others_w} is fixed`)
    const awaited_w = total(all.filter(isAwaited), (s) => worst(state, s, kind, now))
    const room_w = Math.max(0, most_w - others_w + awaited_w)
    assert.ok(target_w <= room_w + 1e-6, `${key}: targets of ${target_w} in ${room_w}`)
  }
  for (const command of commands) send(play, command)
}

function send(play: Play, command: { id: string; w: number; is_raise: boolean }): void {
  const { id, w } = command
  const s = play.state.sources.get(id)!
  const before = sumsOf(play)
  if (whyUnsafe(play.state, [command], play.now) !== null) return
  tell(play, { is: 'sent', id, at_ms: play.now, w })
  const after = sumsOf(play)
  for (const kind of kinds) {
    // Only sources without a watchdog are raised within what the others leave in silence.
    if (kind === 'fallback' && !s.has_no_watchdog) continue
    for (const group of s.groups) {
      const key = `${kind} ${group}`
      const { most_w, may_raise } = capOf(play, kind, group)
      // Claim 1: no command takes a sum above the permit.
      const is_grown = after.get(key)! > before.get(key)! + 1e-6
      assert.ok(!is_grown || after.get(key)! <= most_w + 1e-6, `${id} to ${w} raises ${key}`)
      // Claim 3: nothing is raised without a permit, or above an external limit.
      const is_raised = kind !== 'fallback' && reach(s, w, kind) > leastOf(s, kind)
      assert.ok(command.is_raise || !is_raised, `${id} to ${w} is a raise`)
      assert.ok(may_raise || !is_grown, `${id} to ${w} is raised without a permit`)
    }
  }
  const limit_w = s.external_w ?? s.max_w
  const most_w = Math.max(s.read!.w, ...s.under_way.map((one) => one.w))
  assert.ok(w <= limit_w || w <= most_w, `${id} to ${w} is above ${limit_w} of another`)
}

const sites = fc.array(drawnTraits, { minLength: 1, maxLength: 8 }).map(traitsOf)

test(`no command exceeds a permit, and no sum grows by itself, seed ${seed}`, () => {
  const moves = fc.array(move, { minLength: 20, maxLength: 120 })
  const property = fc.property(sites, moves, (traits, all) => {
    const play = begin(traits)
    for (const one of all) make(play, one)
  })
  fc.assert(property, { seed, numRuns: runs })
})

test(`all sources come back to their share, seed ${seed}`, () => {
  const moves = fc.array(move, { maxLength: 60 })
  const shares = fc.tuple(cap_share, cap_share, cap_share)
  const property = fc.property(sites, moves, shares, (traits, all, shares_after) => {
    const play = begin(traits)
    for (const one of all) make(play, one)
    calm(play, shares_after)
  })
  fc.assert(property, { seed, numRuns: Math.ceil(runs / 2) })
})

/** Claim 4: devices obey from now on, and nothing changes any more. */
function calm(play: Play, shares: readonly number[]): void {
  tell(play, { is: 'site', sources: play.traits })
  tell(play, { is: 'night', is_night: false })
  permit(play, shares, true, null)
  play.requested = new Map(play.traits.map(({ id, rated_w }) => [id, rated_w]))
  const register_w = new Map(
    [...play.state.sources.values()].map((s) => [s.id, s.read?.w ?? s.max_w]),
  )
  for (const { id, under_way } of play.state.sources.values()) {
    for (const { w, at_ms } of under_way) {
      if (at_ms === null) tellQuietly(play, { is: 'done', id, at_ms: play.now, w })
    }
  }
  for (let round = 0; round < 150; round++) {
    play.now += 10_000
    for (const { id, rated_w: max_w, lowest_w: min_w, groups: own } of play.traits) {
      const w = register_w.get(id)!
      const at_ms = play.now
      tell(play, { is: 'read', id, at_ms, w, max_w, min_w, timer: null })
      tell(play, { is: 'power', id, at_ms, w })
      if (round > 0) continue
      tell(play, { is: 'released', id, groups: own })
      tell(play, { is: 'contact', id, has_control: true })
    }
    for (const { id, w } of decide(play.state, play.now, play.requested, play.kept).commands) {
      tell(play, { is: 'sent', id, at_ms: play.now, w })
      tell(play, { is: 'done', id, at_ms: play.now, w })
      register_w.set(id, w)
    }
  }
  const sources = [...play.state.sources.values()]
  // Without a watchdog a source waits for what the others would do in silence.
  if (sources.some((s) => s.has_no_watchdog)) return
  const heldIn = (group: string) =>
    sources.reduce(
      (sum, s) => sum + (s.groups.includes(group) ? Math.max(0, register_w.get(s.id)!) : 0),
      0,
    )
  const slackOf = (s: Traits) => step_w_max + 2 * s.tolerance_w + s.smallest_limit_w + 1
  const slack_w = sources.reduce((sum, s) => sum + slackOf(s), 0)
  for (const s of sources) {
    if (s.is_uncontrolled || register_w.get(s.id)! >= s.rated_w) continue
    const is_used_up = s.groups.some(
      (group) => heldIn(group) + slack_w >= capOf(play, 'export', group).most_w,
    )
    assert.ok(is_used_up, `${s.id} stays at ${register_w.get(s.id)} of ${s.rated_w}`)
  }
  for (const group of groups) {
    const fixed_w = sources
      .filter((s) => s.is_uncontrolled && s.groups.includes(group))
      .reduce((sum, s) => sum + Math.max(0, register_w.get(s.id)!), 0)
    // A source that stands at its smallest limit, or below, answers a command of 0 with that.
    const smallest_w = sources
      .filter((s) => s.command?.w === 0 && s.groups.includes(group))
      .reduce((sum, s) => sum + Math.min(s.smallest_limit_w, Math.abs(register_w.get(s.id)!)), 0)
    const most_w = Math.max(fixed_w, capOf(play, 'export', group).most_w) + smallest_w
    assert.ok(heldIn(group) <= most_w, `${group} stays at ${heldIn(group)} of ${most_w}`)
  }
}
