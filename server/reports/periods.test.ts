import assert from 'node:assert/strict'
import test from 'node:test'
import { localDate } from '@heliograph/domain/local-day'
import fc from 'fast-check'
import {
  frequencies,
  localDays,
  newestDue,
  nextRunAt,
  periodOf,
  type ReportPeriod,
  type ReportSchedule,
  reportPeriods,
} from './periods.ts'

const daily: ReportSchedule = {
  frequency: 'daily',
  day_of_week: null,
  day_of_month: null,
  time_of_day: '06:00',
  timezone: 'Europe/Berlin',
}
const weekly = { ...daily, frequency: 'weekly', day_of_week: 1 } as const
const monthly = { ...daily, frequency: 'monthly', day_of_month: 1 } as const

const next = (schedule: ReportSchedule, after: string) =>
  nextRunAt(schedule, new Date(after)).toISOString()

function upTo(schedule: ReportSchedule, after: string, count: number): string[] {
  const found: string[] = []
  for (let at = after; found.length < count; found.push(at)) at = next(schedule, at)
  return found
}

test('a daily report is due at its local time in winter and summer', () => {
  assert.equal(next(daily, '2026-01-10T04:59:00Z'), '2026-01-10T05:00:00.000Z')
  assert.equal(next(daily, '2026-01-10T05:00:00Z'), '2026-01-11T05:00:00.000Z')
  assert.equal(next(daily, '2026-07-10T04:00:00Z'), '2026-07-11T04:00:00.000Z')
})

test('weekly, monthly and quarterly reports are due on their day or the last day', () => {
  assert.equal(next(weekly, '2026-06-16T00:00:00Z'), '2026-06-22T04:00:00.000Z')
  assert.equal(
    next({ ...weekly, day_of_week: 7 }, '2026-06-16T00:00:00Z').slice(0, 10),
    '2026-06-21',
  )
  assert.deepEqual(upTo({ ...monthly, day_of_month: 'last' }, '2028-01-20T00:00:00Z', 3), [
    '2028-01-31T05:00:00.000Z',
    '2028-02-29T05:00:00.000Z',
    '2028-03-31T04:00:00.000Z',
  ])
  assert.deepEqual(
    upTo({ ...monthly, frequency: 'quarterly', day_of_month: 28 }, '2026-01-28T05:00:00Z', 4),
    [
      '2026-04-28T04:00:00.000Z',
      '2026-07-28T04:00:00.000Z',
      '2026-10-28T05:00:00.000Z',
      '2027-01-28T05:00:00.000Z',
    ],
  )
})

