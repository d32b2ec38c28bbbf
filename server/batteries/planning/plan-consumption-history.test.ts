/** Consumption as four weeks of meters, plants and batteries tell it, and plans that go by it. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import type { Objective } from '@heliograph/optimize/dispatch-problem'
import { addPlantHours } from '../../fixtures/plant-hours.ts'
import { addReading, type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import { addBatteries, bessValues, unit2Values } from '../fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../fixtures/schedule-site.ts'
import { readConsumption } from './plan-consumption-history.ts'
import { createBatteryPlanner } from './planner.ts'

const site_id = 'demo'
const [quarter_ms, hour_ms] = [900_000, 3_600_000]
/** A Sunday; `now` is its noon, and tomorrow a working day. */
const today = Date.parse('2026-06-21')
const now = new Date(today + 12 * hour_ms)
const tomorrow = '2026-06-22'
const span = { start_ms: today - 28 * day_ms, end_ms: today }
const position = { latitude: 48.62, longitude: 12.17, elevation_m: null }

let site: ServedSite

before(async () => {
  site = await servedSite()
  await addBatteries(site.db)
  await assignMarket(site.db)
})
after(() => site.close())
beforeEach(async () => {
  await site.db.query(
    `delete from meters; delete from meter_readings; delete from logger_hours;
     delete from battery_days; delete from market_prices; delete from forecast_runs;
     delete from bess_readings; delete from bess_latest;
     update loggers set retired_at = null;
     update batteries set retired_at = null, coupling = 'ac'`,
  )
})

const hourOf = (at_ms: number) => new Date(at_ms).getUTCHours()

/** 10 kW, and 90 kW from 18:00 to 22:00 of working days in Berlin. */
function consumedKw(at_ms: number): number {
  const weekday = new Date(at_ms).getUTCDay()
  const is_evening = hourOf(at_ms) >= 16 && hourOf(at_ms) < 20
  return is_evening && weekday >= 1 && weekday <= 5 ? 90 : 10
}

/** Both plants give 10 kW each while they are awake; at night their inverters say nothing. */
const sunny = Array.from({ length: 16 }, (_, nth) => nth + 3)
/** Unit 1 charges 8 kW at 10:00Z and discharges 6 kW at 21:00Z, each for an hour. */
const unit1Kw = (at_ms: number) => (hourOf(at_ms) === 10 ? -8 : hourOf(at_ms) === 21 ? 6 : 0)

/** Four weeks as they were measured, behind one meter. */
async function addHistory({ meter_id = 1, logger_id = null as number | null } = {}) {
  const { db } = site
  await addPlantHours(db, {
    logger_ids: [1, 2],
    hours: sunny,
    from: '2026-05-24T00:00Z',
    to: '2026-06-20T23:00Z',
  })
  const wh = (sign: 1 | -1) => (_: unknown, nth: number) =>
    Math.max(0, (sign * 1000 * unit1Kw(today + nth * quarter_ms)) / 4)
  await db.execute(
    `insert into battery_days (site_id, bess_id, date, charged_wh, discharged_wh, summed_at)
     select 'demo', bess_id, date, case bess_id when 1 then $1::int[] else $3 end,
       case bess_id when 1 then $2::int[] else $3 end, $4
     from generate_series(1, 2) as bess_id,
       generate_series(date '2026-05-24', date '2026-06-20', interval '1 day') as date`,
    [
      Array.from({ length: 96 }, wh(-1)),
      Array.from({ length: 96 }, wh(1)),
      Array.from({ length: 96 }, () => 0),
      now,
    ],
  )
  await addMeter({ meter_id, logger_id })
}

/** Reads a meter up to 49 s after the begin of each quarter hour. */
async function addMeter({ meter_id = 1, logger_id = null as number | null } = {}) {
  await site.db.execute(
    `insert into meters (site_id, meter_id, logger_id, role, name, created_at, updated_at)
     values ('demo', $1, $2, 'grid_connection', 'Meter', now(), now())`,
    [meter_id, logger_id],
  )
  const rows: unknown[] = []
  let [fed_in_kwh, taken_kwh] = [500_000, 20_000]
  for (let at_ms = span.start_ms; at_ms <= span.end_ms; at_ms += quarter_ms) {
    const pv_kw = sunny.includes(hourOf(at_ms)) ? 20 : 0
    const net_kw = pv_kw + unit1Kw(at_ms) - consumedKw(at_ms)
    const late_s = (at_ms / quarter_ms) % 50
    const after = (kw: number, seconds: number) => (Math.max(0, kw) * seconds) / 3600
    rows.push({
      measured_at: new Date(at_ms + 1000 * late_s).toISOString(),
      active_power_kw: net_kw,
      energy_export_kwh: fed_in_kwh + after(net_kw, late_s),
      energy_import_kwh: taken_kwh + after(-net_kw, late_s),
    })
    fed_in_kwh += after(net_kw, 900)
    taken_kwh += after(-net_kw, 900)
  }
  await site.db.execute(
    `insert into meter_readings (site_id, meter_id, measured_at, quality, active_power_kw,
       energy_export_kwh, energy_import_kwh)
     select 'demo', $1, r.measured_at, 'good', r.active_power_kw, r.energy_export_kwh,
       r.energy_import_kwh
     from jsonb_populate_recordset(null::meter_readings, $2) as r`,
    [meter_id, JSON.stringify(rows)],
  )
}

