import assert from 'node:assert/strict'
import test from 'node:test'
import type { DispatchDecision } from './decide-dispatch.ts'
import { areHeldByRows, HiddenFigures, type Shown } from './hidden-figures.ts'

const decided = (more: Partial<DispatchDecision> = {}): DispatchDecision => ({
  aim_w: 60,
  setpoint_w: 60,
  is_held: false,
  tier: 'dispatch',
  overrode_tier: null,
  clamp_reason: null,
  code: 'schedule',
  alarm_code: null,
  ...more,
})

type Step = Partial<Omit<Shown, 'decision'>> & { of?: Partial<DispatchDecision> }

/** What is hidden after each of them: of the setpoint, and of where it is to come to. */
function after(...steps: Step[]): [setpoint: boolean, aim: boolean][] {
  const hidden = new HiddenFigures()
  return steps.map(({ of = {}, ...more }) => {
    const decision = decided(of)
    const is_reached = decision.setpoint_w === decision.aim_w
    const all = { granted_w: 100, is_cut: false, is_at: true, is_of_rows: true, is_reached }
    hidden.look({ decision, ...all, ...more })
    return [hidden.is_hidden, hidden.is_aim_hidden]
  })
}

const stands: Step = { of: { aim_w: 0, setpoint_w: 0 } }
const ramp = (setpoint_w: number, more: Step = {}): Step => ({
  is_at: false,
  ...more,
  of: { setpoint_w, ...more.of },
})
const shown = [false, false]

test('a ramp that has its room is told from its begin', () => {
  const [, ...all] = after(stands, ramp(20), ramp(40), ramp(60), {})
  assert.deepEqual(all, [shown, shown, shown, shown])
})

test('while room is made no setpoint is told, and then the ramp is, as it did not wait', () => {
  const waits = { granted_w: 50 }
  const all = after(stands, ramp(20, waits), ramp(40, waits), ramp(50))
  assert.deepEqual(
    all.map(([setpoint]) => setpoint),
    [false, true, true, false],
  )
})

test('what waited for room is not told before it holds what does not depend on that', () => {
  for (const held of [{ of: { is_held: true } }, { is_cut: true }]) {
    const all = after(stands, ramp(33, held), ramp(53), { ...ramp(53), is_at: true }, ramp(60), {})
    assert.deepEqual(
      all.map(([setpoint]) => setpoint),
      [false, true, true, true, true, false],
    )
    assert.ok(all.every(([, aim]) => !aim))
  }
})

test('one that waits where it stands tells nothing by that', () => {
  const waits = { granted_w: 0, of: { setpoint_w: 0, is_held: true } }
  assert.deepEqual(after(stands, waits, ramp(20)).slice(1), [shown, shown])
})

test('of the permit nothing is told, nor of what goes on as it left it', () => {
  const by_permit: Step = { of: { tier: 'permit', aim_w: 26, setpoint_w: 26 } }
  const by_row = (aim_w: number): Step => ({
    of: { tier: 'operator', aim_w, setpoint_w: aim_w },
  })
  assert.deepEqual(after(stands, by_permit, by_row(26), by_row(20)), [
    shown,
    [true, true],
    [true, true],
    shown,
  ])
  const not_of_rows = { ...by_row(20), is_of_rows: false }
  assert.deepEqual(after(stands, not_of_rows)[1], [true, true])
})

test('what an earlier run left is not told', () => {
  assert.deepEqual(after(ramp(40), {}), [[true, false], shown])
})

test('what its registers cannot hold is not waited for', () => {
  const near = { granted_w: 59, is_reached: true, of: { setpoint_w: 59, is_held: true } }
  assert.deepEqual(after(stands, near)[1], shown)
})

test('rows leave a figure of their own only where each plant is held by its row', () => {
  const plant = (more = {}) => ({ logger_id: 1, row_w: 100, ceiling_w: 100, ...more })
  const isOfRows = (worst_w: number, more = {}) =>
    areHeldByRows([plant(more)], new Map([[1, worst_w]]))
  assert.equal(isOfRows(99), true)
  // Of a battery that room was made for, of the permit, or not down at its row yet.
  assert.deepEqual(
    [38, 101].map((w) => isOfRows(w)),
    [false, false],
  )
  assert.equal(isOfRows(99, { ceiling_w: 99 }), false)
  assert.equal(areHeldByRows([plant()], null), false)
})
