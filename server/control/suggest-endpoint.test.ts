import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { addKey, type ServedSite, servedSite } from '../fixtures/served-site.ts'
import { clearSkyEnergy } from './clear-sky-energy.ts'

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
  await site.db.execute(
    `delete from logger_hours; delete from curtailment_rows; delete from market_assignments;
     delete from fees; delete from market_prices; delete from price_runs`,
  )
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
    'date',
    'start_hour',
    'end_hour',
  ])
  assert.deepEqual((await fieldsOf('')).sort(), ['date', 'end_hour', 'logger_id', 'start_hour'])
  assert.equal((await ask(noon.replace('logger_id=1', 'logger_id=9'))).status, 404)
  await site.db.execute('update loggers set retired_at = now() where logger_id = 2')
  assert.equal((await ask(noon.replace('logger_id=1', 'logger_id=2'))).status, 404)
  const key = await addKey(site.db, { key_id: 'aaaaaaaaaaaa', scopes: ['plant:read'] })
  assert.equal((await site.get(`/curtailment/suggest?${noon}`, key)).status, 403)
})

/** Plant 1 in the market of Belgium, whose days begin at 22:00Z in summer. */
const sell = (contract_type: string, fixed_price: number | null = null, pays = true) =>
  site.db.execute(
    `insert into market_assignments (site_id, logger_id, market_code, contract_type, fixed_price,
       pays_at_negative_price, currency, valid_from)
     values ('demo', 1, 'BE', $1, $2, $3, 'EUR', '2026-01-01')`,
    [contract_type, fixed_price, pays],
  )
const price = (from: string, to: string, minutes: number, euros: number) =>
  site.db.execute(
    `insert into market_prices (market_code, kind, start_at, end_at, price, revision, source,
       fetched_at)
     select 'BE', 'day_ahead', at, at + $3 * interval '1 minute', $4, 1, 'csv', now()
     from generate_series($1::timestamptz, $2::timestamptz - interval '1 minute',
       $3 * interval '1 minute') as at`,
    [from, to, minutes, euros],
  )
const windowsOf = (body: { price_windows: Record<string, string>[] }) =>
  body.price_windows.map(({ start_at, end_at, reason, basis }) =>
    [start_at!.slice(5, 16), end_at!.slice(5, 16), reason, basis].join(' '),
  )

test('what the limit would cost, and when the plant would pay to deliver', async () => {
  await addHours(20, 0.8)
  const { body: unsold } = await ask(noon)
  assert.deepEqual([unsold.money_reason, unsold.price_basis], ['no_contract', 'none'])
  assert.deepEqual(unsold.price_windows, [])
  await sell('spot')
  await site.db.execute(
    `insert into fees (site_id, code, name, basis, value, currency, valid_from) values
       ('demo', 'aggregator', 'Direct marketing', 'per_mwh', 2, 'EUR', '2026-01-01'),
       ('demo', 'market_fee', 'Access', 'per_month', 500, 'EUR', '2026-01-01')`,
  )
  const { body: unpriced } = await ask(noon)
  assert.deepEqual([unpriced.money_reason, unpriced.price_basis], ['no_price', 'none'])
  assert.deepEqual(unpriced.reasons, ['no_forecast', 'no_price'])
  await price('2026-06-22T09:00Z', '2026-06-22T10:00Z', 60, 40)
  await price('2026-06-22T10:00Z', '2026-06-22T10:30Z', 30, 1.5)
  await price('2026-06-22T10:30Z', '2026-06-22T11:00Z', 15, -10)
  await price('2026-06-22T11:00Z', '2026-06-22T12:00Z', 60, -20)
  const { body } = await ask(noon)
  assert.deepEqual([body.money_reason, body.price_basis, body.currency], [null, 'day_ahead', 'EUR'])
  assert.deepEqual(body.reasons, ['no_forecast'])
  assert.deepEqual(windowsOf(body), [
    '06-22T10:00 06-22T10:30 fees_above_price day_ahead',
    '06-22T10:30 06-22T12:00 negative_price day_ahead',
  ])
  const prices = body.hours.map((hour: Record<string, number>) => [
    hour['price_per_mwh'],
    hour['market_price_per_mwh'],
  ])
  assert.deepEqual(prices, [
    [40, 40],
    [-4.25, -4.25],
    [-20, -20],
  ])
  assert.deepEqual([body.avg_price_per_mwh, body.negative_price_min], [5.25, 90])
  const kept = body.hours.map(({ p50_kw }: { p50_kw: number }) =>
    Math.max(0, p50_kw - body.suggested_limit_kw),
  )
  const near = (found: number, euros: number) =>
    assert.ok(Math.abs(found - euros) < 1e-4, `${found}`)
  near(body.expected_lost_revenue_amount, (kept[0] * 40 + (kept[1] / 2) * 1.5) / 1000)
  near(body.avoided_cost_amount, ((kept[1] / 2) * 10 + kept[2] * 20) / 1000)
  const [, window] = body.price_windows
  const [, second, third] = body.hours.map(({ p50_kw }: { p50_kw: number }) => p50_kw)
  near(window.expected_net_amount, -((second / 2) * 12 + third * 22) / 1000)
  near(window.expected_saving_amount, (((second - 2) / 2) * 12 + (third - 2) * 22) / 1000)

  const key = await addKey(site.db, { key_id: 'bbbbbbbbbbbb', scopes: ['curtailment:read'] })
  const { body: blind } = await site.get(`/curtailment/suggest?${noon}`, key)
  assert.deepEqual(blind, {
    ...body,
    expected_lost_revenue_amount: null,
    avoided_cost_amount: null,
    currency: null,
    avg_price_per_mwh: null,
    money_reason: 'forbidden_scope',
    price_windows: body.price_windows.map((one: object) => ({
      ...one,
      avg_price_per_mwh: null,
      avg_net_price_per_mwh: null,
      expected_net_amount: null,
      expected_saving_amount: null,
      currency: null,
    })),
    hours: body.hours.map((hour: object) => ({ ...hour, price_per_mwh: null })),
  })
})