test('a skipped local time is due right after the clock change', () => {
  const skipped = { ...daily, time_of_day: '02:30' }
  assert.deepEqual(upTo(skipped, '2026-03-28T00:00:00Z', 3), [
    '2026-03-28T01:30:00.000Z',
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
  // Cairo sets its clocks at midnight: the day begins at one.
  const midnight = { ...daily, time_of_day: '00:00', timezone: 'Africa/Cairo' }
  assert.equal(next(midnight, '2026-04-23T12:00:00Z'), '2026-04-23T22:00:00.000Z')
  // Apia had no 30th of December 2011.
  const apia = { ...daily, timezone: 'Pacific/Apia' }
  assert.deepEqual(upTo(apia, '2011-12-29T00:00:00Z', 3), [
    '2011-12-29T16:00:00.000Z',
    '2011-12-30T10:00:00.000Z',
    '2011-12-30T16:00:00.000Z',
  ])
})

test('a repeated local time is due once, at its first occurrence', () => {
  assert.deepEqual(upTo({ ...daily, time_of_day: '02:30' }, '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ])
})

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Cairo',
  'America/Sao_Paulo',
  'Pacific/Apia',
]
const two = (value: number) => String(value).padStart(2, '0')
const schedules: fc.Arbitrary<ReportSchedule> = fc.record({
  frequency: fc.constantFrom(...frequencies),
  day_of_week: fc.integer({ min: 1, max: 7 }),
  day_of_month: fc.oneof(fc.integer({ min: 1, max: 28 }), fc.constant('last' as const)),
  time_of_day: fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([hour, minute]) => `${two(hour)}:${two(minute)}`),
  timezone: fc.constantFrom(...zones),
})
const instants = fc.date({
  min: new Date('2005-01-01T00:00:00Z'),
  max: new Date('2040-01-01T00:00:00Z'),
  noInvalidDate: true,
})
const days_max = { daily: 2.1, weekly: 8.1, monthly: 32.1, quarterly: 93.1 }

test('the next due time is later, near, and the same from any earlier instant', () => {
  fc.assert(
    fc.property(
      schedules,
      instants,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (schedule, after, part) => {
        const due = nextRunAt(schedule, after)
        assert.ok(due > after)
        const wait_ms = due.getTime() - after.getTime()
        assert.ok(wait_ms <= days_max[schedule.frequency] * 86_400_000, String(wait_ms))
        const between = new Date(after.getTime() + Math.floor(part * (wait_ms - 1)))
        assert.deepEqual(nextRunAt(schedule, between), due)
      },
    ),
    { numRuns: 500 },
  )
})

test('due times keep their order, and each local day is due once', () => {
  fc.assert(
    fc.property(schedules, instants, instants, (schedule, one, other) => {
      const [a, b] = one < other ? [one, other] : [other, one]
      assert.ok(nextRunAt(schedule, a) <= nextRunAt(schedule, b))
    }),
    { numRuns: 300 },
  )
  for (const timezone of zones) {
    let at = new Date('2026-01-01T00:00:00Z')
    const days = new Set<string>()
    for (let nth = 0; nth < 365; nth += 1) {
      at = nextRunAt({ ...daily, timezone }, at)
      days.add(localDate(at.getTime(), timezone))
    }
    assert.equal(days.size, 365, timezone)
    assert.match([...days].at(-1)!, /^2026-12-31|^2027-01-01/)
  }
})

test('after an outage the newest occurrence is due, with the count of missed ones', () => {
  const first = new Date('2026-06-01T04:00:00Z')
  const due = (now: string) => newestDue(daily, first, new Date(now))
  assert.deepEqual(due('2026-06-01T04:00:00Z'), { due_at: first, missed_count: 0 })
  assert.deepEqual(due('2026-06-02T03:59:59Z'), { due_at: first, missed_count: 0 })
  assert.deepEqual(due('2026-06-05T12:00:00Z'), {
    due_at: new Date('2026-06-05T04:00:00Z'),
    missed_count: 4,
  })
})

function period(name: ReportPeriod, at: string, timezone = 'Europe/Berlin') {
  const { start_at, end_at } = periodOf(name, new Date(at), timezone)
  return [start_at.toISOString(), end_at.toISOString()]
}

test('periods are whole local days', () => {
  assert.deepEqual(period('previous_day', '2026-03-30T04:00:00Z'), [
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ])
  assert.deepEqual(period('previous_day', '2026-06-21T23:30:00Z', 'Asia/Kathmandu'), [
    '2026-06-20T18:15:00.000Z',
    '2026-06-21T18:15:00.000Z',
  ])
  assert.deepEqual(period('previous_week', '2026-06-21T12:00:00Z'), [
    '2026-06-07T22:00:00.000Z',
    '2026-06-14T22:00:00.000Z',
  ])
  assert.deepEqual(period('previous_week', '2026-06-22T04:00:00Z')[1], '2026-06-21T22:00:00.000Z')
  assert.deepEqual(period('previous_month', '2026-01-31T12:00:00Z'), [
    '2025-11-30T23:00:00.000Z',
    '2025-12-31T23:00:00.000Z',
  ])
})

test('periods to date end with yesterday; on the first day they cover the previous month or year', () => {
  const [start, end] = ['2026-05-31T22:00:00.000Z', '2026-06-30T22:00:00.000Z']
  assert.deepEqual(period('month_to_date', '2026-06-21T04:00:00Z'), [
    start,
    '2026-06-20T22:00:00.000Z',
  ])
  assert.deepEqual(period('month_to_date', '2026-07-01T04:00:00Z'), [start, end])
  assert.deepEqual(period('year_to_date', '2026-07-01T04:00:00Z'), [
    '2025-12-31T23:00:00.000Z',
    end,
  ])
  assert.deepEqual(period('year_to_date', '2026-01-01T05:00:00Z'), [
    '2024-12-31T23:00:00.000Z',
    '2025-12-31T23:00:00.000Z',
  ])
})

test('a period ends at the latest at the start of the local day', () => {
  const any = fc.constantFrom(...reportPeriods)
  fc.assert(
    fc.property(any, instants, fc.constantFrom(...zones.slice(0, -1)), (name, at, timezone) => {
      const found = periodOf(name, at, timezone)
      assert.ok(found.start_at < found.end_at && found.end_at <= at)
      const { start_at: period_start_at, end_at: period_end_at } = found
      const [first, last] = localDays({ period_start_at, period_end_at, timezone }, ' ').split(' ')
      assert.ok(last === undefined || first! < last)
    }),
  )
})
