import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { silent } from '../../../test/postgres.ts'
import { type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import { touchReadingsSince } from '../../telemetry/touched-hours.ts'
import { createRollups } from '../rollups/job.ts'

const day = '2026-06-21'
const midnight = Date.parse(`${day}T00:00:00Z`)

/** 60 kW from 04:00 to 18:00, the counter rising with it; a reading a minute. */
async function measure(
  { db }: ServedSite,
  inverter_id: number,
  silent_from_to: readonly [number, number] | null = null,
) {
  const readings = Array.from({ length: 24 * 60 }, (_, minute) => ({
    at: new Date(midnight + minute * minute_ms).toISOString(),
    kw: minute >= 240 && minute < 1080 ? 60 : 0,
    kwh: 1000 + Math.min(Math.max(minute - 240, 0), 840),
  })).filter(
    (_, minute) =>
      silent_from_to === null || minute <= silent_from_to[0] || minute >= silent_from_to[1],
  )
  await db.execute(
    `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, ac_power_kw,
       energy_total_kwh)
     SELECT 'demo', $1, * FROM (
       SELECT at, 'good', kw, kwh FROM unnest($2::timestamptz[], $3::float8[], $4::float8[])
         AS t (at, kw, kwh)) AS r`,
    [
      inverter_id,
      readings.map(({ at }) => at),
      readings.map(({ kw }) => kw),
      readings.map(({ kwh }) => kwh),
    ],
  )
}

async function rollUp({ db }: ServedSite, since = midnight) {
  await db.transaction((transaction) => touchReadingsSince(transaction, 'demo', new Date(since)))
  // Marks are due by the time of the database.
  const clock = { now: () => new Date(Math.max(Date.now(), midnight) + 48 * hour_ms) }
  const timers = { after: () => () => {} }
  await createRollups(db, { clock, timers, log: silent }).runDue()
}

const near = (actual: number, expected: number) =>
  assert.ok(
    Math.abs(actual - expected) <= 1e-6 * Math.abs(expected) + 0.0005 * 24,
    `${actual} is not ${expected}`,
  )

test('the energy of a day, whole and with a gap of hours', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { get, clock } = site
  clock.set('2026-06-22T06:00:00Z')
  await measure(site, 1)
  await measure(site, 2, [10 * 60 + 20, 14 * 60 + 40])
  await rollUp(site)

  await t.test('of each logger and of the site', async () => {
    const { status, body } = await get(`/plant/summary?date=${day}`)
    assert.equal(status, 200)
    const [south, east] = body.data
    near(south.energy_kwh, 1680)
    near(south.estimated_energy_kwh, 260)
    assert.equal(south.energy_source, 'mixed')
    near(south.specific_yield_kwh_kwp, 21)
    assert.ok(south.completeness_pct > 84 && south.completeness_pct < 94)
    assert.equal(south.is_partial, true)
    assert.equal(south.first_production_at, `${day}T04:00:00.000Z`)
    assert.equal(south.last_production_at, `${day}T17:59:00.000Z`)
    assert.deepEqual([south.peak_power_kw, south.peak_power_at], [120, `${day}T04:00:00.000Z`])
    assert.equal(south.sample_count, 2 * 1440 - 259)
    assert.equal(south.expected_energy_kwh, null)
    assert.deepEqual(
      [east.energy_kwh, east.energy_source, east.completeness_pct, east.is_partial],
      [null, null, 0, true],
    )
    const { totals } = body.meta
    near(totals.energy_kwh, 1680)
    assert.deepEqual([body.meta.count, totals.loggers_known], [2, 1])
  })

  await t.test('by hours that add up to it', async () => {
    const { body } = await get(`/energy/hourly?start=${day}T05:00:00Z&end=${day}T06:00:00Z`)
    const [south, east] = body.data
    assert.equal(body.data.length, 2)
    assert.equal(south.hours.length, 24)
    near(south.total_kwh, 1680)
    const of = (hours: { energy_kwh: number | null }[]) =>
      hours.reduce((sum, { energy_kwh }) => sum + (energy_kwh ?? 0), 0)
    near(of(south.hours), 1680)
    near(of(body.meta.totals_by_hour), 1680)
    const [morning, gap] = [south.hours[8], south.hours[12]]
    near(morning.energy_kwh, 120)
    assert.deepEqual(
      [morning.energy_source, morning.completeness_pct, morning.is_partial],
      ['inverter_counter', 100, false],
    )
    assert.ok(gap.energy_kwh > 115 && gap.energy_kwh < 130)
    assert.deepEqual([gap.energy_source, gap.completeness_pct, gap.is_partial], ['mixed', 50, true])
    const night = south.hours[1]
    assert.deepEqual([night.energy_kwh, night.completeness_pct, night.is_partial], [0, null, false])
    assert.deepEqual(
      [east.total_kwh, east.hours[12].energy_kwh, east.peak_hour],
      [null, null, null],
    )
    assert.equal(east.hours[1].is_partial, false)
    const one = await get(`/energy/hourly?start=${day}T05:00:00Z&end=${day}T06:00:00Z&logger_ids=2`)
    assert.deepEqual(one.body.data, [east])
    assert.equal((await get('/energy/hourly?logger_ids=1,9')).status, 404)
  })

  await t.test('of one logger since an instant, to the hour that is running', async () => {
    clock.set(`${day}T12:30:00Z`)
    const { body } = await get(`/loggers/1/hourly-energy?since=${day}T09:30:00Z`)
    assert.deepEqual(
      body.data.map(({ start_at }: { start_at: string }) => start_at.slice(11, 13)),
      ['10', '11', '12'],
    )
    const [first, , running] = body.data
    near(first.max_power_kw, 120)
    assert.equal(running.is_partial, true)
    assert.equal(running.avg_power_kw, null)
    assert.equal((await get('/loggers/1/hourly-energy')).body.meta.count, 168)
    assert.equal((await get('/loggers/9/hourly-energy')).status, 404)
    assert.equal((await get('/loggers/1/hourly-energy?since=2027-01-01T00:00:00Z')).status, 200)
    const today = await get('/energy/hourly?start=2026-06-21T00:00:00Z')
    assert.equal(today.body.data[0].hours[13].is_partial, true)
    clock.set('2026-06-22T06:00:00Z')
  })

  await t.test('and late readings of the gap make it measured', async () => {
    const before = (await get(`/plant/summary?date=${day}`)).body.data[0]
    await site.db.execute('DELETE FROM inverter_readings WHERE inverter_id = 2')
    await measure(site, 2)
    await rollUp(site)
    const { body } = await get(`/plant/summary?date=${day}`)
    near(body.data[0].energy_kwh, before.energy_kwh)
    assert.deepEqual(
      [body.data[0].estimated_energy_kwh, body.data[0].energy_source, body.data[0].is_partial],
      [0, 'inverter_counter', false],
    )
    assert.deepEqual(await site.db.query('SELECT * FROM inverter_gap_hours'), [])
  })
})

