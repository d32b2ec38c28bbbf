import assert from 'node:assert/strict'
import test from 'node:test'
import { wattsWithin } from '@heliograph/domain/watts'
import fc from 'fast-check'
import { limitsOf, type Plant, type RequestedLimit } from './limit-shares.ts'

const rated = fc.oneof(
  fc.integer({ min: 1, max: 5_000_000 }).map((watts) => watts / 1000),
  fc.double({ min: 1e-6, max: 1e9, noNaN: true, minExcluded: true }),
)
const plants = fc
  .array(rated, { minLength: 1, maxLength: 12 })
  .map((powers) => powers.map((rated_power_kw, nth) => ({ logger_id: nth + 1, rated_power_kw })))
const limit_value = fc.oneof(
  fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }),
  fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
  fc.integer({ min: 1, max: 1_000_000 }).map((watts) => watts / 1000),
)

const maxima = (asked: RequestedLimit, of: readonly Plant[]) =>
  new Map(limitsOf(asked, of).map((limit) => [limit.logger_id, limit]))
const wattsOf = (max_power_kw: number) => Math.round(max_power_kw * 1000)

test('plants together never get more than a site is allowed, each never more than its rating', () => {
  fc.assert(
    fc.property(plants, limit_value, (of, value) => {
      const limits = limitsOf({ limit_mode: 'kw', limit_value: value }, of)
      const sum_w = limits.reduce((sum, { max_power_kw }) => sum + wattsOf(max_power_kw), 0)
      assert.ok(sum_w <= wattsWithin(value), `${sum_w} W`)
      for (const { max_power_kw, rated_power_kw, requested_max_power_kw } of limits) {
        assert.ok(max_power_kw >= 0 && max_power_kw <= rated_power_kw)
        assert.ok(Number.isFinite(requested_max_power_kw))
        assert.equal(max_power_kw, wattsOf(max_power_kw) / 1000, 'whole watts')
      }
    }),
    { numRuns: 2000 },
  )
})

test('a percentage is one of each plant, and never above it or the rating', () => {
  fc.assert(
    fc.property(plants, limit_value, (of, value) => {
      for (const limit of limitsOf({ limit_mode: 'percent', limit_value: value }, of)) {
        assert.ok(limit.max_power_kw <= limit.rated_power_kw)
        if (value >= 100) assert.equal(limit.max_power_kw, wattsWithin(limit.rated_power_kw) / 1000)
        else if (limit.max_power_kw > 0) {
          const rated_w = wattsWithin(limit.rated_power_kw)
          assert.ok((100 * wattsOf(limit.max_power_kw)) / rated_w <= value)
        }
        assert.ok(Number.isFinite(limit.requested_max_power_kw))
      }
    }),
    { numRuns: 2000 },
  )
})

test('the order of the plants changes no share', () => {
  const shuffled = plants.chain((of) =>
    fc.tuple(fc.constant(of), fc.shuffledSubarray(of, { minLength: of.length })),
  )
  const mode = fc.constantFrom('kw' as const, 'percent' as const)
  fc.assert(
    fc.property(shuffled, limit_value, mode, ([of, other], value, limit_mode) => {
      const asked = { limit_mode, limit_value: value }
      const [one, two] = [maxima(asked, of), maxima(asked, other)]
      for (const [id, { max_power_kw }] of one) {
        assert.equal(two.get(id)!.max_power_kw, max_power_kw)
      }
    }),
  )
})

test('whatever a site is split into, parts of it get no more than the whole', () => {
  fc.assert(
    fc.property(plants, limit_value, fc.nat(11), (of, value, cut) => {
      const asked = { limit_mode: 'kw', limit_value: value } as const
      const whole = maxima(asked, of)
      const part = of.slice(0, (cut % of.length) + 1)
      const sum = part.reduce((watts, { logger_id }) => {
        return watts + wattsOf(whole.get(logger_id)!.max_power_kw)
      }, 0)
      const alone = limitsOf(asked, part).reduce(
        (watts, { max_power_kw }) => watts + wattsOf(max_power_kw),
        0,
      )
      // Alone they have all of it, but for the rest that whole watts leave.
      assert.ok(sum <= alone + part.length)
    }),
  )
})

test('in proportion to rated power, down to whole watts', () => {
  const of = [
    { logger_id: 1, rated_power_kw: 200 },
    { logger_id: 2, rated_power_kw: 100 },
  ]
  const kw = (limit_mode: 'kw' | 'percent', value: number) =>
    limitsOf({ limit_mode, limit_value: value }, of).map(({ max_power_kw }) => max_power_kw)
  assert.deepEqual(kw('kw', 100), [66.666, 33.333])
  assert.deepEqual(kw('kw', 1e300), [200, 100])
  assert.deepEqual(kw('kw', 0.0005), [0, 0])
  assert.deepEqual(kw('percent', 33.3), [66.6, 33.3])
  assert.deepEqual(kw('percent', 250), [200, 100])
})

test('a percentage of a rating keeps each whole watt', () => {
  const plant = { logger_id: 1, rated_power_kw: 100.1 }
  const [limit] = limitsOf({ limit_mode: 'percent', limit_value: 29 }, [plant])
  assert.equal(limit?.max_power_kw, 29.029)
})
