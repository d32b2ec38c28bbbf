import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { addDays } from '@heliograph/domain/utc-day'
import fc from 'fast-check'
import { parseTimestamp } from './time-windows.ts'
import {
  daysSpan,
  daysSum,
  endedBy,
  forecastSpan,
  pastSpan,
  type Span,
  spanSince,
  spanWindow,
  sumWindow,
  type WindowNeeds,
  type WindowRule,
  window_days_max,
} from './windows.ts'

const now = new Date('2026-06-21T10:30:00Z')
const first = new Date('2025-03-01T04:00:00Z')
const needs = (first_at: Date | null = first): WindowNeeds => ({
  now,
  firstRecord: async () => first_at,
})

const instant = fc
  .date({
    min: new Date('1970-01-01T00:00:00Z'),
    max: new Date('2999-12-31T00:00:00Z'),
    noInvalidDate: true,
  })
  .map((at) => at.toISOString())
const asked = fc
  .record({ start: fc.option(instant), end: fc.option(instant) })
  .map(({ start, end }) => ({ start: start ?? undefined, end: end ?? undefined }))
  .filter(({ start, end }) => start === undefined || end === undefined || start < end)

const spans: Record<string, WindowRule<Span>> = {
  spanWindow: spanWindow(168),
  pastSpan: pastSpan(168),
  forecastSpan,
  spanSince: spanSince(168),
}

for (const [name, rule] of Object.entries(spans)) {
  test(`${name}: whatever is asked for, at most 400 days, and all of it page by page`, () => {
    fc.assert(
      fc.property(asked, ({ start, end }) => {
        const span = rule.resolve({ start, end, since: start }, needs()) as Span
        assert.ok(parseTimestamp(span.start) instanceof Date)
        const length_ms = Date.parse(span.end) - Date.parse(span.start)
        assert.ok(length_ms >= 0 && length_ms <= window_days_max * day_ms)
        if (span.next_start === null) return
        assert.equal(span.next_start, span.end)
        assert.ok(length_ms > (window_days_max - 1) * day_ms)
        const next = { start: span.next_start, end }
        const further = rule.resolve({ ...next, since: next.start }, needs()) as Span
        assert.equal(further.start, span.next_start)
      }),
    )
  })
}

test('days are bounded as instants are', () => {
  const days = { start: '1970-01-01', end: '2999-12-31' }
  const cut = { start: '1970-01-01', end: '1971-02-04', next_start: '1971-02-05' }
  assert.deepEqual(daysSpan.resolve(days, needs()), cut)
  assert.equal(addDays(cut.start, window_days_max), cut.next_start)
  const whole = { start: '1970-01-01', end: cut.end }
  assert.deepEqual(daysSpan.resolve(whole, needs()), { ...whole, next_start: null })
})

test('a window that is only ended is as long as without, whenever it ends', () => {
  const end = '2999-12-31T23:59:59.000Z'
  const start = '2999-12-24T23:59:59.000Z'
  assert.deepEqual(spanWindow(168).resolve({ end }, needs()), { start, end, next_start: null })
  const today = '2026-06-21T00:00:00.000Z'
  const cut = '2027-07-26T00:00:00.000Z'
  assert.deepEqual(forecastSpan.resolve({ end }, needs()), {
    start: today,
    end: cut,
    next_start: cut,
  })
})

test('a forecast that ends before it would be cut is whole', () => {
  const span = forecastSpan.resolve({ end: '2999-12-31T23:59:59.000Z' }, needs()) as Span
  const known = '2026-06-24T00:00:00.000Z'
  assert.deepEqual(endedBy(span, known), { start: span.start, end: known, next_start: null })
  assert.deepEqual(endedBy(span, '1999-01-01T00:00:00.000Z').end, span.start)
})

test('a sum is of the whole window, as far as the site has records', async () => {
  const rule = sumWindow(168)
  const all = { start: '1970-01-01T00:00:00.000Z', end: '2999-12-31T23:59:59.000Z' }
  assert.deepEqual(await rule.resolve(all, needs()), {
    start: first.toISOString(),
    end: '2026-06-21T11:00:00.000Z',
  })
  const since = { start: '2025-03-02T00:00:00.000Z', end: all.end }
  const { start } = await rule.resolve(since, needs())
  assert.equal(start, since.start)
  const short = { start: '2025-01-01T00:00:00.000Z', end: '2025-04-01T00:00:00.000Z' }
  assert.deepEqual(await rule.resolve(short, needs()), short, 'up to 400 days it is as asked')
  const nothing = await rule.resolve(all, needs(null))
  assert.ok(Date.parse(nothing.end) - Date.parse(nothing.start) <= day_ms)
  assert.deepEqual(await daysSum.resolve({ start: '1970-01-01', end: '2999-12-31' }, needs()), {
    start: '2025-03-01',
    end: '2026-06-21',
  })
})

test('a sum over days of another time zone has a day more at both ends, as far as asked', async () => {
  const all = { start: '1970-01-01', end: '2999-12-31', timezone: 'Pacific/Auckland' }
  const wide = { start: '2025-02-28', end: '2026-06-22' }
  assert.deepEqual(await daysSum.resolve(all, needs()), wide)
  const since = { ...all, start: '2025-03-01', end: '2026-06-21' }
  const { timezone: _, ...as_asked } = since
  assert.deepEqual(await daysSum.resolve(since, needs()), as_asked)
})

test('a sum is never reversed', async () => {
  await fc.assert(
    fc.asyncProperty(asked, fc.option(instant), async (window, first_at) => {
      const { start, end } = await sumWindow(168).resolve(
        window,
        needs(first_at === null ? null : new Date(first_at)),
      )
      assert.ok(start <= end)
    }),
  )
})
