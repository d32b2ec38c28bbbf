import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { shareOfPermit } from './permit-terms.ts'

test('the shares of all devices exceed neither a plant’s permit nor the connection’s', () => {
  const power = fc.integer({ min: 1, max: 5_000_000 })
  const plants = fc.array(
    fc.record({ permit_w: power, rated: fc.array(power, { minLength: 1, maxLength: 5 }) }),
    { minLength: 1, maxLength: 4 },
  )
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)
  fc.assert(
    fc.property(plants, fc.option(power), (all, site_w) => {
      const permit = { plant_w: new Map(all.map(({ permit_w }, nth) => [nth, permit_w])), site_w }
      const site_rated_w = sum(all.flatMap(({ rated }) => rated))
      const shares = all.map(({ rated }, logger_id) =>
        rated.map((rated_w) => {
          const of = { plant_rated_w: sum(rated), site_rated_w }
          return shareOfPermit(permit, { logger_id, rated_w }, of)!
        }),
      )
      all.forEach(({ permit_w }, nth) => {
        assert.ok(sum(shares[nth]!) <= permit_w)
      })
      if (site_w !== null) assert.ok(sum(shares.flat()) <= site_w)
    }),
  )
})

test('without a permit there is no share', () => {
  const of = { plant_rated_w: 100, site_rated_w: 100 }
  assert.equal(shareOfPermit(null, { logger_id: 1, rated_w: 100 }, of), null)
  const other = { plant_w: new Map([[2, 50]]), site_w: 50 }
  assert.equal(shareOfPermit(other, { logger_id: 1, rated_w: 100 }, of), null)
})
