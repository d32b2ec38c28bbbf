import assert from 'node:assert/strict'
import test from 'node:test'
import { gateClosureOf, gateSpans, usualGate } from './gate-closure.ts'

const at = (text: string) => Date.parse(text)
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16)

test('the gate closes at noon of the day before, by the clock of the market', () => {
  const closed = (delivery: string) => iso(gateClosureOf(at(delivery), usualGate))
  assert.equal(closed('2026-06-21T10:00:00Z'), '2026-06-20T10:00')
  // From 22:00Z on it is the next day of the market.
  assert.equal(closed('2026-06-21T21:45:00Z'), '2026-06-20T10:00')
  assert.equal(closed('2026-06-21T22:00:00Z'), '2026-06-21T10:00')
  assert.equal(closed('2026-01-15T10:00:00Z'), '2026-01-14T11:00')
  // Of the days on which the clocks change only the day before delivery counts.
  assert.equal(closed('2026-03-30T10:00:00Z'), '2026-03-29T10:00')
  assert.equal(closed('2026-10-26T10:00:00Z'), '2026-10-25T11:00')
})

test('a UTC day lies in two days of the market', () => {
  const spans = (from: string, to: string, gate = usualGate) =>
    gateSpans(at(from), at(to), gate).map(({ gate_ms, start_ms, end_ms }) =>
      [gate_ms, start_ms, end_ms].map(iso).join(' '),
    )
  assert.deepEqual(spans('2026-06-21T00:00Z', '2026-06-22T00:00Z'), [
    '2026-06-20T10:00 2026-06-21T00:00 2026-06-21T22:00',
    '2026-06-21T10:00 2026-06-21T22:00 2026-06-22T00:00',
  ])
  // The 25 hours of an autumn day are one span, the 23 of a spring day too.
  assert.deepEqual(spans('2026-10-24T22:00Z', '2026-10-26T23:00Z'), [
    '2026-10-24T10:00 2026-10-24T22:00 2026-10-25T23:00',
    '2026-10-25T11:00 2026-10-25T23:00 2026-10-26T23:00',
  ])
  assert.deepEqual(spans('2026-03-28T23:00Z', '2026-03-30T22:00Z'), [
    '2026-03-28T11:00 2026-03-28T23:00 2026-03-29T22:00',
    '2026-03-29T10:00 2026-03-29T22:00 2026-03-30T22:00',
  ])
  const kolkata = { timezone: 'Asia/Kolkata', gate_closure_local: '10:00' }
  assert.deepEqual(spans('2026-06-21T00:00Z', '2026-06-22T00:00Z', kolkata), [
    '2026-06-20T04:30 2026-06-21T00:00 2026-06-21T18:30',
    '2026-06-21T04:30 2026-06-21T18:30 2026-06-22T00:00',
  ])
  assert.deepEqual(spans('2026-06-21T00:00Z', '2026-06-21T00:00Z'), [])
})
