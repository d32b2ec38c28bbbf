/** `refresh=true` makes one run a minute and plant at most, on however many servers. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { addPast } from '../server/forecasts/fixtures/history.ts'
import { readDayForecasts } from '../server/forecasts/forecasts.ts'
import { createThread, type ForecastThread } from '../server/forecasts/thread.ts'

const today = Date.parse('2026-06-21T00:00:00Z')
const date = '2026-06-21'
let site: ServedSite
let thread: ForecastThread

before(async () => {
  site = await servedSite()
  thread = createThread()
  await addPast(site.db, { site_id: 'demo', from_ms: today - 3 * day_ms, to_ms: today })
})
after(async () => {
  await thread.close()
  await site.close()
})

interface Day {
  run_id: number
  run_at: string
  cached: boolean
}
async function refreshAt(instant: string): Promise<Day[]> {
  site.clock.set(instant)
  const { status, body } = await site.get('/predictions/forecast?refresh=true')
  assert.equal(status, 200, JSON.stringify(body))
  return [body.meta.site, ...body.data]
}
const runCount = async () => (await site.db.query('select from forecast_runs')).length

test('within a minute of a run, a refresh is answered from it', async () => {
  const first = await refreshAt('2026-06-21T09:00:00Z')
  assert.deepEqual(
    first.map(({ cached }) => cached),
    [false, false, false],
  )
  for (const second of ['01', '30', '59']) {
    const again = await refreshAt(`2026-06-21T09:00:${second}Z`)
    assert.deepEqual(
      again.map(({ run_id, cached }) => [run_id, cached]),
      first.map(({ run_id }) => [run_id, true]),
    )
  }
  assert.equal(await runCount(), 3)
  const [next] = await refreshAt('2026-06-21T09:01:00Z')
  assert.deepEqual([next!.cached, next!.run_at], [false, '2026-06-21T09:01:00.000Z'])
  assert.equal(await runCount(), 6)
})

test('two servers that are asked at once store one run of each plant', async () => {
  site.clock.set('2026-06-21T09:05:00Z')
  const before_it = await runCount()
  const { db, clock } = site
  // Both have found no fresh run before either stores its own.
  const both = Promise.withResolvers<void>()
  let begun = 0
  const waiting: ForecastThread = {
    ...thread,
    async run(task) {
      begun += 1
      if (begun === 2) both.resolve()
      await both.promise
      return thread.run(task)
    },
  }
  const days = await Promise.all(
    // Requests of one server share the runs they make; each server has a database of its own.
    [{ ...db }, { ...db }].map((own_db) =>
      readDayForecasts({ db: own_db, clock }, { site_id: 'demo', date, refresh: true }, waiting),
    ),
  )
  assert.equal(await runCount(), before_it + 3)
  const [one, other] = days.map(({ runs }) => [...runs.values()].map(({ run_id }) => run_id))
  assert.deepEqual(one, other)
  assert.deepEqual(days.map(({ is_new }) => is_new).toSorted(), [false, true])
})
