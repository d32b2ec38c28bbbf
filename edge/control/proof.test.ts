import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'
import type { ControlEntry, Noted } from './control-entry.ts'
import type { PowerQuarter } from './proof.ts'
import { Proof, type Verdict } from './proof.ts'
import { entryText, verdictText } from './proof-text.ts'

const period = { from_at: start_at, to_at: start_at + 3_600_000 }

/** Two inverters of 100 kW behind a permit of 150 kW, each limited to 75 kW. */
const held: Noted[] = [
  { is: 'started' },
  { is: 'permit_file', plants: [{ logger_id: 1, permit_w: 150_000 }], site_w: null, guard_pct: 2 },
  { is: 'permit', plants: [{ logger_id: 1, permit_w: 147_000 }], site_w: null },
  found(1, 75_000),
  found(2, 75_000),
  {
    is: 'site',
    plants: [
      { logger_id: 1, inverters: [1, 2].map((inverter_id) => ({ inverter_id, max_w: 100_000 })) },
    ],
  },
]

function found(
  inverter_id: number,
  limit_w: number | null,
  foreign: 'raised' | null = null,
): Noted {
  return { is: 'limit', inverter_id, found: { limit_w, static_max_w: 100_000 }, foreign }
}

const raise = (inverter_id: number, limit_w: number): Noted => {
  return { is: 'order', inverter_id, limit_w, is_raise: true }
}

const answer = (inverter_id: number, limit_w: number): Noted => {
  const state = { limit_w, static_max_w: 100_000 }
  return { is: 'answer', inverter_id, limit_w, error: null, found: state }
}

const roundOf = (power_w: number | null, round_at = start_at, at_most_w?: number): Noted => {
  const more = at_most_w === undefined ? {} : { at_most_w }
  return { is: 'round', round_at, plants: [{ logger_id: 1, power_w, ...more }], batteries: [] }
}

/** What happens after the hour before, in its minutes, while power is noted in each. */
function prove(happenings: Record<number, Noted[]>, { power_w = 100_000, minutes = 60 } = {}) {
  const before = start_at - 10 * minute_ms
  const entries: ControlEntry[] = held.map((entry) => ({ at: before, ...entry }))
  for (let nth = -9; nth < minutes; nth += 1) {
    const at = start_at + nth * minute_ms
    entries.push({ at, ...roundOf(power_w, at) })
    for (const entry of happenings[nth] ?? []) entries.push({ at: at + 1, ...entry })
  }
  return proofOf(entries)
}

function proofOf(
  entries: readonly ControlEntry[],
  now = period.to_at,
): Verdict & { quarters: PowerQuarter[] } {
  const quarters: PowerQuarter[] = []
  const proof = new Proof(period, now, (quarter) => quarters.push(quarter))
  for (const entry of entries) proof.take(entry)
  return { ...proof.end(), quarters }
}

test('an hour in which nothing exceeded anything', () => {
  const happenings = {
    20: [raise(1, 70_000), answer(1, 70_000)],
    30: [raise(2, 80_000), answer(2, 80_000)],
  }
  const verdict = prove(happenings)
  const hundred = { min_w: 100_000, max_w: 100_000 }
  assert.equal(verdict.is, 'kept')
  assert.deepEqual([verdict.orders, verdict.read_backs, verdict.entry_count], [2, 2, 64])
  assert.deepEqual(verdict.device_orders, [
    { inverter_id: 1, orders: 1, day_max: 1 },
    { inverter_id: 2, orders: 1, day_max: 1 },
  ])
  assert.deepEqual(
    verdict.quarters.map(({ from_at, ...quarter }) => [(from_at - start_at) / minute_ms, quarter]),
    [0, 15, 30, 45].map((nth) => [
      nth,
      { logger_id: 1, samples: 15, incomplete: 0, ...hundred, permit_w: 150_000 },
    ]),
  )
})

test('a raise of ours that is too much counts from its beginning', () => {
  const { is, oversteps } = prove({ 10: [raise(1, 76_000)], 12: [answer(1, 75_000)] })
  assert.equal(is, 'broken')
  const at = (nth: number) => start_at + nth * minute_ms + 1
  assert.deepEqual(oversteps, [
    {
      from_at: at(10),
      to_at: at(12),
      logger_id: 1,
      cause: 'write',
      inverter_id: 1,
      allowed_max_w: 151_000,
      permit_w: 150_000,
    },
  ])
})