const read = (logger_id: number | null = null) =>
  readConsumption(site.db, { site_id, logger_id, position, now_ms: now.getTime() }, span)

/** The quarter hours of which nobody knows, as instants; all others are as they were consumed. */
async function unknown(logger_id: number | null = null): Promise<string[]> {
  const consumed_kwh = (await read(logger_id))!
  assert.equal(consumed_kwh.length, 28 * 96)
  return consumed_kwh.flatMap((kwh, nth) => {
    const at_ms = span.start_ms + nth * quarter_ms
    if (kwh === null) return [new Date(at_ms).toISOString().slice(5, 16)]
    // Readings that are late have a little of the quarter that follows.
    const neighbours = [at_ms, at_ms + quarter_ms].map(consumedKw)
    const change_kw = Math.abs(neighbours[0]! - neighbours[1]!) + 40
    const off_kw = Math.abs(4 * kwh - neighbours[0]!)
    assert.ok(off_kw < (change_kw * 50) / 900, `${new Date(at_ms).toISOString()}: ${4 * kwh} kW`)
    return []
  })
}

test('what plants and batteries gave and the meter did not see was consumed', async () => {
  await addHistory()
  assert.deepEqual(await unknown(), [])
})

test('the quarter hour in which the meter was exchanged is a gap', async (t) => {
  await addHistory()
  await site.db.execute(
    `insert into device_exchanges (site_id, kind, device_id, changed_at, received_at,
       old_serial_number, serial_number)
     values ('demo', 'meter', '1', '2026-06-10T09:10Z', now(), 'A', 'B')`,
  )
  t.after(() => site.db.execute('delete from device_exchanges'))
  assert.deepEqual(await unknown(), ['06-10T09:00'])
})

test('what was not measured is a gap, whoever did not measure it', async () => {
  await addHistory()
  await site.db.query(
    `delete from meter_readings
       where measured_at between '2026-06-03T09:10Z' and '2026-06-03T09:20Z';
     delete from logger_hours where logger_id = 2 and hour_at = '2026-06-04T11:00Z';
     update battery_days set discharged_wh[81] = null where bess_id = 2 and date = '2026-06-05';
     delete from battery_days where bess_id = 1 and date = '2026-06-06'`,
  )
  const found = await unknown()
  assert.deepEqual(
    found.filter((at) => !at.startsWith('06-06')),
    [
      '06-03T09:00',
      '06-03T09:15',
      '06-04T11:00',
      '06-04T11:15',
      '06-04T11:30',
      '06-04T11:45',
      '06-05T20:00',
    ],
  )
  assert.equal(found.length, 7 + 96)
})

test('what a counter told later, and half of the inverters, are no measurement', async () => {
  await addHistory()
  await site.db.query(
    `update logger_hours set quarter_slot_count = '{6,3,6,6}'
       where logger_id = 1 and hour_at = '2026-06-04T11:00Z';
     update logger_hours set estimated_energy_kwh = 10, quarter_slot_count = '{0,0,0,0}'
       where logger_id = 1 and hour_at in ('2026-06-05T11:00Z', '2026-06-20T18:00Z')`,
  )
  assert.deepEqual(await unknown(), [
    '06-04T11:15',
    '06-05T11:00',
    '06-05T11:15',
    '06-05T11:30',
    '06-05T11:45',
    // The sun was still up, if not for all of that hour.
    '06-20T18:00',
    '06-20T18:15',
    '06-20T18:30',
    '06-20T18:45',
  ])
})

test('a meter that was exchanged, or reset, consumed nothing by that', async () => {
  await addHistory()
  await site.db.query(
    `update meter_readings set energy_import_kwh = energy_import_kwh + 70000
       where measured_at >= '2026-06-03T09:00Z';
     update meter_readings set energy_export_kwh = energy_export_kwh - 400000
       where measured_at >= '2026-06-10T09:00Z'`,
  )
  assert.deepEqual(await unknown(), ['06-03T08:45', '06-10T08:45'])
})

test('a connection is measured by its own meter, or by the other where both are one', async () => {
  await addHistory()
  assert.equal(await read(1), null)
  await site.db.query(
    `update loggers set retired_at = $$2026-06-21T00:00Z$$ where logger_id = 2;
     update batteries set retired_at = $$2026-06-21T00:00Z$$ where bess_id = 2`,
  )
  assert.deepEqual(await unknown(1), [])
  await site.db.query('update meters set logger_id = 2')
  assert.equal(await read(1), null)
  await site.db.query('update meters set logger_id = 1')
  const [own, common] = [await read(1), await read(null)]
  assert.deepEqual(common, own)
  // Of plant 2 it knows nothing then: 10 kW less were consumed while that was awake.
  const noon = 7 * 96 + 48
  assert.ok(Math.abs(4 * own![noon]! - (consumedKw(span.start_ms + noon * quarter_ms) - 10)) < 3)
  await site.db.query("update meters set role = 'auxiliary'")
  assert.equal(await read(1), null)
})

