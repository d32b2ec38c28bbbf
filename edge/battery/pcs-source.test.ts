import assert from 'node:assert/strict'
import test from 'node:test'
import { SourceBook } from '../control/source-book.ts'
import type { PowerControl, PowerState, PowerTraits } from '../drivers/power-control.ts'
import { PcsSource, pcsGroups, pcsTraits, savedPcs } from './pcs-source.ts'

const facts = { rated_w: 100, fresh_ms: 6000 }
const key = { bess_id: 1, pcs_idx: 0 }
const state = (setpoint_w: number | null, more: Partial<PowerState> = {}): PowerState => ({
  setpoint_w,
  discharge_max_w: 90,
  charge_max_w: 90,
  revert: null,
  is_remote: true,
  ...more,
})
const controlOf = (traits: Partial<PowerTraits> = {}): PowerControl => ({
  traits: { stops_after_ms: 30_000, applies_within_ms: 0, ramp_ms: 0, ...traits },
  settable: (power_w) => power_w,
  readPower: () => Promise.reject(new Error('it is not asked')),
  writePower: () => Promise.reject(new Error('it is not told')),
  beat: async () => {},
  arm: async () => [],
})
const control = controlOf()

/** One that was not read yet. @param before_w the most that an earlier run may have commanded */
function unreadPcs(before_w: number | null = null) {
  const book = new SourceBook(0)
  const traits = { ...pcsTraits(key, facts), groups: pcsGroups([1]) }
  if (before_w !== null) book.load([savedPcs(traits, before_w)], 0)
  const power = new PcsSource(book, key, { facts, now_ms: 0 })
  book.describe('pcs', [power.traits])
  return power
}

function pcsAt(setpoint_w: number | null, more: Partial<PowerState> = {}, by = control) {
  const power = unreadPcs()
  power.onRead(state(setpoint_w, more), by, 0)
  return power
}

/** One that held 50 W for 100 s. */
function settledPcs(by: PowerControl): PcsSource {
  const power = unreadPcs()
  for (let now_ms = 0; now_ms <= 100_000; now_ms += 1000) power.onRead(state(50), by, now_ms)
  return power
}

/** A write that is answered. */
function told(power: PcsSource, power_w: number, now_ms: number): void {
  power.begin(power_w, now_ms)
  power.done(power_w, now_ms, true)
}

test('it needs its latency and its ramp to come down', () => {
  const slow = controlOf({ applies_within_ms: 20_000, ramp_ms: 30_000 })
  const [own, quick] = [pcsAt(40, {}, slow), pcsAt(40)].map(({ source }) => source)
  assert.equal(pcsAt(40, {}, slow).comes_down_ms, 22_000 + own!.ramp_ms)
  assert.equal(pcsAt(40).comes_down_ms, 15_000 + quick!.ramp_ms)
  assert.equal(unreadPcs().comes_down_ms, 0)
})

test('it counts with its setpoint, and charging with nothing', () => {
  assert.equal(pcsAt(40).worst_w(0), 40)
  assert.equal(pcsAt(-40).worst_w(0), 0)
})

test('it counts with all that it can where nobody knows, or where it obeys another', () => {
  assert.equal(pcsAt(null).worst_w(0), 90)
  const local = pcsAt(0, { is_remote: false })
  assert.deepEqual([local.worst_w(0), local.unknownWhy(0)], [100, 'local'])
  const silent = pcsAt(40)
  assert.deepEqual([silent.worst_w(6000), silent.worst_w(6001)], [40, 100])
  assert.equal(silent.unknownWhy(6001), 'silent')
  const lost = pcsAt(40)
  lost.onHeartbeat(true)
  assert.equal(lost.worst_w(0), 100)
  lost.onRead(state(40), control, 1000)
  assert.deepEqual([lost.worst_w(1000), lost.unknownWhy(1000)], [100, 'lost'])
  assert.equal(unreadPcs().worst_w(0), 100)
})

test('until it is read since the start it counts with what an earlier run left, and after that', () => {
  const power = unreadPcs(30)
  assert.equal(power.worst_w(1000), 30)
  power.onRead(state(0), control, 2000)
  assert.equal(power.worst_w(2000), 30)
  power.onRead(state(0), control, 59_000)
  assert.equal(power.worst_w(59_000), 30)
  power.onRead(state(0), control, 60_000)
  assert.equal(power.worst_w(60_000), 0)
})

