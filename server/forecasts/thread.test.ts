import assert from 'node:assert/strict'
import os from 'node:os'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import type { Plant } from '@heliograph/forecast/plant'
import { backgroundThreads } from '../threads/fixtures/background-threads.ts'
import type { PredictTask } from './tasks.ts'
import { createThread } from './thread.ts'

const june = Date.parse('2026-06-21T00:00:00Z')

const plant: Plant = {
  rated_power_kw: 100,
  dc_capacity_kwp: 110,
  place: { latitude: 48.6, longitude: 12.2, elevation_m: 300 },
  arrays: [{ tilt_deg: 25, azimuth_deg: 180, dc_capacity_kwp: 110 }],
}

const task = (change: Partial<Plant> = {}): PredictTask => ({
  kind: 'predict',
  items: [
    {
      plant: { ...plant, ...change },
      days: [
        {
          grid: { from_ms: june, to_ms: june + day_ms, step_ms: day_ms / 24 },
          weather: new Float64Array(),
        },
      ],
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
  const [whole, half] = [one[0]![0]!, other[0]![0]!]
  assert.equal(whole.points.length, 24)
  // Without weather the sky of usual days stands in.
  assert.ok(whole.total_p50_kwh > 100 && whole.total_p50_kwh > half.total_p50_kwh)
  assert.ok(half.points.every(({ p90_kw }) => p90_kw <= 50))
  await assert.rejects(thread.run(task({ rated_power_kw: 0 })), /rated_power_kw is 0/)
  assert.equal((await thread.run(task()))[0]![0]!.points.length, 24)
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

test('a model moves into the thread, but not what others share memory with', async (t) => {
  const thread = createThread()
  t.after(() => thread.close())
  const both = Buffer.alloc(2000)
  for (const [model, left] of [
    [Buffer.alloc(1000), 0],
    [both.subarray(1000), 1000],
  ] as const) {
    const { items, ...rest } = task()
    const asked = { ...rest, items: items.map((item) => ({ ...item, model })) }
    // It is no model, which is for the caller to mend.
    assert.deepEqual(await thread.run(asked), [null])
    assert.equal(model.length, left)
  }
  assert.equal(both.length, 2000)
})

test('a thread in the background gives way, and no other does', async (t) => {
  if (process.platform !== 'linux') return t.skip('LEFT OUT: priorities of threads, but on Linux')
  if (os.getPriority() > 0) return t.skip('LEFT OUT: this process gives way to all others itself')
  const priority = os.getPriority()
  const before = backgroundThreads()
  for (const in_background of [false, true]) {
    const thread = createThread({ in_background })
    t.after(() => thread.close())
    await thread.run(task())
    const found = backgroundThreads().difference(before)
    assert.equal(found.size, in_background ? 1 : 0)
  }
  assert.equal(os.getPriority(), priority)
})
