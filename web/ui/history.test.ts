import assert from 'node:assert/strict'
import test from 'node:test'
import { QueryClient } from '@tanstack/react-query'

// The pages are asked for from where they came.
globalThis.location = { origin: 'http://plant.example' } as Location
const { aligned, everyOf, historyOf } = await import('./history.ts')
// Other test files of the process have no page.
Reflect.deleteProperty(globalThis, 'location')

const start_ms = Date.parse('2026-03-29T00:00:00Z')
const span = { start_ms, end_ms: start_ms + 3_600_000 }
const at = (s: number) => start_ms + s * 1000

test('series are laid on common instants, and broken where nothing was measured', () => {
  const { at_ms, columns } = aligned(
    [
      { at_ms: [at(0), at(60), at(1000)], values: [1, null, 3] },
      { at_ms: [at(60), at(120)], values: [10, 20] },
    ],
    300_000,
  )
  assert.deepEqual(
    at_ms.map((ms) => (ms - start_ms) / 1000),
    [0, 60, 120, 420, 1000],
  )
  assert.deepEqual(columns, [
    [1, null, null, null, 3],
    [null, 10, 20, null, null],
  ])
})

test('nothing, and a single value', () => {
  assert.deepEqual(aligned([]), { at_ms: [], columns: [] })
  assert.deepEqual(aligned([{ at_ms: [], values: [] }]), { at_ms: [], columns: [[]] })
  assert.deepEqual(aligned([{ at_ms: [start_ms], values: [-2] }]).columns, [[-2]])
})

test('no series has more than 2,000 points', () => {
  const stepOf = (hours: number) => everyOf({ start_ms, end_ms: start_ms + hours * 3_600_000 })
  assert.deepEqual([1, 25, 48, 72, 168, 1000].map(stepOf), [
    '60s',
    '60s',
    '300s',
    '300s',
    '900s',
    '3600s',
  ])
})

interface Row {
  measured_at: string
  [figure: string]: unknown
}

/** A plant that has measured these steps. */
function answering(t: test.TestContext, rows: Row[]): URLSearchParams[] {
  const asked: URLSearchParams[] = []
  const { fetch } = globalThis
  t.after(() => {
    globalThis.fetch = fetch
  })
  globalThis.fetch = async (input) => {
    const { searchParams } = new URL(String(input instanceof Request ? input.url : input))
    const [start = '', end = ''] = ['start', 'end'].map((name) => searchParams.get(name) ?? '')
    asked.push(searchParams)
    const data = rows.filter(({ measured_at }) => measured_at >= start && measured_at < end)
    return Response.json({ data, meta: { next_start: null, resolution_s: 60 } })
  }
  return asked
}

test('a window is read once in steps, and then only its last step and new ones', async (t) => {
  const row = (s: number, figures: object): Row => ({
    measured_at: new Date(at(s)).toISOString(),
    state: 'mppt',
    ...figures,
  })
  const rows = [
    row(0, { ac_power_kw: 5, mppt_power_kw: [2, null] }),
    row(60, { ac_power_kw: null }),
    row(120, { ac_power_kw: -1, mppt_power_kw: [3, 4] }),
  ]
  const asked = answering(t, rows)
  const client = new QueryClient()
  const names = ['mppt_power_kw:1', 'ac_power_kw', 'mppt_power_kw:0']
  const device = { site_id: 'north', inverter_id: 1 }
  const options = { ...historyOf('invertersHistoryList', device, { span, names }), staleTime: 0 }
  const first = await client.fetchQuery(options)
  assert.deepEqual(
    ['every', 'fields', 'limit'].map((name) => asked[0]!.get(name)),
    ['60s', 'ac_power_kw,mppt_power_kw', '2000'],
  )
  assert.deepEqual(first.columns['ac_power_kw'], [5, null, -1])
  assert.deepEqual(first.columns['mppt_power_kw:0'], [2, null, 3])
  assert.deepEqual(first.columns['mppt_power_kw:1'], [null, null, 4])
  assert.equal(first.columns['state'], undefined)
  assert.equal(first.gap_ms, 300_000)

  rows[2] = row(120, { ac_power_kw: -2, mppt_power_kw: [3, 4] })
  rows.push(row(180, { ac_power_kw: 7 }))
  const second = await client.fetchQuery(options)
  assert.deepEqual(
    asked.map((query) => query.get('start')?.slice(11, 19)),
    ['00:00:00', '00:02:00'],
  )
  assert.deepEqual(second.at_ms, [at(0), at(60), at(120), at(180)])
  assert.deepEqual(second.columns['ac_power_kw'], [5, null, -2, 7])
  assert.deepEqual(second.columns['mppt_power_kw:0'], [2, null, 3])
  assert.deepEqual(first.columns['ac_power_kw'], [5, null, -1], 'what was read stays as it was')
})
