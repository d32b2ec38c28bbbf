import assert from 'node:assert/strict'
import test from 'node:test'
import { hoursText } from './records.ts'

test('a site without plants has no hours', () => {
  const books = { plants: [], currency: null, rateAt: () => null, rates: [] }
  const now = { now_ms: Date.parse('2026-06-21T12:00Z'), awake: () => null }
  const { data, meta } = JSON.parse(
    String(hoursText(books, now, { truncated: false, next_start: null })),
  )
  assert.deepEqual([data, meta.count, meta.exchange_rates], [[], 0, []])
})
