import assert from 'node:assert/strict'
import test from 'node:test'
import { silent } from '../../../test/postgres.ts'
import { addReading, servedSite } from '../../fixtures/served-site.ts'
import { createRollups } from '../../performance/rollups/job.ts'
import { touchReadingsSince } from '../touched-hours.ts'

const timers = { after: () => () => {} }

test('energy of today after the counter was reset is that of the hours, and says so', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  // 60 kW from 04:00 on, a reading a minute; the counter of inverter 1 begins anew at 07:00.
  await db.execute(
    `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
       dc_power_kw, energy_total_kwh)
     SELECT 'demo', id, '2026-06-21T04:00Z'::timestamptz + minute * interval '1 min', 'good',
       'mppt', 60, 61, minute + CASE WHEN id = 2 OR minute < 180 THEN 5000 ELSE -180 END
     FROM generate_series(0, 359) AS minute, generate_series(1, 2) AS id`,
  )
  for (const [inverter_id, energy_total_kwh] of [
    [1, 180],
    [2, 5360],
  ]) {
    await addReading(db, 'inverter', {
      inverter_id,
      energy_total_kwh,
      measured_at: '2026-06-21T10:00:00Z',
      state: 'mppt',
      ac_power_kw: 60,
      dc_power_kw: 61,
    })
  }
  const before = (await get('/inverters/1')).body
  assert.deepEqual([before.energy_today_kwh, before.energy_source], [null, null])

  clock.set('2026-06-21T10:00:10Z')
  await db.transaction((transaction) => touchReadingsSince(transaction, 'demo', new Date(0)))
  // Marks are due by the time of the database.
  const later = { now: () => new Date(Math.max(Date.now(), Date.parse('2026-06-24T00:00Z'))) }
  await createRollups(db, { clock: later, timers, log: silent }).runDue()
  const { body } = await get('/inverters')
  const [reset, whole] = body.data
  assert.equal(reset.energy_source, 'hourly_sums')
  assert.ok(Math.abs(reset.energy_today_kwh - 360) < 0.5, `${reset.energy_today_kwh} kWh`)
  assert.deepEqual([whole.energy_today_kwh, whole.energy_source], [360, 'inverter_counter'])
  const { body: plant } = await get('/plant/status')
  assert.equal(plant.energy_source, 'mixed')
  assert.equal(plant.energy_today_inverter_count, 2)
  assert.equal(plant.energy_today_kwh, reset.energy_today_kwh + 360)
})

test('what a counter rose in a silence over midnight is shared out as in the summary', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  // Unread from 06:00 of the day before until 08:00, after 650 kWh; 60 kW before and since.
  await db.execute(
    `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
       dc_power_kw, energy_total_kwh)
     SELECT 'demo', 1, day + minute * interval '1 min', 'good', 'mppt', 60, 61, kwh + minute
     FROM (VALUES ('2026-06-20T04:00Z'::timestamptz, 5000), ('2026-06-21T08:00Z', 5769))
       AS days (day, kwh), generate_series(0, 119) AS minute`,
  )
  await addReading(db, 'inverter', {
    inverter_id: 1,
    energy_total_kwh: 5889,
    measured_at: '2026-06-21T10:00:00Z',
    state: 'mppt',
    ac_power_kw: 60,
    dc_power_kw: 61,
  })
  clock.set('2026-06-21T10:00:10Z')
  const before = (await get('/inverters/1')).body
  assert.deepEqual([before.energy_today_kwh, before.energy_source], [null, null])

  await db.transaction((transaction) => touchReadingsSince(transaction, 'demo', new Date(0)))
  const later = { now: () => new Date(Math.max(Date.now(), Date.parse('2026-06-24T00:00Z'))) }
  await createRollups(db, { clock: later, timers, log: silent }).runDue()
  const { body } = await get('/inverters/1')
  const { body: summary } = await get('/plant/summary?date=2026-06-21')
  const [{ energy_kwh }] = summary.data
  assert.equal(body.energy_source, 'hourly_sums')
  // The night between midnight at the site and midnight of UTC has no share.
  assert.ok(Math.abs(body.energy_today_kwh - energy_kwh) < 0.01, JSON.stringify(summary.data))
  assert.ok(energy_kwh > 130 && energy_kwh < 500, `${energy_kwh} kWh of 770`)
})

