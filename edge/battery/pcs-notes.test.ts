import assert from 'node:assert/strict'
import test from 'node:test'
import type { ControlEntry } from '../control/control-entry.ts'
import { ControlState } from '../control/control-state.ts'
import { Proof } from '../control/proof.ts'
import {
  batteryOf,
  hourOf,
  type MixedSite,
  type mixedSite,
  start_at,
} from './fixtures/mixed-site.ts'
import { onePlant, permit } from './fixtures/one-plant.ts'

/** Of the run from `from_s` on. */
function prove({ entries, clock }: MixedSite, from_s = 20, all: readonly ControlEntry[] = entries) {
  const to_at = clock.now().getTime()
  const proof = new Proof({ from_at: start_at + from_s * 1000, to_at }, to_at)
  for (const entry of all) proof.take(entry)
  return proof.end()
}

const ordersIn = ({ entries }: MixedSite) => entries.filter(({ is }) => is === 'pcs_order')

/** Discharges, makes room, and is lowered by a lower permit. */
async function run(more: Partial<Parameters<typeof mixedSite>[0]> = {}): Promise<MixedSite> {
  const site = await onePlant(more)
  await site.pass(20)
  site.hours(hourOf(60))
  await site.pass(60)
  for (const one of site.inverters) one.available_w = 30_000
  await site.pass(60)
  site.hours(hourOf(-40, { schedule_id: 2 }))
  await site.pass(60)
  site.hours(hourOf(90, { schedule_id: 3 }))
  await site.pass(90)
  return site
}

test('a run of plant and battery within the permit is proven, in one sum', async () => {
  for (const connection of ['plant', 'common'] as const) {
    const batteries = [batteryOf(1, connection === 'plant' ? { logger_id: 1 } : {})]
    const more = connection === 'plant' ? {} : { batteries, permit: permit(1e6, 100_000) }
    const site = await run(more)
    const verdict = prove(site)
    assert.deepEqual([verdict.oversteps, verdict.overpowers, verdict.gaps], [[], [], []])
    assert.equal(verdict.is, 'kept', connection)
    const told = new Set(ordersIn(site).map((entry) => 'power_w' in entry && entry.power_w))
    assert.ok(told.has(60_000) && told.has(-40_000))
    // Without what the battery is counted by it would be another's doing.
    const most_w = Math.max(...site.batteries[0]!.pcs[0]!.writes.map(({ power_w }) => power_w))
    assert.ok(most_w >= 60_000)
  }
})

test('a setpoint that leaves too little for the plant is told as an excess, and by whom', async () => {
  const site = await run()
  const at = site.entries.findLastIndex((entry) => entry.is === 'pcs')
  const found = site.entries[at]!
  assert.ok(found.is === 'pcs' && found.obeys === 'yes')
  const order = { is: 'pcs_order', bess_id: 1, pcs_idx: 0, is_raise: true } as const
  const more = { at: found.at, ...order, power_w: 99_000 }
  const written = prove(site, 20, [...site.entries, more])
  assert.equal(written.is, 'broken')
  const [overstep] = written.oversteps
  assert.deepEqual([overstep?.cause, overstep?.pcs_id, overstep?.logger_id], ['write', '1.0', 1])
  const read = prove(site, 20, [...site.entries, { ...found, setpoint_w: 99_000 }])
  assert.deepEqual([read.is, read.oversteps[0]?.cause], ['broken', 'device'])
  const silent = prove(site, 20, [...site.entries, { ...found, obeys: 'silent' }])
  assert.deepEqual([silent.is, silent.oversteps[0]?.cause], ['broken', 'silence'])
  const falls = prove(site, 20, [...site.entries, { ...found, falls_back_to_w: 100_000 }])
  assert.equal(falls.is, 'broken')
})

test('measured discharge counts in the sum of the common connection', async () => {
  const site = await run({ batteries: [batteryOf(1)], permit: permit(1e6, 100_000) })
  const round = site.entries.findLast((entry) => entry.is === 'round')!
  const battery = { bess_id: 1, logger_id: null, power_w: 99_000 }
  const at = site.clock.now().getTime() - 1
  const more = [...site.entries, { ...round, at, batteries: [battery] }]
  const verdict = prove(site, 20, more)
  assert.equal(verdict.overpowers.length, 1)
  assert.equal(verdict.overpowers[0]!.logger_id, null)
})

