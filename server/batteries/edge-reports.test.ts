import assert from 'node:assert/strict'
import test from 'node:test'
import { Refused } from '../telemetry/refused.ts'
import { acceptSetups } from './edge-reports.ts'

const bounds = { first_at: 1000, last_at: 2000 }

test('that a setup was read again is told of one read before, however long ago', () => {
  const accept = (one: object) => acceptSetups([one], bounds)
  const again = { bess_id: 1, read_at: 1500, told_at: 10 }
  assert.deepEqual(accept(again), [again])
  assert.deepEqual(accept({ ...again, told_at: 1500 }).length, 1)
  for (const [wrong, why] of [
    [{ ...again, told_at: 1501 }, /^0: told_at: 1501 is after read_at/],
    [{ ...again, read_at: 2001 }, /^0: read_at: 2001 is out of range/],
    [{ bess_id: 1, read_at: 1500 }, /^payload\/0/],
    [{ ...again, soc_min_pct: 5 }, /^payload\/0/],
  ] as const) {
    assert.throws(
      () => accept(wrong),
      (error: Error) => error instanceof Refused && why.test(error.message),
    )
  }
})
