import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  closedWindow,
  dateRange,
  forecastWindow,
  parseDate,
  parseTimestamp,
  seriesMeta,
  seriesWindow,
} from './time-windows.ts'

const now = new Date('2026-06-21T10:30:00Z')

test('a timestamp is the instant it names, whatever its offset', () => {
  const instants = fc.date({
    min: new Date('1971-01-01T00:00:00Z'),
    max: new Date('2998-12-31T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (instant, offset_min) => {
      const local = new Date(instant.getTime() + offset_min * 60_000).toISOString().slice(0, -1)
      const of = Math.abs(offset_min)
      const digits = (value: number) => String(value).padStart(2, '0')
      const offset = `${digits(Math.floor(of / 60))}:${digits(of % 60)}`
      const parsed = parseTimestamp(`${local}${offset_min < 0 ? '-' : '+'}${offset}`)
      assert.deepEqual(parsed, instant)
      assert.equal(parseTimestamp(local), 'naive_timestamp')
    }),
  )
})

test('no text makes an instant that does not exist', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer(), (text, number) => {
      for (const tried of [text, String(number), `2026-06-${text}T10:00:00Z`]) {
        for (const parsed of [parseTimestamp(tried), parseDate(tried)]) {
          if (parsed instanceof Date) assert.ok(!Number.isNaN(parsed.getTime()))
        }
      }
    }),
  )
  for (const tried of ['2026-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-01-00']) {
    assert.equal(parseDate(tried), 'invalid_date')
    assert.equal(parseTimestamp(`${tried}T00:00:00Z`), 'invalid_timestamp')
  }
  assert.equal(parseTimestamp('2016-12-31T23:59:60Z'), 'invalid_timestamp')
  // As the + of an address arrives that is not written %2B.
  assert.equal(parseTimestamp('2026-06-21T10:00:00 02:00'), 'naive_timestamp')
  assert.equal(parseTimestamp('1969-12-31T23:59:59Z'), 'out_of_range')
  assert.ok(parseDate('2024-02-29') instanceof Date)
})

test('the window of a series', () => {
  const day = { start: '2026-06-20T10:30:00.000Z', end: now.toISOString(), newest: true }
  assert.deepEqual(seriesWindow({}, now, 24), day)
  const start = '2026-01-01T00:00:00.000Z'
  assert.deepEqual(seriesWindow({ start }, now, 24), { start, end: day.end, newest: false })
  assert.deepEqual(seriesWindow({ end: start }, now, 24), { start: null, end: start, newest: true })
  const later = '2027-01-01T00:00:00.000Z'
  assert.deepEqual(seriesWindow({ start: later }, now, 24), {
    start: later,
    end: later,
    newest: false,
  })
  assert.deepEqual(closedWindow({ end: start }, now, 168), {
    start: '2025-12-25T00:00:00.000Z',
    end: start,
  })
})

test('the windows of forecasts and of days', () => {
  assert.deepEqual(forecastWindow({}, now), {
    start: '2026-06-21T00:00:00.000Z',
    end: '2026-06-23T00:00:00.000Z',
  })
  const start = '2026-05-01T00:00:00.000Z'
  assert.deepEqual(forecastWindow({ start }, now), { start, end: '2026-05-03T00:00:00.000Z' })
  for (const [end, from] of [
    ['2026-11-01T00:00:00.000Z', '2026-06-21T00:00:00.000Z'],
    ['2026-06-21T08:00:00.000Z', '2026-06-21T00:00:00.000Z'],
    ['2026-06-21T00:00:00.000Z', '2026-06-19T00:00:00.000Z'],
    ['2026-05-01T06:00:00.000Z', '2026-04-29T06:00:00.000Z'],
  ] as const) {
    assert.deepEqual(forecastWindow({ end }, now), { start: from, end })
  }
  assert.deepEqual(dateRange({}, now), { start: '2026-06-01', end: '2026-06-21' })
  assert.deepEqual(dateRange({ end: '2026-03-09' }, now), {
    start: '2026-03-01',
    end: '2026-03-09',
  })
  assert.deepEqual(dateRange({ start: '2026-08-01' }, now), {
    start: '2026-08-01',
    end: '2026-08-01',
  })
})

test('walking a cut series forwards and backwards meets every row once', () => {
  const series = Array.from({ length: 97 }, (_, i) =>
    new Date(Date.UTC(2026, 5, 21) + i * 20_000).toISOString(),
  )
  const page = (asked: { start?: string; end?: string }, limit: number) => {
    const window = seriesWindow(asked, now, 24)
    const matching = series.filter((time) => time >= (window.start ?? '') && time < window.end)
    const rows = window.newest ? matching.slice(-limit) : matching.slice(0, limit)
    const cut = { first_time: rows[0] ?? null, last_time: rows.at(-1) ?? null }
    const count = matching.length
    return { rows, meta: seriesMeta(window, { count, returned: rows.length, ...cut }) }
  }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120 }), (limit) => {
      const forwards: string[] = []
      for (let start: string | null = series[0]!; start !== null; ) {
        const { rows, meta } = page({ start }, limit)
        forwards.push(...rows)
        start = meta.next_start
      }
      assert.deepEqual(forwards, series)
      let backwards: string[] = []
      for (let end: string | null = now.toISOString(); end !== null; ) {
        const { rows, meta } = page({ end }, limit)
        backwards = [...rows, ...backwards]
        end = meta.previous_end
      }
      assert.deepEqual(backwards, series)
    }),
  )
})
