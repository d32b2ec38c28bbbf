import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { day_ms } from './durations.ts'
import { addDays, utcDate, utcDayStart } from './utc-day.ts'

test('an instant belongs to the UTC day that began last', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('3000'), noInvalidDate: true }), (at) => {
      const start_ms = utcDayStart(at)
      assert.equal(new Date(start_ms).toISOString(), `${utcDate(at)}T00:00:00.000Z`)
      assert.ok(start_ms <= at.getTime() && at.getTime() < start_ms + day_ms)
      assert.deepEqual([utcDate(at.getTime()), utcDayStart(at.getTime())], [utcDate(at), start_ms])
    }),
  )
})

test('days are added by the calendar', () => {
  assert.equal(addDays('2026-02-28', 1), '2026-03-01')
  assert.equal(addDays('2028-02-28', 1), '2028-02-29')
  assert.equal(addDays('2026-01-01', -1), '2025-12-31')
  assert.equal(addDays('2026-06-21', 0), '2026-06-21')
  assert.equal(addDays('2026-01-01', 364), '2026-12-31')
})