test('whatever else exceeds it is told with its cause', () => {
  const causes = (happenings: Record<number, Noted[]>) =>
    prove(happenings).oversteps.map(({ cause, inverter_id, to_at }) => [cause, inverter_id, to_at])
  const end = start_at + 12 * minute_ms + 1
  assert.deepEqual(causes({ 10: [{ is: 'gone', inverter_id: 2 }], 12: [found(2, 75_000)] }), [
    ['silence', 2, end],
  ])
  assert.deepEqual(causes({ 10: [{ is: 'gone', inverter_id: 2, stays: true }] }), [])
  assert.deepEqual(causes({ 10: [found(2, 90_000, 'raised')], 12: [found(2, 75_000)] }), [
    ['device', 2, end],
  ])
  assert.deepEqual(causes({ 10: [found(2, null)] }), [['device', 2, null]])
  const plants = [{ logger_id: 1, permit_w: 149_999 }]
  const lower: Noted = { is: 'permit_file', plants, site_w: null, guard_pct: 0 }
  assert.deepEqual(causes({ 10: [lower], 12: [found(1, 74_000)] }), [['permit', null, end]])
  const site_w = 149_000
  const common: Noted = {
    is: 'permit_file',
    plants: [{ logger_id: 1, permit_w: 1e6 }],
    site_w,
    guard_pct: 0,
  }
  assert.deepEqual(
    prove({ 10: [common] }).oversteps.map(({ logger_id }) => logger_id),
    [null],
  )
  // A raise while another cause holds is the worse fault.
  assert.deepEqual(causes({ 10: [{ is: 'gone', inverter_id: 2 }, raise(1, 80_000)] }), [
    ['write', 1, null],
  ])
})

test('what began before the period and went on is told, what ended before is not', () => {
  const began = start_at - 5 * minute_ms + 1
  assert.deepEqual(
    prove({ '-5': [found(2, 90_000)], 12: [found(2, 75_000)] }).oversteps.map(
      ({ from_at }) => from_at,
    ),
    [began],
  )
  assert.equal(prove({ '-5': [found(2, 90_000)], '-4': [found(2, 75_000)] }).is, 'kept')
})

test('measured power beyond the permit and its tolerance is told', () => {
  assert.equal(prove({}, { power_w: 151_500 }).is, 'kept')
  const { is, overpowers } = prove({}, { power_w: 151_501 })
  assert.equal(is, 'broken')
  assert.deepEqual(
    overpowers.map(({ power_max_w, permit_w, to_at }) => [power_max_w, permit_w, to_at]),
    [[151_501, 150_000, null]],
  )
})

test('a round that is incomplete accuses only by what was measured in it', () => {
  const of = (power_w: number | null, at_most_w: number) => {
    const { is, overpowers, possible_excesses } = prove({ 10: [roundOf(power_w, 0, at_most_w)] })
    const bounds = possible_excesses.map((one) => [one.why, one.power_w, one.at_most_w])
    return [is, overpowers.map(({ power_max_w }) => power_max_w), bounds]
  }
  assert.deepEqual(of(140_000, 151_500), ['kept', [], []])
  const possible = ['incomplete', 140_000, 151_501]
  assert.deepEqual(of(140_000, 151_501), ['incomplete', [], [possible]])
  assert.deepEqual(of(null, 200_000), ['incomplete', [], [['incomplete', null, 200_000]]])
  assert.deepEqual(of(151_501, 200_000), ['broken', [151_501], []])
  const verdict = prove({ 10: [roundOf(140_000, 0, 160_000)] })
  assert.match(
    verdictText(verdict, []),
    /^POSSIBLE .* plant 1: 140\.000 kW to 160\.000 kW were fed in, 150\.000 kW permitted: not each/m,
  )
  const [quarter] = verdict.quarters
  assert.deepEqual([quarter?.samples, quarter?.incomplete], [15, 1])
  assert.deepEqual([quarter?.min_w, quarter?.max_w], [100_000, 140_000])
})

test('the common connection adds up what one round measured of plants and lone batteries', () => {
  const plants = [1, 2].map((logger_id) => ({ logger_id, permit_w: 1e6 }))
  const permit: Noted = { is: 'permit_file', plants, site_w: 100_000, guard_pct: 0 }
  const judge = (round: Omit<Noted & { is: 'round' }, 'is' | 'round_at'>) => {
    const { overpowers, possible_excesses } = proofOf([
      { at: start_at, ...permit },
      { at: start_at + 60_000, is: 'round', round_at: start_at, ...round },
    ])
    const idsOf = (all: { logger_id: number | null }[]) => all.map(({ logger_id }) => logger_id)
    return [idsOf(overpowers), idsOf(possible_excesses)]
  }
  const [one, two] = [1, 2].map((logger_id) => ({ logger_id, power_w: 50_000 }))
  const battery = { bess_id: 1, logger_id: null, power_w: 2000 }
  assert.deepEqual(judge({ plants: [one!, two!], batteries: [] }), [[], []])
  assert.deepEqual(judge({ plants: [one!, two!], batteries: [battery] }), [[null], []])
  const within = { ...battery, logger_id: 1 }
  assert.deepEqual(judge({ plants: [one!, two!], batteries: [within] }), [[], []])
  const charging = { ...battery, power_w: -2000 }
  assert.deepEqual(judge({ plants: [one!, { ...two!, power_w: 52_000 }], batteries: [charging] }), [
    [null],
    [],
  ])
  const unmeasured = { logger_id: 2, power_w: null, at_most_w: 60_000 }
  assert.deepEqual(judge({ plants: [one!, unmeasured], batteries: [] }), [[], [null]])
})

