import assert from 'node:assert/strict'
import test from 'node:test'
import type { Plant } from '@heliograph/forecast/plant'
import type { PredictTask } from './tasks.ts'
import { createThread } from './thread.ts'

const day_ms = 86_400_000
const june = Date.parse('2026-06-21T00:00:00Z')

const plant: Plant = {
  rated_power_kw: 100,
  dc_capacity_kwp: 110,
  place: { latitude: 48.6, longitude: 12.2, elevation_m: 300 },
  arrays: [{ tilt_deg: 25, azimuth_deg: 180, dc_capacity_kwp: 110 }],
}

const task = (change: Partial<Plant> = {}): PredictTask => ({
  kind: 'predict',
  issued_ms: june,
  items: [
    {
      plant: { ...plant, ...change },
      grid: { from_ms: june, to_ms: june + day_ms, step_ms: day_ms / 24 },
      weather: new Float64Array(),
      model: null,
      history: null,
    },
  ],
})

test('the thread answers each who asks, tells what fails, and goes on', async (t) => {
  const thread = createThread()
  t.after(() => thread.close())
  const [one, other] = await Promise.all([
    thread.run(task()),
    thread.run(task({ rated_power_kw: 50 })),
  ])
  assert.equal(one[0]!.points.length, 24)
  // Without weather the sky of usual days stands in.
  assert.ok(one[0]!.total_p50_kwh > 100 && one[0]!.total_p50_kwh > other[0]!.total_p50_kwh)
  assert.ok(other[0]!.points.every(({ p90_kw }) => p90_kw <= 50))
  await assert.rejects(thread.run(task({ rated_power_kw: 0 })), /rated_power_kw is 0/)
  assert.equal((await thread.run(task()))[0]!.points.length, 24)
})

test('what is under way when the thread ends fails, and the next task starts another', async (t) => {
  const thread = createThread()
  t.after(() => thread.close())
  const asked = thread.run(task())
  const failed = assert.rejects(asked, /closed/)
  await thread.close()
  await failed
  assert.equal((await thread.run(task())).length, 1)
})