test('a battery that the inverters of the panels count, too, leaves it unknown', async () => {
  await addHistory()
  await site.db.execute("update batteries set coupling = 'dc' where bess_id = 2")
  assert.equal(await read(), null)
})

const planner = createBatteryPlanner({ timers: systemTimers })
after(() => planner.close())

/** 120 kW from 8:00Z to 16:00Z of tomorrow, and of today. */
const pvKw = (hour: number) => (hour >= 8 && hour < 16 ? 120 : 0)

async function planned(objective: Objective, { date = tomorrow, soc_pct = 20 } = {}) {
  const { db } = site
  const at = { measured_at: now.toISOString() }
  await addReading(db, 'bess', { bess_id: 1, ...bessValues({ soc_pct }), ...at })
  await addReading(db, 'bess', { bess_id: 2, ...unit2Values(), soc_pct, ...at })
  await addPrices(db, { date })
  await db.execute(
    `insert into forecast_runs (site_id, target, target_date, issued_at, model, weather_source,
       resolution_minutes, p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2, ambient_temperature_c,
       cloud_cover_pct, is_night, total_p10_kwh, total_p50_kwh, total_p90_kwh, confidence)
     values ('demo', 'site', $1, $2, 'physical', 'test', 60, $3, $3, $3, $3::float8[]::real[],
       $3::float8[]::real[], $3::float8[]::real[], array_fill(false, array[24]), 1, 1, 1, 'high')`,
    [date, new Date(now.getTime() - hour_ms), Array.from({ length: 24 }, (_, hour) => pvKw(hour))],
  )
  await db.execute(
    `update sites set inventory = jsonb_set(inventory, '{export_plan_limit_kw}', '500')`,
  )
  const order = { site_id, date, objective, soc_end_target_pct: null, bess_id: null, now }
  const { planned: units, refused } = await planner.plan(db, order)
  assert.deepEqual([units.length, refused], [2, []])
  const batteryKw = (hour: number) =>
    units.reduce((sum, { hours }) => sum + hours[hour]!.power_kw, 0)
  const takenKw = (hour: number, battery_kw = batteryKw(hour)) =>
    Math.max(0, consumedKw(Date.parse(date) + hour * hour_ms) - pvKw(hour) - battery_kw)
  return { inputs: units[0]!.plan.inputs, units, batteryKw, takenKw }
}

const sumOf = (hours: readonly number[], of: (hour: number) => number) =>
  hours.reduce((sum, hour) => sum + of(hour), 0)
const day = Array.from({ length: 24 }, (_, hour) => hour)
const evening = [16, 17, 18, 19]
const noons = day.filter((hour) => pvKw(hour) > 0)

test('self-consumption charges at noon what it gives in the evening', async () => {
  await addHistory()
  const { inputs, batteryKw, takenKw } = await planned('self_consumption')
  assert.equal(inputs.consumption_days, 20)
  assert.ok(Math.abs(inputs.consumption_kwh! - (24 * 10 + 4 * 80)) < 3, `${inputs.consumption_kwh}`)
  assert.ok(noons.every((hour) => batteryKw(hour) <= 0))
  assert.ok(sumOf(noons, batteryKw) < -300)
  const [taken, without] = [sumOf(day, takenKw), sumOf(day, (hour) => takenKw(hour, 0))]
  assert.ok(sumOf(evening, batteryKw) > 250, `${evening.map(batteryKw)}`)
  assert.ok(taken < without - 300, `${taken} kWh, ${without} without`)
  assert.ok(
    day.every((hour) => batteryKw(hour) <= consumedKw(Date.parse(tomorrow) + hour * hour_ms) + 3),
  )
})

test('peak shaving lowers the peak of the evening', async () => {
  await addHistory()
  const { takenKw } = await planned('peak_shaving')
  assert.equal(Math.max(...day.map((hour) => takenKw(hour, 0))), 90)
  const peak_kw = Math.max(...day.map((hour) => takenKw(hour)))
  assert.ok(peak_kw < 15, `${peak_kw} kW`)
})

test('a weekend has what weekends consume, in the hours that are open', async () => {
  await addHistory()
  const { inputs } = await planned('arbitrage', { date: '2026-06-21' })
  assert.equal(inputs.consumption_days, 8)
  assert.ok(Math.abs(inputs.consumption_kwh! - 11 * 10) < 3, `${inputs.consumption_kwh}`)
})

test('where it is not known nothing is taken to be consumed, and the plan says so', async () => {
  await addHistory()
  await site.db.query("delete from meter_readings where measured_at < '2026-06-17T00:00Z'")
  const { inputs, units } = await planned('self_consumption')
  assert.deepEqual([inputs.consumption_kwh, inputs.consumption_days], [null, null])
  assert.ok(units.every(({ problem }) => problem.periods.every(({ load_kw }) => load_kw === 0)))
})
