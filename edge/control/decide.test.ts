import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { LimitTraits } from '../drivers/limit-control.ts'
import { type Controlled, decide, type PlantNow, type SiteNow } from './decide.ts'
import { DeviceLimits } from './device-limits.ts'
import { plainTraits as traits } from './fixtures/plain-device.ts'

const facts = { rated_w: 100, default_max_w: 100, fresh_ms: 15_000, revert_margin_ms: 10_000 }

/** Read at 0 ms to stand at a limit that is ours. */
function device(inverter_id: number, limit_w: number, changes: Partial<Controlled> = {}) {
  const none = { before_w: null, external_w: null, intents: [] }
  const record = { static_max_w: 100, written_w: limit_w, ...none }
  const limits = new DeviceLimits(facts, record)
  limits.onRead({ limit_w, static_max_w: 100, revert: null }, traits, 0)
  return { inverter_id, limits, settable: Math.floor, is_busy: false, ...changes }
}

/** Never heard of. */
const silent = (inverter_id: number): Controlled => ({
  ...device(inverter_id, 0),
  limits: new DeviceLimits(facts, null),
  settable: null,
})

const plant = (ceiling_w: number, devices: Controlled[], changes: Partial<PlantNow> = {}) => ({
  logger_id: 1,
  rated_w: 100 * devices.length,
  ceiling_w,
  held_by: 'permit' as const,
  may_raise: true,
  is_known: true,
  devices,
  ...changes,
})

const site = (plants: PlantNow[], changes: Partial<SiteNow> = {}): SiteNow => ({
  plants,
  site_w: null,
  now_ms: 0,
  rise_w: null,
  ...changes,
})

/** `7: 50` lowers, `7: +50` raises. */
const ordersOf = (now: SiteNow) =>
  decide(now).orders.map((order) => {
    const { inverter_id, limit_w, is_raise } = order
    return `${inverter_id}: ${is_raise ? '+' : ''}${limit_w}`
  })

test('registers that do not round down, and figures that are none, decide nothing', () => {
  const higher = device(1, 90, { settable: (limit_w) => limit_w + 10 })
  assert.throws(() => decide(site([plant(100, [higher, device(2, 10)])])), /do not round/)
  const devices = [device(1, 50), device(2, 10)]
  assert.throws(() => decide(site([plant(100, devices)], { site_w: Number.NaN })), /too far|round/)
  assert.throws(() => decide(site([plant(Number.NaN, devices)])), /too far|round/)
  const rise_w = () => Number.NaN
  assert.throws(() => decide(site([plant(100, [device(1, 10)])], { rise_w })), /not ours to lift/)
})

test('lowers go first, raises when those were read back', () => {
  const [a, b] = [device(1, 90), device(2, 10)]
  assert.deepEqual(ordersOf(site([plant(100, [a, b])])), ['1: 50'])
  a.limits.begin(50, 0)
  assert.deepEqual(ordersOf(site([plant(100, [{ ...a, is_busy: true }, b])])), [])
  a.limits.onRead({ limit_w: 50, static_max_w: 100, revert: null }, traits, 1000)
  assert.deepEqual(ordersOf(site([plant(100, [a, b])])), ['2: +50'])
})

test('a device that is silent counts with its ceiling, and the rest comes down', () => {
  assert.deepEqual(ordersOf(site([plant(150, [device(1, 75), silent(2)])])), ['1: 50'])
  assert.deepEqual(ordersOf(site([plant(90, [device(1, 75), silent(2)])])), ['1: 0'])
})

test('nothing is raised without a permit, before all is known, or by less than a step', () => {
  const low = () => [device(1, 10)]
  assert.deepEqual(ordersOf(site([plant(100, low())])), ['1: +100'])
  assert.deepEqual(ordersOf(site([plant(100, low(), { may_raise: false })])), [])
  assert.deepEqual(ordersOf(site([plant(100, low(), { is_known: false })])), [])
  assert.deepEqual(ordersOf(site([plant(100, low())], { rise_w: () => 5 })), ['1: +15'])
  assert.deepEqual(ordersOf(site([plant(100, low())], { rise_w: () => 0.5 })), [])
})

test('without a permit a lower is never above what it may hold already', () => {
  const a = device(1, 80)
  a.limits.begin(20, 0)
  const order = ordersOf(site([plant(50, [a], { may_raise: false })]))
  assert.deepEqual(order, ['1: 20'])
})

test('nothing is raised at a common connection while another plant is not known', () => {
  const known = plant(100, [device(1, 10)])
  const unknown = plant(100, [], { logger_id: 2, is_known: false, rated_w: 100 })
  assert.deepEqual(ordersOf(site([known, unknown], { site_w: 100 })), [])
  assert.deepEqual(ordersOf(site([known, unknown])), ['1: +100'])
})

test('a timer that is about to run out is ended', () => {
  const a = device(1, 40)
  const revert = { in_ms: 9000, to_w: 100 }
  a.limits.onRead({ limit_w: 40, static_max_w: 100, revert }, traits, 0)
  assert.deepEqual(ordersOf(site([plant(40, [a])])), ['1: 40'])
})