test('energy of today of a counter that stands still is that of the power, and the hours say so', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  // 60 kW from 04:00 on, a reading a minute; the counter of inverter 1 never moves.
  await db.execute(
    `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
       dc_power_kw, energy_total_kwh)
     SELECT 'demo', id, '2026-06-21T04:00Z'::timestamptz + minute * interval '1 min', 'good',
       'mppt', 60, 61, 5000.13 + CASE WHEN id = 2 THEN minute ELSE 0 END
     FROM generate_series(0, 359) AS minute, generate_series(1, 2) AS id`,
  )
  for (const [inverter_id, energy_total_kwh] of [
    [1, 5000.13],
    [2, 5360.13],
  ]) {
    await addReading(db, 'inverter', {
      inverter_id,
      energy_total_kwh,
      measured_at: '2026-06-21T10:00:00Z',
      state: 'mppt',
      ac_power_kw: 60,
      dc_power_kw: 61,
    })
  }
  clock.set('2026-06-21T10:00:10Z')
  await db.transaction((transaction) => touchReadingsSince(transaction, 'demo', new Date(0)))
  const later = { now: () => new Date(Math.max(Date.now(), Date.parse('2026-06-24T00:00Z'))) }
  await createRollups(db, { clock: later, timers, log: silent }).runDue()
  const { body } = await get('/inverters')
  const [still, whole] = body.data
  assert.equal(still.energy_source, 'hourly_sums')
  assert.ok(Math.abs(still.energy_today_kwh - 360) < 0.5, `${still.energy_today_kwh} kWh`)
  assert.deepEqual([whole.energy_today_kwh, whole.energy_source], [360, 'inverter_counter'])
  const sources = await db.query<{ inverter_id: number; energy_source: string }>(
    `SELECT DISTINCT inverter_id, energy_source FROM inverter_hours
     WHERE site_id = 'demo' AND ac_energy_kwh > 50 ORDER BY inverter_id`,
  )
  assert.deepEqual(
    sources.map(({ energy_source }) => energy_source),
    ['integrated_power', 'inverter_counter'],
  )
})

test('energy of today after an exchange is that of the hours, also with a higher counter', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  // 60 kW from 04:00 on, off from 07:00 to 08:00. The counter of the new inverter 1 is higher.
  await db.execute(
    `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
       dc_power_kw, energy_total_kwh)
     SELECT 'demo', id, '2026-06-21T04:00Z'::timestamptz + minute * interval '1 min', 'good',
       'mppt', 60, 61, 5000 + minute + CASE WHEN minute < 240 THEN 0 WHEN id = 1 THEN 40 ELSE -60 END
     FROM generate_series(0, 359) AS minute, generate_series(1, 2) AS id
     WHERE minute <= 180 OR minute >= 240`,
  )
  for (const [inverter_id, energy_total_kwh] of [
    [1, 5400],
    [2, 5300],
  ]) {
    await addReading(db, 'inverter', {
      inverter_id,
      energy_total_kwh,
      measured_at: '2026-06-21T10:00:00Z',
      state: 'mppt',
      ac_power_kw: 60,
      dc_power_kw: 61,
    })
  }
  await db.execute(
    `INSERT INTO device_exchanges (site_id, kind, device_id, changed_at, received_at,
       old_serial_number, serial_number)
     VALUES ('demo', 'inverter', '1', '2026-06-21T08:00Z', '2026-06-21T08:00Z', 'A', 'B')`,
  )
  clock.set('2026-06-21T10:00:10Z')
  await db.transaction((transaction) => touchReadingsSince(transaction, 'demo', new Date(0)))
  const later = { now: () => new Date(Math.max(Date.now(), Date.parse('2026-06-24T00:00Z'))) }
  await createRollups(db, { clock: later, timers, log: silent }).runDue()
  const { body } = await get('/inverters')
  const [exchanged, same] = body.data
  assert.equal(exchanged.energy_source, 'hourly_sums')
  assert.ok(Math.abs(exchanged.energy_today_kwh - 300) < 0.5, `${exchanged.energy_today_kwh} kWh`)
  assert.deepEqual([same.energy_today_kwh, same.energy_source], [300, 'inverter_counter'])
})
