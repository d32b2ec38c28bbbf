import assert from 'node:assert/strict'
import test from 'node:test'
import { BusError } from '../bus/bus-error.ts'
import { SourceBook } from '../control/source-book.ts'
import type { PowerControl, PowerState } from '../drivers/power-control.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { ControlledPcs, type PcsLook } from './controlled-pcs.ts'
import { PcsSource } from './pcs-source.ts'

const facts = { rated_w: 100, fresh_ms: 6000 }
const key = { bess_id: 1, pcs_idx: 0 }

/** One that holds 0 W, with what becomes of a write. */
function pcsWith(write: (power_w: number, mayStill: () => boolean) => Promise<void>) {
  const clock = virtualClock('2026-06-21T10:00:00Z')
  const book = new SourceBook(0)
  const power = new PcsSource(book, key, { facts, now_ms: 0 })
  book.describe('pcs', [power.traits])
  const pcs = new ControlledPcs({ pcs_idx: 0, rated_w: 100 }, power, clock)
  const state: PowerState = {
    setpoint_w: 0,
    discharge_max_w: 100,
    charge_max_w: 100,
    revert: null,
    is_remote: true,
  }
  const control: PowerControl = {
    traits: { stops_after_ms: null, applies_within_ms: 0, ramp_ms: 0 },
    settable: (power_w) => power_w,
    readPower: async () => ({ ...state }),
    async writePower(power_w, mayStill = () => true) {
      await write(power_w, mayStill)
      mayStill()
      state.setpoint_w = power_w
    },
    beat: async () => {},
    arm: async () => [],
  }
  const poll = (power_w = 0, more: Partial<PcsLook> = {}) => {
    const well = { took_ms: 0, is_lost: false, is_off: false, alarm_code: null }
    pcs.onRead({ control, power: { ...state }, power_w, ...well, ...more })
  }
  /** It is polled each 2 s, and told each second what there is to be told. */
  const pass = async (seconds: number, wanted_w: () => number) => {
    for (let nth = 0; nth < seconds; nth += 1) {
      if (nth % 2 === 1) poll()
      const power_w = wanted_w()
      if (pcs.needs(power_w)) await pcs.carryOut({ power_w, mayStill: () => true })
      await clock.advance(1000)
    }
  }
  poll()
  return { clock, pcs, state, poll, pass }
}

test('a slow poll says nothing of a setpoint that may take effect after the poll began', async () => {
  const { clock, pcs, poll } = pcsWith(async () => {})
  pcs.power.begin(50, 0)
  pcs.power.done(50, 0, false)
  await clock.advance(16_000)
  poll(0, { took_ms: 2000 })
  assert.equal(pcs.power.worst_w(16_000), 50)
  await clock.advance(2000)
  poll(0, { took_ms: 2000 })
  assert.equal(pcs.power.worst_w(18_000), 0)
})

const refusal = () => new BusError('exception', 'it refuses', 4)
const isUsable = ({ clock, pcs }: ReturnType<typeof pcsWith>) => pcs.isUsable(clock.elapsedMs())

test('one that refuses everything has failed, also where it holds what it refused', async () => {
  let is_refusing = true
  const it = pcsWith(async (_, mayStill) => {
    mayStill()
    if (is_refusing) throw refusal()
  })
  let failed_s = 0
  let silent_s = 0
  const wanted_w = () => {
    failed_s += it.pcs.failure === null ? 0 : 1
    silent_s += it.pcs.power.isFresh(it.clock.elapsedMs()) ? 0 : 1
    return isUsable(it) ? 50 : 0
  }
  await it.clock.advance(1000)
  await it.pass(10, wanted_w)
  assert.equal(it.pcs.failure, 'device_rejected')
  failed_s = 0
  await it.pass(300, wanted_w)
  assert.deepEqual([failed_s, silent_s], [300, 0])
  is_refusing = false
  await it.pass(100, wanted_w)
  assert.equal(it.pcs.failure, null)
  assert.equal(it.state.setpoint_w, 50)
})

