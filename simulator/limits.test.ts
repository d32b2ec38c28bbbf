import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import { type Fault, parseFault } from './faults.ts'
import { smallSite } from './fixtures/site.ts'
import { createLimits, initialLimits } from './limits.ts'
import { keepSaved, openState, saveState } from './state-file.ts'

/** Inverters of 33 kW. */
function limitsWith(...faults: string[]) {
  const parsed: Fault[] = faults.map(parseFault)
  const time = { now_ms: 0 }
  const now_ms = () => time.now_ms
  const limits = createLimits(initialLimits(smallSite, 0), { now_ms, faults: () => parsed })
  /** What inverter 1 may deliver so many seconds from the start on, percent of its rating. */
  const powerAfter = (seconds: number) => {
    time.now_ms = seconds * 1000
    const found = limits.faultsAt(time.now_ms).find((fault) => 'inverter_id' in fault)
    return found?.kind === 'limit' && found.inverter_id === 1 ? found.limit_pct : 100
  }
  return { limits, time, powerAfter }
}

test('power follows a limit by a ramp, down and up again', () => {
  const { limits, powerAfter } = limitsWith()
  assert.equal(powerAfter(5), 100)
  limits.tell(1, { limit_pct: 40 })
  assert.equal(powerAfter(60), 100, 'told, and not enabled')
  limits.tell(1, { is_enabled: true })
  const course = [61, 63, 66, 100].map(powerAfter)
  assert.deepEqual(course, [90, 70, 40, 40])
  limits.tell(1, { is_enabled: false })
  assert.deepEqual([101, 103, 106, 200].map(powerAfter), [50, 70, 100, 100])
})

test('a timer ends in no limit, or in another one', () => {
  const { limits, powerAfter } = limitsWith()
  limits.tell(1, { is_enabled: true, limit_pct: 40, revert_s: 30 })
  assert.equal(powerAfter(29), 40)
  assert.equal(powerAfter(36), 100)
  assert.equal(limits.stateOf(1).is_enabled, false)
  const to = { revert_enabled: true, revert_pct: 70 }
  limits.tell(1, { is_enabled: true, limit_pct: 40, ...to })
  assert.equal(powerAfter(65), 40)
  assert.equal(powerAfter(90), 70)
  assert.equal(limits.stateOf(1).reverts_at_ms, null, 'and stays there')
})

test('the persistent ceiling is the base of percentages, and survives a restart', () => {
  const { limits, powerAfter } = limitsWith('forgets_limit:1=100')
  limits.tell(1, { max_w: 16_500, is_enabled: true, limit_pct: 50 })
  assert.equal(powerAfter(60), 25)
  assert.equal(limits.isAway(1), false)
  assert.equal(powerAfter(110), 50, 'the limit is lost, the ceiling is not')
  assert.equal(limits.isAway(1), true)
  assert.equal(powerAfter(131), 50)
  assert.equal(limits.isAway(1), false)
  const { is_enabled, max_w } = limits.stateOf(1)
  assert.deepEqual([is_enabled, max_w], [false, 16_500])
})

test('an inverter that ignores its limit shows it and delivers on', () => {
  const { limits, powerAfter } = limitsWith('ignores_limit:1')
  limits.tell(1, { is_enabled: true, limit_pct: 40 })
  assert.equal(powerAfter(60), 100)
  assert.equal(limits.stateOf(1).limit_pct, 40)
})

test('a second master sets its own limit repeatedly', () => {
  const { limits, powerAfter } = limitsWith('second_master:1=80')
  limits.tell(1, { is_enabled: true, limit_pct: 40 })
  assert.equal(powerAfter(299), 40)
  assert.equal(powerAfter(310), 80)
  const version = limits.version
  limits.tell(1, { limit_pct: 40 })
  assert.ok(limits.version > version)
  assert.equal(powerAfter(599), 40)
  assert.equal(powerAfter(1210), 80, 'also when nobody looked in between')
})

test('an external limit is shown while it is the lower one', () => {
  const { limits } = limitsWith('limit:1=60')
  const shown = () => {
    const { is_enabled, limit_pct } = limits.shownOf(1)
    return [is_enabled, limit_pct]
  }
  assert.deepEqual(shown(), [true, 60])
  limits.tell(1, { is_enabled: true, limit_pct: 40 })
  assert.deepEqual(shown(), [true, 40])
  limits.tell(1, { limit_pct: 90 })
  assert.deepEqual(shown(), [true, 60])
  assert.equal(limits.shownOf(2).is_enabled, false)
})

test('limits survive a restart of the simulator', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-limits-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'state.json')
  const stateAt = (now_ms: number) => {
    const state = openState(file, { site: smallSite, seed: 1, now_ms })
    const needs = { now_ms: () => now_ms, faults: () => [] }
    return { state, limits: createLimits(state.limits, needs) }
  }
  const before = stateAt(0)
  before.limits.tell(1, { is_enabled: true, limit_pct: 40 })
  saveState(file, before.state)
  const { is_enabled, limit_pct } = stateAt(60_000).limits.stateOf(1)
  assert.deepEqual([is_enabled, limit_pct], [true, 40])
})

test('limits survive a kill of the simulator within a second of the write', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-limits-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'state.json')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const advance = (ms: number) => t.mock.timers.tick(ms)
  const open = () => openState(file, { site: smallSite, seed: 1, now_ms: 0 })
  const saved = (inverter_id: number) => open().limits[inverter_id]!.limit_pct
  const time = { now_ms: 0 }
  const state = open()
  const limits = createLimits(state.limits, { now_ms: () => time.now_ms, faults: () => [] })
  const stop = keepSaved(file, state, { limits, timers: systemTimers })
  limits.tell(1, { is_enabled: true, limit_pct: 21 })
  advance(50)
  limits.tell(2, { is_enabled: true, limit_pct: 30, revert_s: 60, revert_pct: 80 })
  advance(950)
  assert.deepEqual([1, 2].map(saved), [21, 30])
  limits.tell(1, { limit_pct: 50 })
  advance(1000)
  assert.deepEqual([1, 2].map(saved), [50, 30])
  // A timer of the device is a change as well.
  time.now_ms = 60_000
  limits.faultsAt(time.now_ms)
  advance(1000)
  assert.deepEqual([1, 2].map(saved), [50, 80])
  state.now.time_ms = 1
  advance(10_000)
  assert.equal(open().now.time_ms, 1, 'and the counters, though no limit changed')
  limits.tell(1, { limit_pct: 60 })
  stop()
  advance(20_000)
  assert.equal(saved(1), 50)
})
