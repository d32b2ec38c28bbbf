/** Hours that are over keep the forecast that was issued before they began. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { addPast } from '../server/forecasts/fixtures/history.ts'

const today = Date.parse('2026-06-21T00:00:00Z')
const date = '2026-06-21'
let site: ServedSite
let weather_run_id = 10_000

before(async () => {
  site = await servedSite()
  await addPast(site.db, { site_id: 'demo', from_ms: today - 3 * day_ms, to_ms: today })
})
after(() => site.close())

interface Point {
  start_at: string
  p10_kw: number
  p50_kw: number
  p90_kw: number
  poa_irradiance_w_m2: number | null
}
interface Day {
  run_id: number
  cached: boolean
  points: Point[]
  total_p10_kwh: number
  total_p50_kwh: number
  total_p90_kwh: number
}

async function forecastAt(instant: string): Promise<{ plant: Day; whole: Day }> {
  site.clock.set(instant)
  const { status, body } = await site.get(`/predictions/forecast?date=${date}`)
  assert.equal(status, 200, JSON.stringify(body))
  return { plant: body.data[0], whole: body.meta.site }
}

/** A weather forecast with so much of the irradiance of the first one. */
const weatherAt = (issued_at: string, ratio: number) =>
  site.db.execute(
    `insert into weather_runs
     select (jsonb_populate_record(w, jsonb_build_object('run_id', $1::bigint,
       'issued_at', $2::text, 'fetched_at', $2::text,
       'ghi_w_m2', array(select $3::real * v from unnest(w.ghi_w_m2) with ordinality as g (v, nth)
         order by nth)))).*
     from weather_runs w where kind = 'live' order by issued_at limit 1`,
    [String(weather_run_id++), issued_at, ratio],
  )

const totals = ({ total_p10_kwh, total_p50_kwh, total_p90_kwh }: Day) => [
  total_p10_kwh,
  total_p50_kwh,
  total_p90_kwh,
]
const energy = (points: readonly Point[], name: 'p10_kw' | 'p50_kw' | 'p90_kw') =>
  points.reduce((sum, point) => sum + point[name], 0)

test('new weather changes only the hours that begin after it, and the day by what they change', async () => {
  const morning = await forecastAt('2026-06-21T04:10:00Z')
  await weatherAt('2026-06-21T10:30:00Z', 0.4)
  const noon = await forecastAt('2026-06-21T10:40:00Z')
  for (const part of ['plant', 'whole'] as const) {
    const [first, next] = [morning[part], noon[part]]
    assert.ok(next.run_id > first.run_id)
    assert.deepEqual(next.points.slice(0, 11), first.points.slice(0, 11))
    const rest = (day: Day) => energy(day.points.slice(11), 'p50_kw')
    assert.ok(rest(next) < 0.6 * rest(first), `${rest(next)} of ${rest(first)}`)
    assert.ok(Math.abs(next.total_p50_kwh - energy(next.points, 'p50_kw')) < 0.05)
    const [p10, p50, p90] = totals(next)
    assert.ok(p10! < p50! && p50! < p90!)
    assert.ok(p90! - p50! <= energy(next.points, 'p90_kw') - energy(next.points, 'p50_kw') + 0.05)
  }
})

test('once the sun is down the day stays as it was forecast, whatever weather comes', async () => {
  await weatherAt('2026-06-21T17:30:00Z', 1)
  const before_dusk = await forecastAt('2026-06-21T17:40:00Z')
  for (const [weather, asked, ratio] of [
    ['2026-06-21T20:30:00Z', '2026-06-21T20:40:00Z', 0.3],
    ['2026-06-21T21:30:00Z', '2026-06-21T21:40:00Z', 1.2],
    ['2026-06-21T23:30:00Z', '2026-06-21T23:40:00Z', 0.1],
  ] as const) {
    await weatherAt(weather, ratio)
    const evening = await forecastAt(asked)
    for (const part of ['plant', 'whole'] as const) {
      assert.ok(evening[part].run_id > before_dusk[part].run_id)
      assert.deepEqual(totals(evening[part]), totals(before_dusk[part]), asked)
      assert.deepEqual(evening[part].points, before_dusk[part].points, asked)
    }
    const { predictions } = (await site.get('/overview')).body
    assert.equal(predictions.today_p50_kwh, before_dusk.whole.total_p50_kwh)
  }
})

test('an outage that is reported afterwards does not lower what had been forecast', async () => {
  const before_it = await forecastAt('2026-06-21T23:50:00Z')
  await site.db.execute(
    `insert into planned_outages (site_id, start_at, end_at, unavailable_pct, created_at)
     values ('demo', '2026-06-21T08:00Z', '2026-06-21T12:00Z', 50, '2026-06-21T09:30Z')`,
  )
  const after_it = await forecastAt('2026-06-21T23:50:00Z')
  const ratios = [7, 8, 9, 10, 11, 12].map(
    (hour) => after_it.plant.points[hour]!.p50_kw / before_it.plant.points[hour]!.p50_kw,
  )
  assert.deepEqual(
    ratios.map((ratio) => Math.round(1000 * ratio) / 1000),
    [1, 1, 1, 0.5, 0.5, 1],
  )
})