test('what it is told counts from when it is begun, until it is shown', () => {
  const power = pcsAt(0)
  power.begin(50, 0)
  assert.equal(power.worst_w(0), 50)
  power.done(50, 50, true)
  power.onRead(state(50), control, 100)
  told(power, 20, 200)
  assert.equal(power.worst_w(300), 50)
  power.onRead(state(20), control, 400)
  assert.equal(power.worst_w(400), 20)
  assert.equal(power.isAt(20), true)
})

test('what it did not answer may come through for a while, also after something newer', () => {
  const power = pcsAt(0)
  power.begin(50, 0)
  power.done(50, 0, false)
  power.onRead(state(0), control, 2000)
  assert.equal(power.worst_w(2000), 50)
  told(power, 10, 3000)
  power.onRead(state(10), control, 3100)
  assert.equal(power.worst_w(3100), 50)
  power.onRead(state(10), control, 15_000)
  assert.equal(power.worst_w(15_000), 10)
})

test('what was never sent does not count', () => {
  const power = pcsAt(0)
  power.begin(50, 0)
  power.withdraw(50)
  assert.equal(power.worst_w(0), 0)
})

test('what it falls back to counts before it does, and what is measured while it is fresh', () => {
  const revert = { in_ms: 40_000, to_w: 80 }
  const power = pcsAt(20, { revert })
  assert.deepEqual([power.worst_w(0), power.held_w(0)], [20, 20])
  power.onRead(state(20, { revert: { in_ms: 30_000, to_w: 80 } }), control, 10_000)
  assert.equal(power.worst_w(10_000), 80)
  const over = pcsAt(20)
  over.onPower(35, 0)
  assert.equal(over.worst_w(0), 35)
  assert.equal(over.held_w(0), 20, 'to tell it 30 is to raise it')
})

test('its power may come down from its old setpoint until the ramp is over, over restarts too', () => {
  const slow = controlOf({ ramp_ms: 20_000 })
  const power = settledPcs(slow)
  const poll = (of: PcsSource, from_ms: number, to_ms: number) => {
    for (let now_ms = from_ms; now_ms <= to_ms; now_ms += 1000) of.onRead(state(10), slow, now_ms)
  }
  told(power, 10, 100_500)
  poll(power, 101_000, 120_000)
  assert.equal(power.held_w(120_000), 10)
  assert.equal(power.worst_w(120_000), 50)
  assert.equal(power.mayHold_w(120_000), 50)
  poll(power, 121_000, 121_000)
  assert.equal(power.worst_w(121_000), 10)
  const restarted = unreadPcs(50)
  poll(restarted, 0, 19_000)
  assert.equal(restarted.worst_w(19_000), 50)
  poll(restarted, 20_000, 60_000)
  assert.equal(restarted.worst_w(60_000), 10)
})

test('the same setpoint again, before its timer ends, does not prolong the ramp', () => {
  const unknown = controlOf({ ramp_ms: null })
  const power = settledPcs(unknown)
  told(power, 10, 100_500)
  for (let now_ms = 101_000; now_ms <= 161_000; now_ms += 1000) {
    power.onRead(state(10), unknown, now_ms)
    if (now_ms % 15_000 === 0) told(power, 10, now_ms + 500)
  }
  assert.equal(power.worst_w(161_000), 10)
})

test('a PCS of which nothing says how fast it follows comes down within 60 s', () => {
  const unknown = controlOf({ ramp_ms: null })
  const power = settledPcs(unknown)
  for (let now_ms = 101_000; now_ms <= 161_000; now_ms += 1000) {
    if (now_ms === 161_000) assert.equal(power.worst_w(160_999), 50)
    power.onRead(state(0), unknown, now_ms)
  }
  assert.equal(power.worst_w(161_000), 0)
})

test('where the edge falls silent one with a timer stops, and one without goes on', () => {
  const fallbackOf = ({ source }: PcsSource) => [source.has_no_watchdog, source.falls_back_w]
  assert.deepEqual(fallbackOf(pcsAt(40)), [false, 0])
  assert.deepEqual(fallbackOf(pcsAt(40, {}, controlOf({ stops_after_ms: null }))), [true, null])
})