test('what was never sent does not count, what was begun before it does', () => {
  const unsent: Noted = { is: 'unsent', inverter_id: 1, limit_w: 75_000 }
  const lowered = [raise(1, 60_000), answer(1, 60_000)]
  const kept = prove({ 20: [...lowered, raise(1, 75_000), unsent, raise(2, 90_000)] })
  assert.deepEqual([kept.is, kept.orders], ['kept', 2])
  const without = prove({ 20: [...lowered, raise(1, 75_000), raise(2, 90_000)] })
  assert.deepEqual([without.is, without.oversteps[0]?.cause], ['broken', 'write'])
  const begun = [raise(1, 70_000), raise(1, 75_000), unsent]
  assert.equal(prove({ 20: [...lowered, ...begun, raise(2, 90_000)] }).is, 'broken')
})

test('writes are counted by device, and on the day with the most', () => {
  const proof = new Proof({ from_at: start_at, to_at: start_at + 3 * 86_400_000 }, start_at)
  const day_ms = 86_400_000
  for (const at of [0, 0, day_ms, day_ms, day_ms, 2 * day_ms]) {
    proof.take({ at: start_at + at, ...raise(2, 10_000) })
  }
  for (const at of [0, day_ms]) proof.take({ at: start_at + at, ...raise(1, 10_000) })
  const verdict = proof.end()
  assert.deepEqual(verdict.device_orders, [
    { inverter_id: 2, orders: 6, day_max: 3 },
    { inverter_id: 1, orders: 2, day_max: 1 },
  ])
  assert.match(
    verdictText(verdict, []),
    /Most writes to one device: inverter 2, 6, at most 3 a day/,
  )
})

test('gaps are named: stopped, ended, silent, lost, set back, none', () => {
  const gaps = (happenings: Record<number, Noted[]>, options = {}) =>
    prove(happenings, options).gaps.map(({ why, from_at, to_at }) => [
      why,
      Math.floor((from_at - start_at) / minute_ms),
      Math.floor((to_at - start_at) / minute_ms),
    ])
  assert.deepEqual(gaps({ 5: [{ is: 'stopped' }, { is: 'started' }] }), [['stopped', 5, 5]])
  assert.deepEqual(gaps({ 5: [{ is: 'started' }] }), [['ended', 5, 5]])
  assert.deepEqual(gaps({ 5: [{ is: 'lost', entries: 3 }] }), [['lost', 5, 5]])
  assert.deepEqual(gaps({}, { minutes: 40 }), [['silent', 39, 60]])
  assert.deepEqual(gaps({ 39: [{ is: 'stopped' }] }, { minutes: 40 }), [['stopped', 39, 60]])
  assert.deepEqual(
    proofOf([]).gaps.map(({ why, from_at, to_at }) => [why, from_at, to_at]),
    [['no log', period.from_at, period.to_at]],
  )
  assert.deepEqual(proofOf([], start_at + 1000).gaps, [])
  const startedAt = (at: number): ControlEntry[] => [
    { at: period.from_at - minute_ms, is: 'round', round_at: null, plants: [], batteries: [] },
    { at, is: 'started' },
  ]
  const soon = period.from_at + 1000
  assert.deepEqual(proofOf(startedAt(period.from_at), soon).gaps, [])
  assert.equal(proofOf(startedAt(period.from_at + 1), soon).gaps.length, 1)
  const back = [10, 11, 5, 6].map((nth): ControlEntry => {
    return {
      at: start_at + nth * minute_ms,
      is: 'round',
      round_at: null,
      plants: [],
      batteries: [],
    }
  })
  assert.deepEqual(
    proofOf(back).gaps.map(({ why }) => why),
    ['no log', 'clock', 'silent'],
  )
})

test('a plant without a permit leaves the proof incomplete', () => {
  const none: Noted = { is: 'permit_file', plants: [], site_w: null, guard_pct: 0 }
  const { is, without_permit } = prove({ 5: [none] })
  assert.deepEqual([is, without_permit], ['incomplete', [1]])
})