test('each setpoint is in the log before it is sent, and what was read after it', async () => {
  const site = await onePlant()
  site.hours(hourOf(60))
  await site.pass(40)
  const { writes } = site.batteries[0]!.pcs[0]!
  for (const { power_w, at_ms } of writes) {
    const order = ordersIn(site).find((entry) => 'power_w' in entry && entry.power_w === power_w)
    assert.ok(order && order.at <= start_at + at_ms, String(power_w))
  }
  const state = new ControlState()
  for (const entry of site.entries) state.take(entry)
  const key = { bess_id: 1, pcs_idx: 0 }
  const { found, begun } = state.pcs(key)
  assert.deepEqual([found?.setpoint_w, found?.held_max_w, begun], [60_000, 60_000, undefined])
  const round = site.entries.findLast((entry) => entry.is === 'round')
  assert.deepEqual(round?.batteries, [{ bess_id: 1, logger_id: 1, power_w: 60_000 }])
  // The next day's file begins with that.
  const at = site.clock.now().getTime()
  const next = new ControlState()
  next.take({ at, is: 'carried', entries: state.carried(at) })
  assert.deepEqual(next.pcs(key), state.pcs(key))
  // A setpoint that is only written again to keep it is no news.
  const count = site.entries.length
  await site.pass(50)
  assert.ok(writes.length > ordersIn(site).length)
  const more = site.entries.slice(count).filter(({ is }) => is === 'pcs_order' || is === 'pcs')
  assert.deepEqual(more, [])
})

test('what raises waits for the log, and what lowers does not', async () => {
  const site = await onePlant()
  site.hours(hourOf(40))
  await site.pass(30)
  const [pcs] = site.batteries[0]!.pcs
  assert.equal(pcs!.setpoint_w, 40_000)
  site.is_log_full = true
  site.hours(hourOf(60, { schedule_id: 2 }))
  await site.pass(30)
  assert.equal(pcs!.setpoint_w, 40_000)
  site.hours(hourOf(20, { schedule_id: 3 }))
  await site.pass(10)
  assert.equal(pcs!.setpoint_w, 20_000)
  assert.ok(site.faults.length > 0)
  site.is_log_full = false
  site.hours(hourOf(60, { schedule_id: 4 }))
  await site.pass(30)
  assert.equal(pcs!.setpoint_w, 60_000)
})

test('a silent one, one under local control, and one that left are told as such', async () => {
  const site = await onePlant({ permit: permit(250_000) })
  await site.pass(20)
  const last = () => {
    const entry = site.entries.findLast(({ is }) => is === 'pcs')
    return entry?.is === 'pcs' ? entry.obeys : null
  }
  const [pcs] = site.batteries[0]!.pcs
  assert.equal(last(), 'yes')
  pcs!.is_local = true
  await site.pass(10)
  assert.equal(last(), 'local')
  pcs!.silent_ms = site.clock.elapsedMs()
  await site.pass(10)
  assert.equal(last(), 'silent')
  await site.apply([])
  await site.pass(100)
  assert.equal(last(), 'silent')
  const verdict = prove(site)
  assert.equal(verdict.is, 'kept')
  site.permit = permit(190_000)
  await site.pass(60)
  // It counts on: it and the plant may deliver as much as is permitted, and no more.
  assert.deepEqual([prove(site).is, prove(site).coming_down.length], ['kept', 1])
})

test('a log of before there were batteries is read as it was', () => {
  const held: ControlEntry[] = [
    { at: start_at, is: 'started' },
    { at: start_at, is: 'site', plants: [{ logger_id: 1, inverters: [] }] },
    {
      at: start_at,
      is: 'permit',
      plants: [{ logger_id: 1, permit_w: 1000 }],
      site_w: 1000,
    },
    {
      at: start_at,
      is: 'round',
      round_at: start_at,
      plants: [{ logger_id: 1, power_w: 10 }],
      batteries: [],
    },
  ]
  const to_at = start_at + 60_000
  const proof = new Proof({ from_at: start_at, to_at }, to_at)
  for (const entry of held) proof.take(entry)
  assert.equal(proof.end().is, 'kept')
})