test('one that takes only 0 W is asked for more now and then', async () => {
  let tries = 0
  const it = pcsWith(async (power_w, mayStill) => {
    if (power_w === 0) return
    mayStill()
    tries += 1
    throw refusal()
  })
  await it.pass(10, () => (isUsable(it) ? 50 : 0))
  let failed_s = 0
  await it.pass(300, () => {
    failed_s += it.pcs.failure === null ? 0 : 1
    return isUsable(it) ? 50 : 0
  })
  assert.ok(tries >= 6 && tries <= 30, String(tries))
  assert.deepEqual([it.state.setpoint_w, failed_s], [0, 300])
})

test('one that could not be reached for a moment goes on after that', async () => {
  let is_away = false
  const it = pcsWith(async () => {
    if (is_away) throw new BusError('timeout', 'no answer')
  })
  await it.pass(2, () => 50)
  await it.pass(2, () => 0)
  is_away = true
  await it.pass(8, () => (isUsable(it) ? 50 : 0))
  assert.equal(it.pcs.failure, 'timeout')
  is_away = false
  await it.pass(100, () => (isUsable(it) ? 50 : 0))
  assert.equal(it.state.setpoint_w, 50)
})

test('what waited for a busy bus may come through long after it was begun', async () => {
  const it = pcsWith(async (_, mayStill) => {
    await new Promise<void>((resolve) => it.clock.after(20_000, resolve))
    mayStill()
    throw new BusError('timeout', 'no answer')
  })
  const writing = it.pcs.carryOut({ power_w: 50, mayStill: () => true })
  await it.clock.advance(20_000)
  await writing
  it.poll()
  const worst = () => it.pcs.power.worst_w(it.clock.elapsedMs())
  for (let nth = 0; nth < 7; nth += 1) {
    it.poll()
    assert.equal(worst(), 50)
    await it.clock.advance(2000)
  }
  await it.clock.advance(1000)
  it.poll()
  assert.equal(worst(), 0)
})

test('one that does the opposite of what it is told stands still', async () => {
  const it = pcsWith(async () => {})
  await it.pcs.carryOut({ power_w: -50, mayStill: () => true })
  for (const power_w of [90, 80, 70, 60, 50, 40, 30, 20, 0, 30, 30, -50]) it.poll(power_w)
  assert.equal(it.pcs.alarm_code, null, 'on its way through zero')
  for (let nth = 0; nth < 5; nth += 1) it.poll(50)
  assert.equal(it.pcs.alarm_code, 'pcs_contrary')
  await it.pcs.carryOut({ power_w: 0, mayStill: () => true })
  for (let nth = 0; nth < 9; nth += 1) it.poll(0)
  assert.deepEqual([it.pcs.alarm_code, isUsable(it)], ['pcs_contrary', false])
  it.pcs.onGone()
  it.poll(0)
  assert.equal(it.pcs.alarm_code, null)
})

test('one that is off is told power, and after a while in which it did not start rests', async () => {
  let is_off = true
  const it = pcsWith(async () => {})
  const pass = async (seconds: number) => {
    let told_s = 0
    for (let nth = 0; nth < seconds; nth += 1) {
      it.poll(0, { is_off })
      const power_w = isUsable(it) ? 50 : 0
      if (it.pcs.needs(power_w)) await it.pcs.carryOut({ power_w, mayStill: () => true })
      told_s += it.state.setpoint_w === 50 ? 1 : 0
      await it.clock.advance(1000)
    }
    return told_s
  }
  it.poll(0, { is_off })
  assert.equal(await pass(30), 30)
  const told_s = await pass(600)
  assert.ok(told_s >= 60 && told_s <= 180, String(told_s))
  assert.equal(it.pcs.alarm_code, 'pcs_off')
  is_off = false
  await pass(2)
  assert.deepEqual([it.state.setpoint_w, it.pcs.alarm_code], [50, null])
  assert.equal(await pass(300), 300)
})
