import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { addKey, type ServedSite, servedSite } from '../fixtures/served-site.ts'
import { clearSkyEnergy } from './clear-sky-energy.ts'

const hour_ms = 3_600_000
const first = Date.parse('2026-06-01T00:00:00Z')
const place = { latitude: 48.62, longitude: 12.17, elevation_m: 0 }
/** South, 80 kWp behind 200 kW. */
const clear = clearSkyEnergy(place, {
  panels: [{ azimuth_deg: 180, tilt_deg: 25, dc_capacity_kwp: 80 }],
  rated_power_kw: 200,
})

let site: ServedSite
before(async () => {
  site = await servedSite()
})
after(() => site.close())
beforeEach(async () => {
  await site.db.execute('delete from logger_hours; delete from curtailment_rows')
  site.clock.set('2026-06-21T10:00:00Z')
})

/** Hours of plant 1 from 1 June on, each a part of its clear sky. */
async function addHours(days: number, part: number, loss_part = 0, change: object = {}) {
  const rows = Array.from({ length: days * 24 }, (_, nth) => {
    const at = first + nth * hour_ms
    const clear_kwh = clear(at, at + hour_ms)
    return {
      site_id: 'demo',
      logger_id: 1,
      hour_at: new Date(at).toISOString(),
      inverter_count: 2,
      known_count: 2,
      energy_kwh: part * clear_kwh,
      estimated_energy_kwh: 0,
      energy_source: 'inverter_counter',
      awake_covered_s: 7200,
      sun_covered_s: 7200,
      curtailment_loss_kwh: loss_part * clear_kwh,
      ...change,
    }
  })
  await site.db.execute(
    'insert into logger_hours select * from jsonb_populate_recordset(null::logger_hours, $1::jsonb)',
    [JSON.stringify(rows)],
  )
}

const ask = (query: string) => site.get(`/curtailment/suggest?${query}`)
const noon = 'logger_id=1&date=2026-06-22&start_hour=11&end_hour=14'

test('a limit below the best hour, from the output of the last days', async () => {
  await addHours(20, 0.8)
  const { status, body } = await ask(noon)
  assert.equal(status, 200)
  const [start_at, end_at] = ['2026-06-22T09:00:00.000Z', '2026-06-22T12:00:00.000Z']
  assert.deepEqual([body.start_at, body.end_at, body.hours_in_window], [start_at, end_at, 3])
  assert.deepEqual([body.timezone, body.start_hour, body.end_hour], ['Europe/Berlin', 11, 14])
  assert.deepEqual(
    [body.basis, body.confidence, body.forecast_run_at],
    ['clear_sky', 'medium', null],
  )
  assert.deepEqual(body.reasons, ['no_forecast', 'no_price'])
  const expected = [9, 10, 11].map((hour) => {
    const at = Date.parse('2026-06-22T00:00:00Z') + hour * hour_ms
    return 0.8 * clear(at, at + hour_ms)
  })
  const found = body.hours.map(({ p50_kw }: { p50_kw: number }) => p50_kw)
  for (const [nth, kw] of expected.entries()) assert.ok(Math.abs(found[nth] - kw) < 0.01)
  const limit_pct = Math.floor((0.9 * 100 * Math.max(...expected)) / 200)
  assert.deepEqual([body.suggested_limit_pct, body.suggested_limit_kw], [limit_pct, 2 * limit_pct])
  const curtailed_kwh = expected.reduce((sum, kw) => sum + Math.max(0, kw - 2 * limit_pct), 0)
  assert.ok(curtailed_kwh > 1)
  assert.ok(Math.abs(body.expected_curtailed_energy_kwh - curtailed_kwh) < 0.05)
})

test('asking writes nothing', async () => {
  await addHours(20, 0.8)
  await ask(noon)
  const [rows] = await site.db.query<{ count: number }>(
    'select count(*)::int as count from curtailment_rows',
  )
  assert.equal(rows!.count, 0)
})

test('what limits kept back on the last days counts as given', async () => {
  await addHours(20, 0.8)
  const free = await ask(noon)
  await site.db.execute('delete from logger_hours')
  await addHours(20, 0.5, 0.3)
  const limited = await ask(noon)
  assert.deepEqual(limited.body, free.body)
})

test('hours that were estimated, in part unknown or measured in part are no measure', async () => {
  const unknown = async (change: object) => {
    await site.db.execute('delete from logger_hours')
    await addHours(20, 0.8, 0, change)
    return (await ask(noon)).body
  }
  for (const change of [
    { known_count: 1 },
    { energy_kwh: null },
    { estimated_energy_kwh: 1 },
    { energy_source: 'integrated_power', awake_covered_s: 3600 },
  ]) {
    const { basis, suggested_limit_kw, reasons } = await unknown(change)
    assert.deepEqual([basis, suggested_limit_kw], ['none', null], JSON.stringify(change))
    assert.ok(reasons.includes('no_recent_output'))
  }
  const whole = await unknown({ energy_source: 'integrated_power' })
  assert.equal(whole.basis, 'clear_sky')
})

