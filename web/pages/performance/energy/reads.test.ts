import assert from 'node:assert/strict'
import test from 'node:test'
import { sumKnown } from '../../../ui/format.ts'
import { periodOf } from '../../../ui/periods.ts'

// The pages are asked for from where they came.
globalThis.location = { origin: 'http://plant.example' } as Location
const { labelOf, readBuckets } = await import('./reads.ts')
// Other test files of the process have no page.
Reflect.deleteProperty(globalThis, 'location')

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

interface Hour {
  energy_kwh: number | null
  is_partial: boolean
}

/** Plants that have the same in every hour, and an API that answers with whole days of UTC. */
function answering(t: test.TestContext, plants: Record<number, Hour>): void {
  const { fetch } = globalThis
  t.after(() => {
    globalThis.fetch = fetch
  })
  globalThis.fetch = async (input) => {
    const { searchParams } = new URL(String(input))
    const [start_ms = 0, end_ms = 0] = ['start', 'end'].map((name) =>
      Date.parse(searchParams.get(name) ?? ''),
    )
    const first_ms = Math.floor(start_ms / day_ms) * day_ms
    const count = Math.ceil((end_ms - first_ms) / day_ms) * 24
    const hoursOf = (hour: Hour) =>
      Array.from({ length: count }, (_, nth) => ({
        start_at: new Date(first_ms + nth * hour_ms).toISOString(),
        expected_energy_kwh: null,
        curtailed_energy_kwh: -0,
        ...hour,
      }))
    const data = Object.entries(plants).map(([logger_id, hour]) => ({
      logger_id: Number(logger_id),
      hours: hoursOf(hour),
    }))
    return Response.json({ data, meta: { count: data.length } })
  }
}

const whole = { energy_kwh: 1, is_partial: false }
const read = (kind: 'day' | 'month' | 'year', date: string, timezone = 'Europe/Berlin') =>
  readBuckets(
    {
      site_id: 'north',
      period: periodOf(kind, date),
      timezone,
      today: '2026-12-31',
      plant_count: 400,
    },
    new AbortController().signal,
  )
type Buckets = Awaited<ReturnType<typeof read>>
const energies = (buckets: Buckets) => buckets.map(({ by_logger }) => by_logger.get(1) ?? null)

test('a day has the hours that its clocks have', async (t) => {
  answering(t, { 1: whole })
  for (const [date, hours] of [
    ['2026-03-29', 23],
    ['2026-06-21', 24],
    ['2026-10-25', 25],
  ] as const) {
    assert.deepEqual(energies(await read('day', date)), new Array(hours).fill(1), date)
  }
})

test('where clocks are half an hour off, an hour belongs to the day in which it begins', async (t) => {
  answering(t, { 1: whole })
  assert.deepEqual(energies(await read('day', '2026-06-21', 'Asia/Kolkata')), new Array(24).fill(1))
  const month = energies(await read('month', '2026-06-21', 'Asia/Kolkata'))
  assert.deepEqual(month, new Array(30).fill(24))
})

test('a year has every hour once, whenever the clocks change', async (t) => {
  answering(t, { 1: whole })
  const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  const change = (nth: number) => (nth === 2 ? -1 : nth === 9 ? 1 : 0)
  assert.deepEqual(
    energies(await read('year', '2026-06-21')),
    days.map((count, nth) => count * 24 + change(nth)),
  )
})

test('what is not known is not 0, and what is partial says so', async (t) => {
  answering(t, {
    1: { energy_kwh: null, is_partial: false },
    2: { energy_kwh: -0.5, is_partial: true },
  })
  const [bucket] = await read('day', '2026-06-21')
  assert.deepEqual([...bucket!.by_logger], [[2, -0.5]])
  assert.equal(bucket!.expected_kwh, null)
  assert.equal(bucket!.is_partial, true)
  answering(t, { 1: whole })
  assert.equal((await read('day', '2026-06-21'))[0]!.is_partial, false)
})

test('days to come have no bucket', async (t) => {
  answering(t, { 1: whole })
  assert.equal((await read('month', '2026-12-31')).length, 31)
  assert.deepEqual(await read('month', '2027-01-01'), [])
})

test('the axis says the hour at the site, the day and the month', () => {
  const label = (key: string, kind: 'day' | 'month' | 'year') =>
    labelOf(key, { period: periodOf(kind, '2026-06-21'), timezone: 'Asia/Kolkata' })
  assert.equal(label('2026-06-20T19:00:00.000Z', 'day'), '00:30')
  assert.equal(label('2026-06-07', 'month'), '7')
  assert.equal(label('2026-06', 'year'), 'Jun')
})

test('a sum is of what is known', () => {
  const of = (value: number | null) => value
  assert.equal(sumKnown([], of), null)
  assert.equal(sumKnown([null, null], of), null)
  assert.equal(sumKnown([null, 2, -3], of), -1)
})