test('days of which nothing is known, and days to come', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  for (const path of ['/plant/summary', '/plant/summary?date=2027-01-01', '/energy/hourly']) {
    const { status, body } = await site.get(path)
    assert.equal(status, 200, path)
    const [first] = body.data
    assert.equal(first.energy_kwh ?? first.total_kwh ?? null, null)
    assert.equal(first.is_partial, true)
  }
  assert.equal((await site.get('/plant/summary?date=2026-02-30')).status, 422)
})

test('the strings of an inverter, hour by hour', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  clock.set('2026-06-22T06:00:00Z')
  const times = Array.from({ length: 150 }, (_, nth) =>
    new Date(midnight + 9 * hour_ms + nth * minute_ms).toISOString(),
  )
  await db.execute(
    `INSERT INTO string_readings (site_id, inverter_id, first_string_index, measured_at, quality,
       current_a, voltage_v)
     SELECT 'demo', 1, 0, at, 'good', array[9 + random(), 8, null, 7], array[800, 800, 800, 800]
     FROM unnest($1::timestamptz[]) AS at`,
    [times],
  )
  await rollUp(site)
  const { body } = await get(
    `/strings/inverter/1/hourly?start=${day}T10:30:00Z&end=${day}T12:00:00Z`,
  )
  const shown = body.data.map((item: { string_index: number; start_at: string }) => [
    item.start_at.slice(11, 13),
    item.string_index,
  ])
  assert.deepEqual(shown, [
    ['10', 0],
    ['10', 1],
    ['10', 3],
    ['11', 0],
    ['11', 1],
    ['11', 3],
  ])
  const [, second] = body.data
  assert.ok(Math.abs(second.energy_kwh - 6.4) < 1e-3)
  assert.deepEqual(
    [second.avg_current_a, second.avg_voltage_v, second.completeness_pct, second.is_partial],
    [8, 800, 100, false],
  )
  // All of them repeat themselves, which compares with nothing and is energy all the same.
  assert.equal(second.sample_count, 60)
  assert.ok(Math.abs(second.specific_yield_kwh_kwp - 0.64) < 1e-3)
  assert.equal(body.data[4].is_partial, true)
  assert.equal((await get('/strings/inverter/9/hourly')).status, 404)
  assert.deepEqual((await get('/strings/inverter/2/hourly')).body.data, [])
})
