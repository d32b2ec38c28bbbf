import assert from 'node:assert/strict'
import test from 'node:test'
import { addKey, addReading, servedSite } from '../../fixtures/served-site.ts'
import type { Database } from '../../storage/database.ts'
import { addBatteries, addBatteryReadings, bessValues } from '../fixtures/battery-site.ts'

const plan = {
  optimizer: { name: 'highs', version: '1', solver_status: 'optimal', solve_ms: 6, gap_pct: null },
  inputs: {
    planned_from_at: '2026-06-21T00:00:00Z',
    forecast_run_at: null,
    market_code: 'DE',
    price_source: 'csv',
    price_status: 'published',
    price_step_min: 60,
    soc_start_pct: 60,
    soc_start_source: 'measured',
    soc_end_target_pct: null,
    soc_min_pct: 5,
    soc_max_pct: 95,
    capacity_kwh: 400,
    efficiency_pct: 88,
    efficiency_is_assumed: false,
    degradation_cost_per_mwh: 8,
    export_plan_limit_kw: null,
  },
  totals: {
    charge_kwh: 0,
    discharge_kwh: 0,
    cycles: 0,
    expected_revenue_amount: 0,
    expected_cost_amount: 0,
    expected_degradation_amount: 0,
    expected_net_amount: 0,
    expected_without_battery_amount: 0,
    expected_connection_amount: 0,
    currency: 'EUR',
    soc_min_pct: 36,
    soc_max_pct: 60,
  },
  constraint_violations: [],
}

/** Of the power given for each hour, kW; 0 beyond. */
const addSchedule = (
  db: Database,
  state: string,
  powers_kw: readonly number[],
  target_date = '2026-06-21',
) =>
  db.execute(
    `INSERT INTO battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
       created_by, approved_at, approved_by, problem, plan, hours)
     VALUES ('demo', 1, $5, $1, 'arbitrage', '2026-06-20T12:00Z', 'test', $2, 'test',
       '{}', $3, $4)`,
    [
      state,
      state === 'approved' ? '2026-06-20T12:10:00Z' : null,
      JSON.stringify(plan),
      JSON.stringify(
        Array.from({ length: 24 }, (_, hour) => ({
          hour,
          power_kw: powers_kw[hour] ?? 0,
          quarter_power_kw: null,
          start_at: new Date(Date.parse(target_date) + hour * 3_600_000),
          end_at: new Date(Date.parse(target_date) + (hour + 1) * 3_600_000),
          soc_start_pct: 60 - hour,
          soc_end_pct: 59 - hour,
          price_per_mwh: 50,
          pv_forecast_kw: null,
          expected_amount: 0,
          min_power_kw: -200,
          max_power_kw: 200,
          original_power_kw: null,
          edited_by: null,
          edited_at: null,
          edit_note: null,
        })),
      ),
      target_date,
    ],
  )

/** A reading each ten seconds of some hours at one power, kW; the counters go on from there. */
const run = (db: Database, [from, to]: [number, number], power_kw: number, counters: number[]) =>
  db.execute(
    `INSERT INTO bess_readings (site_id, bess_id, measured_at, quality, power_kw, soc_pct,
       charged_total_kwh, discharged_total_kwh)
     SELECT 'demo', 1, at, 'good', $3::float8, 60, $4 + greatest(0, -$3::float8) * h,
       $5 + greatest(0, $3::float8) * h
     FROM generate_series($1::timestamptz, $2::timestamptz - interval '1 second',
         interval '10 seconds') AS at,
       LATERAL (SELECT date_part('epoch', at - $1::timestamptz) / 3600 AS h) AS since
     ON CONFLICT DO NOTHING`,
    [
      ...[from, to].map((hour) => new Date(Date.UTC(2026, 5, 21, 0, 60 * hour))),
      power_kw,
      ...counters,
    ],
  )

