/** The past of forecasts beside actuals: what is not known of it, and what later changes leave. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { exclusionOf } from '@heliograph/forecast/production-samples'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { gateOf } from '../server/forecasts/assigned-market.ts'
import { readCourses } from '../server/forecasts/course.ts'
import { addPast } from '../server/forecasts/fixtures/history.ts'
import { trainAll } from '../server/forecasts/jobs.ts'
import { addOutage } from '../server/forecasts/outage-admin.ts'
import { measuredIn } from '../server/forecasts/samples.ts'
import { silent } from './postgres.ts'

const first_ms = Date.parse('2026-06-18T00:00:00Z')
/** The day that was forecast. */
const day = '2026-06-22'
const at = (time: string) => new Date(`${day}T${time}Z`)
let site: ServedSite

before(async () => {
  site = await servedSite()
  const { db, clock } = site
  clock.set('2026-06-21T09:00:00Z')
  await addPast(db, { site_id: 'demo', from_ms: first_ms, to_ms: at('00:00').getTime() + day_ms })
  await site.get(`/predictions/forecast?date=${day}`)
  // Plant 1 is held to 10 kW; how much light there was nobody measured.
  await db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('demo', 'g', 'api', now());
    insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, applied_at,
      max_power_kw)
    values ('demo', 'g', 1, '${day}T08:00Z', '${day}T10:30Z', '${day}T08:00Z', 10);
    update logger_hours set curtailment_loss_kwh = null, sun_covered_s = 0
    where logger_id = 1 and hour_at >= '${day}T09:00Z'`)
  await addOutage(site, {
    site_id: 'demo',
    logger_id: 2,
    unavailable_pct: 50,
    reason: null,
    start_at: at('12:00'),
    end_at: at('13:00'),
  })
  clock.set('2026-06-24T00:00:00Z')
})
after(() => site.close())

interface Item {
  start_at: string
  p50_kwh: number
  actual_kwh: number | null
  actual_available_kwh: number | null
  error_kwh: number | null
  error_pct: number | null
  inside_band: boolean | null
  curtailed: boolean
}

async function production(query = ''): Promise<Item[]> {
  const window = `start=${day}T00:00:00Z&end=2026-06-23T00:00:00Z`
  const { status, body } = await site.get(`/predictions/production?${window}${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

const outcome = (item: Item) => [
  item.actual_available_kwh,
  item.error_kwh,
  item.error_pct,
  item.inside_band,
  item.curtailed,
]

test('of what was held by nobody knows how much there is no available energy', async () => {
  const unknown = [null, null, null, null, true]
  for (const query of ['&logger_id=1', '']) {
    const items = await production(query)
    // Of the hour from 10:00 on a half was held.
    for (const hour of [9, 10]) {
      assert.ok(items[hour]!.actual_kwh! > 0)
      assert.deepEqual(outcome(items[hour]!), unknown, `${hour} ${query}`)
    }
    // Before, the loss is known to be none; later, nothing held the plant.
    for (const hour of [8, 11, 23]) {
      const { actual_available_kwh, actual_kwh, error_kwh, curtailed } = items[hour]!
      assert.ok(actual_kwh !== null && error_kwh !== null)
      assert.deepEqual([actual_available_kwh, curtailed], [actual_kwh, false], `${hour} ${query}`)
    }
  }
  assert.ok((await production('&logger_id=2')).every(({ curtailed }) => !curtailed))
})

test('a plant that nobody has is refused before anything is forecast', async () => {
  const count = async () => (await site.db.query('select from forecast_runs')).length
  const runs = await count()
  const path = (logger_id: number) => `/predictions/forecast/logger/${logger_id}?date=2026-06-25`
  const { status, body } = await site.get(path(99))
  assert.deepEqual([status, body.error.details.logger_id], [404, 99])
  assert.equal(await count(), runs)
  assert.equal((await site.get(path(1))).status, 200)
  assert.equal(await count(), runs + 3)
})

test('it is neither learned from nor scored, for being held', async () => {
  const from_ms = at('00:00').getTime()
  const span = { from_ms, to_ms: from_ms + day_ms }
  const courses = await readCourses(site.db, { site_id: 'demo', logger_ids: [1, 2], ...span })
  for (const course of [courses.plants.get(1)!, courses.site]) {
    const excluded = [8, 9, 10, 11].map((hour) => {
      const start_ms = from_ms + hour * hour_ms
      return exclusionOf(measuredIn(course, { start_ms, end_ms: start_ms + hour_ms }))
    })
    assert.deepEqual(excluded, [null, 'curtailed', 'curtailed', null])
  }
  assert.equal((await scores()).curtailed_excluded_count, 2)
})

/** Of the site, by its forecasts of the last seven days, once all is trained and scored again. */
async function scores() {
  const signal = new AbortController().signal
  await trainAll({ db: site.db, clock: site.clock, log: silent, signal })
  const { data } = (await site.get('/predictions/model-status')).body
  const { metrics } = data.find(({ model }: { model: string }) => model === 'production:site')
  const found = metrics.find(
    (one: Record<string, unknown>) => one['window_days'] === 7 && one['lead_time'] === 'day_ahead',
  )
  // In percent they are of the power that the site has now.
  const { sample_count, curtailed_excluded_count, mae_kw, rmse_kw, mbe_kw, crps_kw } = found
  return { sample_count, curtailed_excluded_count, mae_kw, rmse_kw, mbe_kw, crps_kw }
}

test('a plant that retires, or comes, leaves the past of the site as it was', async () => {
  const { db } = site
  // Its gate closes at 10:15.
  await db.execute(
    `insert into market_assignments (site_id, logger_id, market_code, contract_type,
       pays_at_negative_price, currency, valid_from)
     values ('demo', 2, 'AT-EXAA', 'spot', true, 'EUR', '2026-01-01')`,
  )
  const gateOn = async (date: string) =>
    (await gateOf(db, { site_id: 'demo', logger_id: 2 }, date)).gate_closure_local
  await db.execute("update forecast_runs set issued_at = '2026-06-21T07:00Z'")
  const free = await production('&logger_id=2')
  const [known, scored] = [await production(), await scores()]
  assert.ok(scored.sample_count > 10)
  assert.ok(known[11]!.actual_kwh! > free[11]!.actual_kwh! && free[11]!.actual_kwh! > 0)
  await db.query(`
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at)
    values ('demo', 3, 'Three', 900, 1000, '2026-06-23T06:00Z', '2026-06-23T06:00Z')`)
  assert.deepEqual(await production(), known)
  assert.deepEqual(await scores(), scored)
  for (const table of ['loggers', 'inverters']) {
    await db.execute(
      `update ${table} set retired_at = '2026-06-23T12:00Z' where site_id = 'demo' and logger_id = 2`,
    )
  }
  assert.deepEqual(await production(), known)
  assert.deepEqual(await production('&logger_id=2'), free)
  assert.deepEqual(await scores(), scored)
  assert.deepEqual([await gateOn(day), await gateOn('2026-06-24')], ['10:15', '12:00'])
  // From its end on it is no part of the site, and nothing that the site lacks.
  await db.execute('update loggers set retired_at = $1 where logger_id = 2', [at('11:00')])
  await db.execute('delete from logger_hours where logger_id = 2 and hour_at >= $1', [at('11:00')])
  const alone = await production('&logger_id=1')
  const items = await production()
  assert.equal(items[8]!.actual_kwh, known[8]!.actual_kwh)
  assert.equal(items[11]!.actual_kwh, alone[11]!.actual_kwh)
})