test('what the controller notes of a day with rows and a silent inverter is proof of it', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  const inverters = [1, 2, 3].map((inverter_id) => ({ inverter_id, max_w: 100_000 }))
  const of_site: ControlEntry = { at: start_at, is: 'site', plants: [{ logger_id: 1, inverters }] }
  await site.clock.advance(10_000)
  await site.controller.hear([rowOf(60, { end_at: start_at + 120_000 })])
  await site.clock.advance(180_000)
  const from_at = start_at + 20_000
  const verdictNow = () => {
    const to_at = site.clock.now().getTime()
    const proof = new Proof({ from_at, to_at }, to_at)
    for (const entry of [of_site, ...site.entries]) proof.take(entry)
    return proof.end()
  }
  assert.equal(verdictNow().is, 'kept', JSON.stringify(verdictNow()))
  assert.ok(verdictNow().orders >= 3)
  site.inverters[0]!.is_silent = true
  await site.clock.advance(60_000)
  site.inverters[0]!.is_silent = false
  await site.clock.advance(60_000)
  const { oversteps, gaps } = verdictNow()
  assert.deepEqual(gaps, [])
  // From when it is known to be gone until the others made room.
  assert.deepEqual(
    oversteps.map(({ cause, inverter_id }) => [cause, inverter_id]),
    [['silence', 1]],
  )
  const [overstep] = oversteps
  assert.ok(overstep!.to_at! - overstep!.from_at <= 2000)
})

test('what comes down within 10 s of a lower permit is named, and not exceeded', () => {
  const of = (entries: [number, Noted][]) => {
    const before = held.map((entry): ControlEntry => ({ at: start_at - 1000, ...entry }))
    const plants = [{ logger_id: 1, permit_w: 140_000 }]
    const lower: Noted = { is: 'permit_file', plants, site_w: null, guard_pct: 0 }
    const after = [[1000, lower] as const, ...entries].map(([ms, entry]): ControlEntry => {
      return { at: start_at + ms, ...entry }
    })
    const to_at = start_at + 60_000
    const proof = new Proof({ from_at: start_at, to_at }, to_at)
    for (const entry of [...before, ...after]) proof.take(entry)
    const verdict = proof.end()
    const { is, oversteps, coming_down, overpowers } = verdict
    const lengths = [oversteps, coming_down, overpowers].map(({ length }) => length)
    return { is, lengths, text: verdictText(verdict, []) }
  }
  const power: [number, Noted] = [2000, roundOf(149_000)]
  const short = of([power, [11_000, found(1, 65_000)]])
  assert.deepEqual([short.is, short.lengths], ['kept', [0, 1, 0]])
  assert.match(short.text, /^COMING DOWN .* plant 1: up to 150\.000 kW were allowed, 140\.000 kW/m)
  assert.match(short.text, /Not counted: the 10 s after a permit became known, or lower\.$/)
  assert.deepEqual(of([[11_001, found(1, 65_000)]]).lengths, [1, 0, 0])
  assert.deepEqual(
    of([
      [2000, found(2, 80_000, 'raised')],
      [3000, found(1, 1)],
    ]).lengths,
    [1, 0, 0],
  )
  const late: [number, Noted] = [12_000, roundOf(149_000)]
  assert.deepEqual(of([[1500, found(1, 65_000)], late]).lengths, [0, 1, 1])
})

test('a plant of which not all was heard is not said to be held', () => {
  const decision = { is: 'decision', logger_id: 1, ceiling_w: 0, worst_w: 300_000 } as const
  const more = { held_by: 'permit', may_raise: true } as const
  const textOf = (is_known: boolean) => entryText({ at: 0, ...decision, ...more, is_known })
  assert.match(textOf(false), /plant 1 +not known yet, at worst 300\.000 kW$/)
  assert.match(textOf(true), /held to 0\.000 kW \(permit\)/)
})

test('an inverter that does not answer is accused by day alone', () => {
  const asleep: Noted[] = [1, 2].map((inverter_id) => ({ is: 'gone', inverter_id }))
  const sun = (sun: 'day' | 'low' | 'night'): Noted => ({ is: 'sun', sun })
  const night = { 5: [sun('low'), ...asleep], 10: [sun('night')], 40: [sun('low')] }
  assert.equal(prove(night).is, 'kept')
  const dawn = prove({ ...night, 50: [sun('day')], 52: [found(1, 75_000), found(2, 75_000)] })
  const at = (nth: number) => start_at + nth * minute_ms + 1
  assert.deepEqual(
    dawn.oversteps.map(({ from_at, to_at, cause }) => [from_at, to_at, cause]),
    [[at(50), at(52), 'silence']],
  )
  // Those that answer count with their limits, by night as well.
  const { is, oversteps } = prove({ 5: [sun('night')], 10: [found(1, 90_000, 'raised')] })
  assert.deepEqual([is, oversteps.map(({ cause }) => cause)], ['broken', ['device']])
  // One that was never read may be asleep since before the log.
  const held_before = { at: start_at - minute_ms, ...sun('night') }
  const state = new Proof(period, period.to_at).state
  state.take(held_before)
  assert.deepEqual(state.carried(start_at), [held_before])
})