test('the day of a battery against its plan', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  await addBatteries(db)
  type Row = Record<string, number | string | null>

  await t.test('a unit that was never read has a dashboard without values', async () => {
    const { status, body } = await get('/bess/1/dashboard')
    assert.equal(status, 200)
    assert.deepEqual([body.schedule, body.deviations, body.current.power_kw], [null, [], null])
    assert.equal(body.power_series.length, 96)
    assert.ok(body.power_series.every((point: Row) => point['power_kw'] === null))
    assert.ok(body.soc_series.every((point: Row) => point['planned_soc_pct'] === null))
    assert.deepEqual(body.today, {
      charged_kwh: null,
      discharged_kwh: null,
      planned_charged_kwh: 0,
      planned_discharged_kwh: 0,
      earnings_amount: null,
      earnings_reason: null,
      currency: null,
    })
    assert.equal((await get('/bess/9/dashboard')).status, 404)
  })

  // As planned; a quarter too little, for the permit; silence; unplanned by nobody.
  await addSchedule(db, 'proposed', [7])
  await addSchedule(db, 'approved', [100, 80, 40, 0, -40])
  await run(db, [0, 1], 100, [5000, 4000])
  await run(db, [1, 2], 60, [5000, 4100])
  await run(db, [4, 4.25], -40, [5000, 4160])
  await db.execute(
    `INSERT INTO battery_dispatches (site_id, bess_id, issued_at, reported_at, source,
       requested_power_kw, clamp_reason, status)
     VALUES ('demo', 1, '2026-06-21T01:00Z', '2026-06-21T01:00Z', 'schedule', 80, 'permit',
       'clamped'), ('demo', 1, '2026-06-21T02:00Z', '2026-06-21T02:00Z', 'schedule', 40, null,
       'failed')`,
  )
  await db.execute(
    `INSERT INTO markets (market_code, name, country_codes, type, currency, timezone,
       resolution_minutes)
     VALUES ('DE', 'Germany', '{DE}', 'day_ahead', 'EUR', 'Europe/Berlin', 60)`,
  )
  await db.execute(
    `INSERT INTO market_prices (market_code, kind, start_at, revision, end_at, price, source,
       fetched_at)
     SELECT 'DE', 'day_ahead', at, 1, at + interval '1 hour', 50, 'csv', at
     FROM generate_series('2026-06-21'::timestamptz, '2026-06-21T23:00Z', interval '1 hour') AS at`,
  )
  await db.execute(
    `INSERT INTO market_assignments (site_id, logger_id, market_code, contract_type,
       pays_at_negative_price, currency, valid_from)
     VALUES ('demo', 1, 'DE', 'spot', true, 'EUR', '2026-01-01')`,
  )
  clock.set('2026-06-21T04:15:00Z')
  await addBatteryReadings(db, '2026-06-21T04:14:59Z')

  await t.test(
    'hours that are over are held against their plan, with reason and cost',
    async () => {
      const { status, body } = await get('/bess/1/deviations')
      assert.equal(status, 200)
      assert.equal(body.meta.count, 4)
      assert.deepEqual(
        body.data.map((one: Row) => [
          one['hour'],
          one['planned_power_kw'],
          one['reason'],
          one['completeness_pct'],
        ]),
        [
          [0, 100, 'none', 100],
          [1, 80, 'permit', 100],
          [2, 40, 'comm_loss', 0],
          [3, 0, 'comm_loss', 0],
        ],
      )
      const [kept, clamped, silent] = body.data
      assert.ok(Math.abs(kept.actual_energy_kwh - 100) < 0.1, kept.actual_energy_kwh)
      assert.ok(Math.abs(clamped.deviation_kw + 20) < 0.2, clamped.deviation_kw)
      assert.ok(Math.abs(clamped.cost_amount - 1) < 0.01, clamped.cost_amount)
      assert.deepEqual([clamped.currency, clamped.planned_soc_end_pct], ['EUR', 58])
      assert.deepEqual([silent.actual_energy_kwh, silent.cost_amount], [null, null])
    },
  )

  await t.test('of another day there is nothing, of a bad one 422', async () => {
    const other = await get('/bess/1/deviations?target_date=2026-06-19')
    assert.deepEqual(other.body.data, [])
    assert.equal((await get('/bess/1/deviations?target_date=2026-6-19')).status, 422)
  })

  await t.test('the dashboard is of one piece with what it is made of', async () => {
    const { status, body } = await get('/bess/1/dashboard')
    assert.equal(status, 200)
    const parts = {
      unit: '/bess/1',
      current: '/bess/1/current',
      envelope: '/bess/1/envelope',
      alarms_summary: '/bess/1/alarms/counts',
    }
    for (const [name, path] of Object.entries(parts)) {
      assert.deepEqual(body[name], (await get(path)).body, name)
    }
    assert.deepEqual(body.deviations, (await get('/bess/1/deviations')).body.data)
    assert.deepEqual([body.schedule.status, body.schedule.hours[1].power_kw], ['approved', 80])
    assert.ok(Math.abs(body.schedule.hours[1].actual_power_kw - 60) < 0.2)
    assert.equal(body.schedule.hours[2].actual_power_kw, null)
    const { schedule_id } = body.schedule
    assert.deepEqual(body.schedule, (await get(`/bess/schedules/${schedule_id}`)).body)
    for (const { hour, actual_avg_power_kw } of body.deviations) {
      assert.equal(body.schedule.hours[hour].actual_power_kw, actual_avg_power_kw)
    }
  })

  await t.test('its series have each quarter hour of the day, with what is to come', async () => {
    const { body } = await get('/bess/1/dashboard')
    assert.deepEqual([body.power_series.length, body.soc_series.length], [96, 96])
    const [first] = body.power_series
    assert.equal(first.start_at, '2026-06-21T00:00:00.000Z')
    assert.ok(Math.abs(first.power_kw - 100) < 0.1, first.power_kw)
    assert.equal(first.planned_power_kw, 100)
    assert.deepEqual(
      [body.power_series[9], body.power_series[18]].map(({ power_kw, planned_power_kw }: Row) => [
        power_kw,
        planned_power_kw,
      ]),
      [
        [null, 40],
        [null, -40],
      ],
    )
    const { planned_soc_pct, soc_pct } = body.soc_series[6]
    assert.deepEqual([planned_soc_pct, soc_pct], [58.5, 60])
  })

  await t.test('what it earned is of the energy that is known', async () => {
    const { today } = (await get('/bess/1/dashboard')).body
    assert.ok(Math.abs(today.discharged_kwh - 160) < 0.3, today.discharged_kwh)
    assert.equal(today.planned_discharged_kwh, 220)
    assert.equal(today.planned_charged_kwh, 40)
    assert.ok(Math.abs(today.earnings_amount - 0.05 * (160 - today.charged_kwh)) < 0.02)
    assert.equal(today.currency, 'EUR')
    const key = await addKey(db, { key_id: 'dadadadadada', scopes: ['bess:read'] })
    const { body: blind } = await get('/bess/1/dashboard', key)
    const hidden = { earnings_amount: null, earnings_reason: 'forbidden_scope', currency: null }
    assert.deepEqual(blind.today, { ...today, ...hidden })
  })

  await t.test('today is the day at the site, as it is of the unit itself', async () => {
    // Midnight at the site is 22:00Z.
    await addSchedule(db, 'approved', [...Array<number>(21).fill(30), 0, 60], '2026-06-20')
    const morning = (await get('/bess/1/dashboard')).body.today
    assert.deepEqual([morning.planned_discharged_kwh, morning.planned_charged_kwh], [280, 40])
    await run(db, [21.5, 22], -20, [52_000, 46_500])
    await run(db, [22, 22.5], -40, [52_010, 46_500])
    const counters = { charged_total_kwh: 52_030, discharged_total_kwh: 46_500 }
    const last = { bess_id: 1, measured_at: '2026-06-21T22:29:59Z' }
    await addReading(db, 'bess', { ...last, ...bessValues(counters) })
    clock.set('2026-06-21T22:30:00Z')
    const { body } = await get('/bess/1/dashboard')
    const { charged_today_kwh, discharged_today_kwh } = (await get('/bess/1/current')).body
    assert.ok(Math.abs(body.today.charged_kwh - 20) < 0.2, body.today.charged_kwh)
    assert.deepEqual(
      [body.today.charged_kwh, body.today.discharged_kwh],
      [charged_today_kwh, discharged_today_kwh],
    )
    // Of 21 June are left the two hours after it; of what is measured then the prices are known.
    assert.deepEqual([body.today.planned_discharged_kwh, body.today.discharged_kwh], [0, 0])
    assert.ok(Math.abs(body.today.earnings_amount + 0.05 * 20) < 0.02, body.today.earnings_amount)
    assert.equal(body.power_series[0].start_at, '2026-06-21T00:00:00.000Z')
  })
})
