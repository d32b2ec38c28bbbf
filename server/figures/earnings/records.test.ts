import assert from 'node:assert/strict'
import test from 'node:test'
import { hoursText } from './records.ts'

test('a site without plants has no hours', () => {
  const books = { plants: [], currency: null, rateAt: () => null, rates: [] }
  const now = { now_ms: Date.parse('2026-06-21T12:00Z'), awake: () => null }
  assert.equal(String(hoursText(books, now)), '{"data":[],"meta":{"count":0,"exchange_rates":[]}}')
})
