import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import { emptyReading } from '@heliograph/domain/readings'
import { SourceBook } from '../control/source-book.ts'
import type { BatteryAnswer, PcsAnswer } from '../drivers/driver.ts'
import type { PowerControl, PowerState } from '../drivers/power-control.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { ControlledUnit } from './controlled-unit.ts'
import { decideDispatch } from './decide-dispatch.ts'
import { batteryOf, start } from './fixtures/mixed-site.ts'

const stamp = { measured_at: 0, quality: 'good' } as const
const at = { connection: 'a', unit_id: 1, driver: 'sunspec' } as const

/** A unit of one PCS whose register holds steps of `step_w`. */
function unitOf(more: Partial<Battery>, step_w: number) {
  const clock = virtualClock(start)
  const battery = batteryOf(1, { pcs: [{ pcs_idx: 0, rated_power_kw: 100, ...at }], ...more })
  const book = new SourceBook(0)
  const unit = new ControlledUnit(battery, { interval_s: 2, stopwatch: clock }, book)
  book.describe(
    'pcs',
    unit.pcs.map(({ power }) => power.traits),
  )
  const state: PowerState = {
    setpoint_w: 0,
    discharge_max_w: 100_000,
    charge_max_w: 100_000,
    revert: null,
    is_remote: true,
  }
  let pcs_values: Partial<PcsAnswer['pcs']> = { state: 'running' }
  let beats = 0
  const beat = async () => {
    beats += 1
  }
  const control: PowerControl = {
    traits: { stops_after_ms: null, applies_within_ms: 0, ramp_ms: 0 },
    settable: (power_w) => Math.trunc(power_w / step_w) * step_w,
    readPower: async () => ({ ...state }),
    async writePower(power_w) {
      state.setpoint_w = power_w
    },
    beat,
    arm: async () => [],
  }
  const device = { identity: {}, beat } as never
  const read = (soc_pct = 50, alarm_1 = 0, more: Partial<BatteryAnswer['battery']> = {}) => {
    const values = { ...emptyReading('bess'), soc_pct, alarm_1, state: 'standby' as const, ...more }
    const alarm_table = 'sunspec-battery-802'
    const answer = { battery: values, alarm_table, heartbeat: null, is_remote: null }
    unit.onBattery({ device, answer, heartbeat_ok: null, stamp })
    const pcs = { ...emptyReading('pcs'), ac_power_kw: 0, ...pcs_values }
    const power = { ...state }
    const told = { pcs, alarm_table: null, heartbeat: null, power }
    unit.onPcs(0, { control, answer: told, heartbeat_ok: null, stamp })
  }
  /** A tick of the dispatcher that has all the room. */
  const tick = async (asked_w: number) => {
    const room = { discharge_w: 1e6, tier: 'permit' } as const
    const { setpoint_w } = decideDispatch({ ...unit.now([]), asked_w, room, granted_w: 1e6 })
    unit.decided()
    const [pcs] = unit.pcs
    const power_w = pcs!.settable(setpoint_w)
    if (pcs!.needs(power_w)) await pcs!.carryOut({ power_w, mayStill: () => true })
    return state.setpoint_w
  }
  const setPcs = (values: typeof pcs_values) => {
    pcs_values = values
  }
  return { clock, unit, read, tick, beats: () => beats, setPcs }
}

test('a ramp that is slower than the steps of a register gets there all the same', async () => {
  for (const tick_ms of [1000, 50]) {
    const { clock, read, tick } = unitOf({ ramp_rate_kw_s: 0.2 }, 1000)
    read()
    let before_w: number | null = 0
    for (let ms = 0; ms <= 100_000; ms += tick_ms) {
      if (ms % 2000 === 0) read()
      before_w = await tick(-50_000)
      const most_w = 2000 + (200 * ms) / 1000
      assert.ok(Math.abs(before_w!) <= most_w, `${before_w} W after ${ms} ms`)
      await clock.advance(tick_ms)
    }
    assert.ok(before_w! <= -19_000, String(before_w))
  }
})

test('a register of coarse steps is gone along step by step, and none is a stop', async () => {
  for (const [step_w, way] of [
    [5000, -1],
    [30_000, -1],
    [30_000, 1],
  ] as const) {
    const { clock, read, tick } = unitOf({ ramp_rate_kw_s: 0.2 }, step_w)
    read()
    const seen = new Set<number>()
    for (let s = 0; s <= 600; s += 1) {
      if (s % 2 === 0) read()
      const told_w = Math.abs((await tick(way * 100_000))!)
      seen.add(told_w)
      assert.ok(told_w <= step_w + 200 * s, `${told_w} W after ${s} s`)
      await clock.advance(1000)
    }
    const steps = [...seen]
    const gone = steps.slice(1).map((w, nth) => w - steps[nth]!)
    assert.deepEqual([...new Set(gone)], [step_w], `steps of ${step_w} W`)
    assert.ok(Math.max(...steps) >= 90_000, `${Math.max(...steps)} W`)
  }
})

