import assert from 'node:assert/strict'
import test from 'node:test'
import { isBelowLowestLimit } from './lowest-limit.ts'
import type { LimitResponse } from './site.ts'

type Plant = Parameters<typeof isBelowLowestLimit>[0]

/** Inverters of 100 kW. */
const plant = (drivers: readonly string[], limit?: LimitResponse): Plant => ({
  inverters: drivers.map(
    (driver) =>
      ({ rated_ac_power_kw: 100, driver, ...(limit && { limit }) }) as Plant['inverters'][0],
  ),
})

test('Sungrow is stopped below 30 % of its rating, others are not', () => {
  const sungrow = plant(['sungrow_sg', 'sungrow_sg'])
  assert.deepEqual(
    [200, 60, 59.999, 1, 0].map((kw) => isBelowLowestLimit(sungrow, kw)),
    [false, false, true, true, false],
  )
  assert.equal(isBelowLowestLimit(plant(['sunspec', 'sma', 'huawei_sun2000']), 1), false)
  assert.equal(isBelowLowestLimit(plant(['sunspec', 'sungrow_sg', 'sma']), 89.9), true)
})

test('what site.yaml declares of a device counts', () => {
  const of = (limit: LimitResponse, share_kw: number, driver: string = 'sunspec') =>
    isBelowLowestLimit(plant([driver], limit), share_kw)
  assert.deepEqual([of({ least_pct: 20 }, 20), of({ least_pct: 20 }, 19.9)], [false, true])
  assert.deepEqual([of({ step_pct: 10 }, 10), of({ step_pct: 10 }, 9.9)], [false, true])
  const coarse = { step_pct: 10, least_pct: 15 }
  assert.deepEqual([of(coarse, 20), of(coarse, 19)], [false, true], '19 % is sent as 10 %')
  assert.deepEqual([of({ tolerance_pct: 5 }, 6), of({ tolerance_pct: 5 }, 4)], [false, true])
  assert.equal(of({ least_pct: 10 }, 29, 'sungrow_sg'), true, 'its driver goes no lower')
  assert.equal(of({ tolerance_pct: 5, least_pct: 50 }, 100), false, 'full power has no rounding')
})

test('a controller limits the whole plant, whatever its inverters could', () => {
  const { inverters } = plant(['sungrow_sg', 'sungrow_sg'])
  const connection = { connection: 'field', unit_id: 0 }
  const controller = { ...connection, driver: 'huawei_smartlogger' } as const
  assert.equal(isBelowLowestLimit({ controller, inverters }, 10), false)
  const limited = { ...controller, limit: { least_pct: 10 } }
  assert.equal(isBelowLowestLimit({ controller: limited, inverters }, 19), true)
})
