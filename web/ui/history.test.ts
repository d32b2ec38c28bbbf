import assert from 'node:assert/strict'
import test from 'node:test'
import { QueryClient } from '@tanstack/react-query'
import type { History } from './history.ts'

// The pages are asked for from where they came.
globalThis.location = { origin: 'http://plant.example' } as Location
const { aligned, inverterHistory, means } = await import('./history.ts')
// Other test files of the process have no page.
Reflect.deleteProperty(globalThis, 'location')

const start_ms = Date.parse('2026-03-29T00:00:00Z')
const span = { start_ms, end_ms: start_ms + 3_600_000 }
const at = (s: number) => start_ms + s * 1000

test('series are laid on one row of instants, held for a while, and broken where nothing was', () => {
  const { at_ms, columns } = aligned([
    { at_ms: [at(0.4), at(5), at(1000)], values: [1, null, 3] },
    { at_ms: [at(5), at(100), at(200)], values: [10, 20, 30] },
  ])
  assert.deepEqual(
    at_ms.map((ms) => (ms - start_ms) / 1000),
    [0, 5, 100, 200, 305, 1000],
  )
  assert.deepEqual(columns, [
    [1, null, null, null, null, 3],
    [null, 10, 20, 30, 30, null],
  ])
})

test('nothing, and a single value', () => {
  assert.deepEqual(aligned([]), { at_ms: [], columns: [] })
  assert.deepEqual(aligned([{ at_ms: [], values: [] }]), { at_ms: [], columns: [[]] })
  assert.deepEqual(aligned([{ at_ms: [start_ms], values: [-2] }]).columns, [[-2]])
})

test('means are of what is known within the span', () => {
  const history: History = {
    at_ms: [at(-1), at(0), at(599), at(600), at(1300), at(3600)],
    columns: { power_kw: [99, 1, -3, null, 4, 99] },
  }
  const steps = means(history, 'power_kw', span, 600_000)
  assert.deepEqual(steps, [-1, null, 4, null, null, null])
  assert.deepEqual(means(history, 'soc_pct', span, 1_800_000), [null, null])
})

interface Row {
  measured_at: string
  [figure: string]: unknown
}

/** A plant that has measured these rows, and answers with two at a time. */
function answering(t: test.TestContext, rows: Row[]): string[] {
  const asked: string[] = []
  const { fetch } = globalThis
  t.after(() => {
    globalThis.fetch = fetch
  })
  globalThis.fetch = async (input) => {
    const { searchParams } = new URL(String(input instanceof Request ? input.url : input))
    const [start = '', end = ''] = ['start', 'end'].map((name) => searchParams.get(name) ?? '')
    asked.push(start.slice(11, 23))
    const own = rows.filter(({ measured_at }) => measured_at >= start && measured_at < end)
    const next_start = own[2]?.measured_at ?? null
    return Response.json({ data: own.slice(0, 2), meta: { next_start } })
  }
  return asked
}

test('a window is read once, and then only what is new', async (t) => {
  const row = (s: number, figures: object): Row => ({
    measured_at: new Date(at(s)).toISOString(),
    inverter_id: 1,
    state: 'mppt',
    ...figures,
  })
  const rows = [
    row(0, { ac_power_kw: 5, mppt_power_kw: [2, null] }),
    row(5, { ac_power_kw: null }),
    row(10, { ac_power_kw: -1, mppt_power_kw: [3, 4] }),
  ]
  const asked = answering(t, rows)
  const client = new QueryClient()
  const options = { ...inverterHistory('north', 1, span), staleTime: 0 }
  const first = await client.fetchQuery(options)
  assert.deepEqual(asked, ['00:00:00.000', '00:00:10.000'])
  assert.deepEqual(first.columns['ac_power_kw'], [5, null, -1])
  assert.deepEqual(first.columns['mppt_power_kw:0'], [2, null, 3])
  assert.deepEqual(first.columns['mppt_power_kw:1'], [null, null, 4])
  assert.equal(first.columns['state'], undefined)

  rows.push(row(15, { ac_power_kw: 7, dc_power_kw: 8 }))
  const second = await client.fetchQuery(options)
  assert.deepEqual(asked.slice(2), ['00:00:10.001'])
  assert.deepEqual(second.at_ms, [at(0), at(5), at(10), at(15)])
  assert.deepEqual(second.columns['ac_power_kw'], [5, null, -1, 7])
  assert.deepEqual(second.columns['dc_power_kw'], [null, null, null, 8])
  assert.deepEqual(first.columns['ac_power_kw'], [5, null, -1], 'what was read stays as it was')
})