test('a plant that is paid at negative prices has no such windows', async () => {
  await addHours(20, 0.8)
  await price('2026-06-22T09:00Z', '2026-06-22T12:00Z', 15, -50)
  const found = async (...terms: Parameters<typeof sell>) => {
    await site.db.execute('delete from market_assignments')
    await sell(...terms)
    const { body } = await ask(noon)
    return [body.price_windows.length, body.avg_price_per_mwh, body.negative_price_min]
  }
  assert.deepEqual(await found('feed_in_tariff', 80), [0, 80, 180])
  assert.deepEqual(await found('fixed_price', 60), [0, 60, 180])
  // Paid nothing then, which costs nothing either.
  assert.deepEqual(await found('fixed_price', 60, false), [0, 0, 180])
  assert.deepEqual(await found('feed_in_premium', 60), [0, 10, 180])
  assert.deepEqual(await found('feed_in_premium', 40), [1, -10, 180])
  assert.deepEqual(await found('spot'), [1, -50, 180])
})

test('without published prices a forecast of them, which is told, and nothing else', async () => {
  await addHours(20, 0.8)
  await sell('spot')
  await price('2026-06-22T09:00Z', '2026-06-22T10:00Z', 60, -1)
  await site.db.execute(
    `insert into price_models (market_code, version, trained_at, state, facts, scores)
     values ('BE', 1, '2026-06-20T00:50Z', 'followed', '{}', '{}')`,
  )
  const forecast = (issued_at: string, is_hindcast: boolean, euros: number) =>
    site.db.execute(
      `insert into price_runs (market_code, delivery_date, issued_at, is_hindcast, model_version,
         known_until_at, start_at, resolution_minutes, p10_price, p50_price, p90_price,
         negative_probability)
       select 'BE', '2026-06-22', $1, $2, 1, $1, '2026-06-21T22:00Z', 60, array_agg($3::float8),
         array_agg($3::float8), array_agg($3::float8), array_agg(0.5)
       from generate_series(1, 24)`,
      [issued_at, is_hindcast, euros],
    )
  await forecast('2026-06-21T11:00Z', false, -30)
  await forecast('2026-06-21T09:00Z', true, -40)
  const published = '06-22T09:00 06-22T10:00 negative_price day_ahead'
  const { body: none } = await ask(noon)
  // Neither what is not issued yet nor what was made up for later.
  assert.deepEqual([none.money_reason, none.avg_price_per_mwh], ['no_price', null])
  assert.deepEqual(windowsOf(none), [published])
  await forecast('2026-06-21T08:00Z', false, -20)
  const { body } = await ask(noon)
  assert.deepEqual([body.money_reason, body.price_basis], [null, 'price_forecast'])
  assert.deepEqual(windowsOf(body), [
    published,
    '06-22T10:00 06-22T12:00 negative_price price_forecast',
  ])
  assert.equal(body.avg_price_per_mwh, -13.6667)
})

test('on days when the clocks change the hours of a window are those of the clock', async () => {
  await sell('spot')
  // So that nothing is known of the output, be it day or night.
  await site.db.execute('update strings set connected = false')
  const found = async (query: string) => {
    const { body } = await ask(`logger_id=1&${query}`)
    assert.equal(body.price_windows[0].expected_energy_kwh, null)
    return windowsOf(body).map((window) => window.slice(0, 23))
  }
  await price('2026-03-28T23:00Z', '2026-03-29T22:00Z', 15, -1)
  const spring = await found('date=2026-03-29&start_hour=1&end_hour=4')
  assert.deepEqual(spring, ['03-29T00:00 03-29T02:00'])
  assert.deepEqual(await found('date=2026-03-29&start_hour=0&end_hour=24'), [
    '03-28T23:00 03-29T22:00',
  ])
  await price('2026-10-24T22:00Z', '2026-10-25T00:30Z', 30, 1)
  await price('2026-10-25T00:30Z', '2026-10-25T23:00Z', 30, -1)
  const autumn = await found('date=2026-10-25&start_hour=2&end_hour=3')
  assert.deepEqual(autumn, ['10-25T00:30 10-25T02:00'])
  await site.db.execute('update strings set connected = true')
})