test('one that failed is asked on, and also for what another one does not yield', () => {
  const [a, b] = [device(1, 50), device(2, 50)]
  for (let nth = 0; nth < 3; nth += 1) a.limits.failed()
  assert.deepEqual(ordersOf(site([plant(80, [a, b])])), ['2: 30', '1: 40'])
  assert.deepEqual(ordersOf(site([plant(40, [a, silent(3)])])), ['1: 0'])
  // Both plants are under one connection: it has to yield for what is silent in the other.
  const other = plant(100, [silent(3)], { logger_id: 2 })
  assert.deepEqual(ordersOf(site([plant(100, [a]), other], { site_w: 120 })), ['1: 20'])
})

test('one that failed to be raised is asked on for what the others left', () => {
  const [a, b] = [device(1, 0), device(2, 95)]
  a.limits.begin(5, 0)
  for (let nth = 0; nth < 3; nth += 1) a.limits.failed()
  // Its share would be 50, and the other has all but what it counts with.
  assert.deepEqual(ordersOf(site([plant(100, [a, b])])), ['1: +5'])
})

test('one that another raises again and again is told its share, and the others make room', () => {
  const [a, b] = [device(1, 40), device(2, 40)]
  for (const now_ms of [1000, 2000]) {
    a.limits.onRead({ limit_w: 95, static_max_w: 100, revert: null }, traits, now_ms)
    a.limits.onRead({ limit_w: 40, static_max_w: 100, revert: null }, traits, now_ms + 500)
  }
  const at = { now_ms: 2500 }
  assert.deepEqual(ordersOf(site([plant(80, [a, b])], at)), ['2: 0'])
  a.limits.onRead({ limit_w: 95, static_max_w: 100, revert: null }, traits, 2500)
  assert.deepEqual(ordersOf(site([plant(80, [a, b])], at)), ['2: 0', '1: 40'])
})

test('what stands where it should is left alone', () => {
  assert.deepEqual(ordersOf(site([plant(100, [device(1, 50), device(2, 50)])])), [])
})

test('whatever is known, what is ordered never adds up to more than may be', () => {
  const any = fc.record({
    limit_w: fc.nat(100),
    begun_w: fc.option(fc.nat(100)),
    failures: fc.nat(4),
    is_silent: fc.boolean(),
  })
  const plants = fc.array(
    fc.record({ ceiling_w: fc.nat(600), devices: fc.array(any, { minLength: 1, maxLength: 6 }) }),
    { minLength: 1, maxLength: 3 },
  )
  fc.assert(
    fc.property(plants, fc.option(fc.nat(900)), (drawn, site_w) => {
      const made = drawn.map(({ ceiling_w, devices }, nth) => {
        const controlled = devices.map(({ limit_w, begun_w, failures, is_silent }, mth) => {
          const one = is_silent ? silent(10 * nth + mth) : device(10 * nth + mth, limit_w)
          if (begun_w !== null && !is_silent) one.limits.begin(begun_w, 0)
          for (let count = 0; count < failures; count += 1) one.limits.failed()
          return one
        })
        return plant(ceiling_w, controlled, { logger_id: nth })
      })
      const { orders } = decide(site(made, { site_w }))
      const allowed = made.map(({ devices }) =>
        devices.map(({ inverter_id, limits }) => {
          const order = orders.find((one) => one.inverter_id === inverter_id)
          if (order && !order.is_raise) assert.ok(order.limit_w <= limits.bound_w!)
          return {
            worst_w: limits.worst_w(0),
            then_w: Math.max(limits.worst_w(0), order?.limit_w ?? 0),
          }
        }),
      )
      const sum = (of: { worst_w: number; then_w: number }[], key: 'worst_w' | 'then_w') =>
        of.reduce((all_w, one) => all_w + one[key], 0)
      const holds = (of: { worst_w: number; then_w: number }[], bound_w: number) =>
        assert.ok(sum(of, 'then_w') <= Math.max(bound_w, sum(of, 'worst_w')))
      allowed.forEach((of, nth) => {
        holds(of, made[nth]!.ceiling_w)
      })
      if (site_w !== null) holds(allowed.flat(), site_w)
    }),
  )
})

test('one that rounds up and did not show a raise yet is told that again, and nothing lower', () => {
  const rounding: LimitTraits = { ...traits, tolerance_w: 10 }
  const one = device(1, 20)
  one.limits.onRead({ limit_w: 20, static_max_w: 100, revert: null }, rounding, 0)
  const settable = (limit_w: number) => (limit_w >= 100 ? 100 : Math.max(0, limit_w - 10))
  const now = site([plant(60, [{ ...one, settable }])])
  assert.deepEqual(ordersOf(now), ['1: +50'])
  one.limits.begin(50, 0)
  assert.deepEqual(ordersOf(now), ['1: +50'])
})