test('no limit for the night, without output, panels or position, and the reason', async () => {
  const reasonsOf = async (query: string) => {
    const { status, body } = await ask(query)
    assert.equal(status, 200)
    assert.equal(body.suggested_limit_kw, null)
    assert.equal(body.suggested_limit_pct, null)
    assert.equal(body.expected_curtailed_energy_kwh, null)
    return [body.basis, body.confidence, ...body.reasons.slice(2)]
  }
  assert.deepEqual(await reasonsOf(noon), ['none', 'low', 'no_recent_output'])
  // That nothing comes at night says nothing of the day.
  const day = 'logger_id=1&date=2026-06-22&start_hour=0&end_hour=24'
  assert.deepEqual(await reasonsOf(day), ['none', 'low', 'no_recent_output'])
  await addHours(20, 0.8)
  const night = 'logger_id=1&date=2026-06-22&start_hour=0&end_hour=3'
  assert.deepEqual(await reasonsOf(night), ['clear_sky', 'low', 'no_daylight'])
  await site.db.execute('update strings set connected = false')
  assert.deepEqual(await reasonsOf(noon), ['none', 'low', 'no_panels'])
  await site.db.execute('update strings set connected = true')
  await site.db.execute(`update sites set inventory = inventory - 'latitude'`)
  assert.deepEqual(await reasonsOf(noon), ['none', 'low', 'no_position'])
  await site.db.execute(`update sites set inventory = jsonb_set(inventory, '{latitude}', '48.62')`)
})

test('days on which the clocks change, in the zone of the site', async () => {
  const window = async (timezone: string, query: string) => {
    await site.db.execute(
      `update sites set inventory = jsonb_set(inventory, '{timezone}', to_jsonb($1::text))`,
      [timezone],
    )
    const { status, body } = await ask(`logger_id=1&${query}`)
    if (status !== 200) return body.error.details.errors[0].field
    const { start_at, end_at, hours_in_window, hours } = body
    assert.equal(hours[0].start_at, start_at)
    assert.equal(hours.at(-1).end_at, end_at)
    return `${start_at.slice(0, 16)} ${end_at.slice(0, 16)} ${hours_in_window} ${hours.length}`
  }
  const day = (date: string) => `date=${date}&start_hour=0&end_hour=24`
  const spring = '2026-03-28T23:00 2026-03-29T22:00 23 23'
  assert.equal(await window('Europe/Berlin', day('2026-03-29')), spring)
  const autumn = '2026-10-24T22:00 2026-10-25T23:00 25 25'
  assert.equal(await window('Europe/Berlin', day('2026-10-25')), autumn)
  const none = 'date=2026-03-29&start_hour=3&end_hour=4'
  assert.equal(await window('Europe/Bucharest', none), 'start_hour')
  const twice = 'date=2026-10-25&start_hour=3&end_hour=4'
  assert.equal(await window('Europe/Bucharest', twice), '2026-10-25T00:00 2026-10-25T02:00 2 2')
  const half = 'date=2026-06-21&start_hour=12&end_hour=13'
  assert.equal(await window('Asia/Kolkata', half), '2026-06-21T06:30 2026-06-21T07:30 1 1')
  await window('Europe/Berlin', half)
})

test('what is asked wrongly is refused by name', async () => {
  const fieldsOf = async (query: string) => {
    const { status, body } = await ask(query)
    assert.equal(status, 422, query)
    return body.error.details.errors.map(({ field }: { field: string }) => field)
  }
  assert.deepEqual(await fieldsOf('logger_id=1&date=2026-06-22&start_hour=11&end_hour=11'), [
    'end_hour',
  ])
  assert.deepEqual(await fieldsOf('logger_id=1&date=2026-06-31&start_hour=24&end_hour=25'), [
    ...['date', 'start_hour', 'end_hour'],
  ])
  assert.deepEqual((await fieldsOf('')).sort(), ['date', 'end_hour', 'logger_id', 'start_hour'])
  assert.equal((await ask(noon.replace('logger_id=1', 'logger_id=9'))).status, 404)
  await site.db.execute('update loggers set retired_at = now() where logger_id = 2')
  assert.equal((await ask(noon.replace('logger_id=1', 'logger_id=2'))).status, 404)
  const key = await addKey(site.db, { key_id: 'aaaaaaaaaaaa', scopes: ['plant:read'] })
  assert.equal((await site.get(`/curtailment/suggest?${noon}`, key)).status, 403)
})
