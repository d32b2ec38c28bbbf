import assert from 'node:assert/strict'
import test from 'node:test'
import type { PowerState } from '../drivers/power-control.ts'
import { PcsPower } from './pcs-power.ts'

const facts = { rated_w: 100, fresh_ms: 6000, revert_margin_ms: 4000, first_ms: 6000 }
const state = (setpoint_w: number | null, more: Partial<PowerState> = {}): PowerState => ({
  setpoint_w,
  discharge_max_w: 90,
  charge_max_w: 90,
  revert: null,
  is_remote: true,
  ...more,
})
/** Of a program that ran on for long. */
const pcsAt = (setpoint_w: number | null, more: Partial<PowerState> = {}) => {
  const power = new PcsPower(facts, 0, 0)
  power.onRead(state(setpoint_w, more), { ramp_ms: 0 }, 0)
  return power
}

test('it counts with its setpoint, and charging with nothing', () => {
  assert.equal(pcsAt(40).worst_w(0), 40)
  assert.equal(pcsAt(-40).worst_w(0), 0)
})

test('it counts with all that it can where nobody knows, or where it obeys another', () => {
  assert.equal(pcsAt(null).worst_w(0), 90)
  assert.equal(pcsAt(0, { is_remote: false }).worst_w(0), 100, 'what limits it to 90 may end')
  assert.equal(pcsAt(40).worst_w(6000), 40)
  assert.equal(pcsAt(40).worst_w(6001), 100)
  assert.equal(new PcsPower(facts, 0, 0).worst_w(6000), 100)
})

test('until it is read since the start it counts with what an earlier run left, and after that', () => {
  const power = new PcsPower(facts, 30, 0)
  assert.equal(power.worst_w(1000), 30)
  power.onRead(state(0), { ramp_ms: 0 }, 2000)
  assert.equal(power.worst_w(2000), 30)
  power.onRead(state(0), { ramp_ms: 0 }, 17_000)
  assert.equal(power.worst_w(17_000), 0)
})

test('what it is told counts from when it is begun, until it is shown', () => {
  const power = pcsAt(0)
  power.begin(50, 0)
  assert.equal(power.worst_w(0), 50)
  power.taken()
  power.onRead(state(50), { ramp_ms: 0 }, 100)
  power.begin(20, 200)
  power.taken()
  assert.equal(power.worst_w(300), 50)
  power.onRead(state(20), { ramp_ms: 0 }, 400)
  assert.equal(power.worst_w(400), 20)
  assert.equal(power.is_proven, true)
})

test('what it did not answer may come through for a while, also after something newer', () => {
  const power = pcsAt(0)
  power.begin(50, 0)
  power.onRead(state(0), { ramp_ms: 0 }, 2000)
  assert.equal(power.worst_w(2000), 50)
  power.begin(10, 3000)
  power.taken()
  power.onRead(state(10), { ramp_ms: 0 }, 3100)
  assert.equal(power.worst_w(3100), 50)
  power.onRead(state(10), { ramp_ms: 0 }, 15_000)
  assert.equal(power.worst_w(15_000), 10)
})

test('what was never sent does not count', () => {
  const power = pcsAt(0)
  power.begin(50, 0)
  power.withdraw()
  assert.equal(power.worst_w(0), 0)
})

test('what it falls back to counts before it does, and what is measured while it is fresh', () => {
  const power = pcsAt(20, { revert: { in_ms: 5000, to_w: 80 } })
  assert.equal(power.worst_w(999), 20)
  assert.equal(power.worst_w(1000), 80)
  const over = pcsAt(20)
  over.onPower(35, 0)
  assert.equal(over.worst_w(0), 35)
  assert.equal(over.held_w(0), 20, 'to tell it 30 is to raise it')
})

test('its power may come down from its old setpoint until the ramp is over, over restarts too', () => {
  const power = new PcsPower(facts, 0, 0)
  const slow = { ramp_ms: 20_000 }
  const poll = (of: PcsPower, from_ms: number, to_ms: number) => {
    for (let now_ms = from_ms; now_ms <= to_ms; now_ms += 1000) of.onRead(state(10), slow, now_ms)
  }
  power.onRead(state(50), slow, 0)
  power.begin(10, 500)
  power.taken()
  poll(power, 1000, 20_000)
  assert.equal(power.held_w(20_000), 10)
  assert.equal(power.worst_w(20_000), 50)
  assert.equal(power.mayHold_w(20_000), 50)
  const restarted = new PcsPower(facts, 50, 20_000)
  poll(restarted, 20_000, 39_000)
  assert.equal(restarted.worst_w(39_000), 50)
  poll(restarted, 40_000, 40_000)
  assert.equal(restarted.worst_w(40_000), 10)
  poll(power, 21_000, 21_000)
  assert.equal(power.worst_w(21_000), 10)
})

test('a PCS of which nothing says how fast it follows comes down within 60 s', () => {
  const power = new PcsPower(facts, 0, 0)
  power.onRead(state(50), { ramp_ms: null }, 0)
  for (let now_ms = 1000; now_ms <= 60_000; now_ms += 1000) {
    power.onRead(state(0), { ramp_ms: null }, now_ms)
  }
  assert.equal(power.worst_w(60_999), 50)
  assert.equal(power.worst_w(61_000), 0)
})