test('a fast ramp is kept to however often it is decided', async () => {
  const { clock, read, tick } = unitOf({ ramp_rate_kw_s: 20 }, 1)
  read()
  await clock.advance(5000)
  read()
  for (let ms = 0; ms <= 3000; ms += 50) {
    if (ms % 2000 === 0) read()
    const told_w = (await tick(100_000))!
    assert.ok(told_w <= 42_000 + (20_000 * ms) / 1000, `${told_w} W after ${ms} ms`)
    if (ms === 3000) assert.ok(told_w >= 60_000, String(told_w))
    await clock.advance(50)
  }
})

test('signs of life of ours go out once a second, however often is decided', async () => {
  const { clock, unit, read, beats } = unitOf({}, 1)
  read()
  for (let ms = 0; ms < 10_000; ms += 100) {
    await unit.beat()
    await clock.advance(100)
  }
  // To the battery and its PCS; ticks do not come exactly at whole seconds.
  assert.ok(beats() >= 20 && beats() <= 24, String(beats()))
})

test('dispatch leaves the reserve for what nobody planned', async () => {
  const { clock, read, tick } = unitOf({ soc_min_pct: 10, soc_reserve_pct: 30 }, 1)
  await clock.advance(10_000)
  read(31)
  assert.equal(await tick(20_000), 20_000)
  read(30)
  assert.equal(await tick(20_000), 0)
  await clock.advance(1000)
  read(30)
  assert.equal(await tick(-20_000), -20_000)
})

test('more than full is told as full', () => {
  const { unit, read } = unitOf({}, 1)
  read(100.4)
  assert.equal(unit.soc_pct, 100)
})

test('an alarm of the state of charge alone does not keep it from going back', async () => {
  const under_soc_min = 2 ** 13
  const over_soc_max = 2 ** 15
  const under_volt = 2 ** 11
  const cases: [alarm_1: number, asked_w: number, setpoint_w: number][] = [
    [under_soc_min, 50_000, 0],
    [under_soc_min, -50_000, -20_000],
    [over_soc_max, -50_000, 0],
    [over_soc_max, 50_000, 20_000],
    [under_soc_min + under_volt, -50_000, 0],
  ]
  for (const [alarm_1, asked_w, setpoint_w] of cases) {
    const { clock, read, tick } = unitOf({}, 1)
    await clock.advance(1000)
    read(50, alarm_1)
    assert.equal(await tick(asked_w), setpoint_w, `${alarm_1} ${asked_w}`)
  }
})

test('a battery and a PCS that are off while they are connected start when they are asked', async () => {
  const cases: [Partial<BatteryAnswer['battery']>, Partial<PcsAnswer['pcs']>, number][] = [
    [{ state: 'off' }, { state: 'running' }, -20_000],
    [{ state: 'off', contactor_state: 'open' }, { state: 'running' }, 0],
    [{}, { state: 'off' }, -20_000],
    [{}, { state: 'off', ac_breaker_closed: 1 }, -20_000],
    [{}, { state: 'off', ac_breaker_closed: 0 }, 0],
    [{ state: 'disconnected' }, { state: 'running' }, 0],
    [{}, { state: 'shutting_down' }, 0],
  ]
  for (const [values, pcs_values, setpoint_w] of cases) {
    const { clock, read, tick, setPcs } = unitOf({}, 1)
    setPcs(pcs_values)
    await clock.advance(1000)
    read(50, 0, values)
    assert.equal(await tick(-50_000), setpoint_w, JSON.stringify([values, pcs_values]))
  }
})

test('the protection of the state of charge bars only the way that led there', async () => {
  const under_soc_min = 2 ** 13
  const over_soc_max = 2 ** 15
  const limits = (charge_kw: number, discharge_kw: number) => ({
    max_charge_power_kw: charge_kw,
    max_discharge_power_kw: discharge_kw,
  })
  type Case = [soc_pct: number, alarm_1: number, more: object, charges: boolean, gives: boolean]
  const cases: Case[] = [
    [50, under_soc_min, {}, true, false],
    [50, over_soc_max, {}, false, true],
    [12, 0, limits(90, 0), true, false],
    [88, 0, limits(0, 90), false, true],
    [9, 0, {}, true, false],
    [91, 0, {}, false, true],
    // Nothing tells which way, or two things tell of both.
    [50, 0, {}, false, false],
    [9, over_soc_max, {}, false, false],
    [50, 0, limits(0, 0), false, false],
  ]
  for (const [soc_pct, alarm_1, more, charges, gives] of cases) {
    for (const [asked_w, may] of [
      [-50_000, charges],
      [50_000, gives],
    ] as const) {
      const { clock, read, tick } = unitOf({}, 1)
      await clock.advance(1000)
      read(soc_pct, alarm_1, { state: 'soc_protection', ...more })
      const told_w = may ? Math.sign(asked_w) * 20_000 : 0
      assert.equal(await tick(asked_w), told_w, JSON.stringify([soc_pct, alarm_1, more, asked_w]))
    }
  }
})
