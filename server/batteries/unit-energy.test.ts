import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, servedSite } from '../fixtures/served-site.ts'
import { earnedBetween } from './earnings.ts'
import { addBatteries } from './fixtures/battery-site.ts'
import {
  hourlyPowers,
  quartersOf,
  readHeard,
  readUnitQuarters,
  type UnitQuarter,
} from './unit-energy.ts'

const ms = (time: string) => Date.parse(`2026-06-21T${time}Z`)
const unit = {
  site_id: 'demo',
  bess_id: 1,
  rated_charge_power_kw: 200,
  rated_discharge_power_kw: 200,
}

test('quarter hours are those of the clock, cut to what is asked', () => {
  const span = { start_ms: ms('09:50:00'), end_ms: ms('10:20:00') }
  assert.deepEqual(
    quartersOf(span).map(({ start_ms, end_ms }) => (end_ms - start_ms) / 60_000),
    [10, 15, 5],
  )
  assert.deepEqual(quartersOf({ start_ms: ms('10:00:00'), end_ms: ms('10:00:00') }), [])
})

test('the mean power of an hour needs all of it', () => {
  const quarters = quartersOf({ start_ms: ms('00:00:00'), end_ms: ms('03:50:00') }).map(
    (span, nth): UnitQuarter => ({
      ...span,
      charged_kwh: nth === 9 ? null : 5,
      discharged_kwh: nth < 4 ? 5 : 2,
      soc_start_pct: null,
      soc_end_pct: null,
    }),
  )
  // Hour 2 has a quarter that nobody knows, hour 3 is not over.
  assert.deepEqual(
    [...hourlyPowers(quarters)],
    [
      [0, 0],
      [1, -12],
    ],
  )
})

test('energy of a unit by the quarter hour', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db } = site
  await addBatteries(db)
  const add = (time: string, values: object) =>
    addReading(db, 'bess', { bess_id: 1, measured_at: `2026-06-21T${time}Z`, ...values })
  /** A reading each ten seconds, from one instant until before another. */
  const run = (from: string, to: string, values: (minute: string) => string) =>
    db.execute(
      `INSERT INTO bess_readings
         (site_id, bess_id, measured_at, quality, power_kw, soc_pct, charged_total_kwh,
          discharged_total_kwh)
       SELECT 'demo', 1, at, 'good', ${values("date_part('epoch', at - $1::timestamptz) / 60")}
       FROM generate_series($1::timestamptz, $2::timestamptz - interval '1 second',
         interval '10 seconds') AS at`,
      [`2026-06-21T${from}Z`, `2026-06-21T${to}Z`],
    )
  const read = (from: string, to: string) =>
    readUnitQuarters(db, unit, { start_ms: ms(from), end_ms: ms(to) })
  const heard = async (from: string, to: string) =>
    (await readHeard(db, unit, { start_ms: ms(from), end_ms: ms(to) })).map(
      ({ heard_spans }) => heard_spans,
    )
  const near = (actual: number | null, expected: number, within: number) =>
    assert.ok(actual !== null && Math.abs(actual - expected) <= within, `${actual} kWh`)
  const energies = (quarters: UnitQuarter[]) =>
    quarters.map(({ charged_kwh, discharged_kwh }) => [charged_kwh, discharged_kwh])

  // Discharges 120 kW: 2 kWh a minute.
  await run('00:00:00', '01:00:00', (minute) => `120, 80 - ${minute}, 5000, 4000 + 2 * ${minute}`)
  await t.test('by the counters, exactly, and the charge at its end', async () => {
    const quarters = await read('00:00:00', '00:45:00')
    for (const quarter of quarters) {
      assert.equal(quarter.charged_kwh, 0)
      near(quarter.discharged_kwh, 30, 1e-6)
    }
    near(quarters[0]!.soc_end_pct, 65, 1e-3)
    assert.deepEqual(await heard('00:00:00', '00:40:00'), [5, 5, 4])
  })

  await t.test('the last quarter has no reading after it', async () => {
    const [last] = await read('00:45:00', '01:00:00')
    near(last!.discharged_kwh, 30 - 20 / 60, 1e-6)
  })

  // Silent from 01:00 to 01:40; 40 kWh were charged meanwhile.
  await run('01:40:00', '02:00:00', (minute) => `-60, 50, 5040 + ${minute}, 4120`)
  await t.test('over a silence counters rose evenly, and the minutes tell of it', async () => {
    const quarters = await read('01:00:00', '01:30:00')
    for (const [charged_kwh] of energies(quarters)) near(charged_kwh!, 15, 0.2)
    assert.deepEqual(await heard('01:00:00', '01:30:00'), [0, 0])
    const hour = await read('01:00:00', '02:00:00')
    const sum = hour.reduce((kwh, { charged_kwh }) => kwh + charged_kwh!, 0)
    near(sum, 59.7, 0.1)
  })

  // Without counters: 60 kW of charging for five minutes, then 50 kW of discharging.
  await run('04:00:00', '04:05:00', () => '-60, 50, null, null')
  await run('04:05:00', '04:15:00', () => '50, 50, null, null')
  await t.test('without counters it is the integral of the power', async () => {
    const [quarter] = await read('04:00:00', '04:15:00')
    near(quarter!.charged_kwh, 5, 0.01)
    near(quarter!.discharged_kwh, 50 / 6, 0.01)
  })

  await run('05:00:00', '05:10:00', () => '50, 50, null, null')
  await t.test('what was not read enough, and what was never read, is null', async () => {
    const quarters = await read('05:00:00', '05:30:00')
    assert.deepEqual(energies(quarters), [
      [null, null],
      [null, null],
    ])
    assert.deepEqual(await heard('05:00:00', '05:30:00'), [4, 0])
    assert.equal(quarters[1]!.soc_end_pct, null)
  })

  await t.test('a counter that was reset tells nothing', async () => {
    await add('06:00:00', { power_kw: 0, charged_total_kwh: 5000, discharged_total_kwh: 4000 })
    await add('06:10:00', { power_kw: 0, charged_total_kwh: 0, discharged_total_kwh: 0 })
    await add('06:15:00', { power_kw: 0, charged_total_kwh: 0, discharged_total_kwh: 0 })
    assert.deepEqual(energies(await read('06:00:00', '06:15:00')), [[null, null]])
  })

  // 60 kW discharged; the counter of another unit, from 07:08 on, is 5 kWh higher.
  await run(
    '07:00:00',
    '07:30:00',
    (minute) => `60, 50, 5000, 5000 + ${minute} + CASE WHEN ${minute} < 8 THEN 0 ELSE 5 END`,
  )
  await t.test('the counters of two units are not subtracted', async () => {
    near((await read('07:00:00', '07:15:00'))[0]!.discharged_kwh, 20, 0.01)
    await db.execute(
      `INSERT INTO device_exchanges (site_id, kind, device_id, changed_at, received_at,
         old_serial_number, serial_number)
       SELECT 'demo', 'bess', id, '2026-06-21T07:08Z', now(), 'A', 'B'
       FROM unnest('{1,1.cells}'::text[]) AS id`,
    )
    const [exchanged, same] = await read('07:00:00', '07:30:00')
    near(exchanged!.discharged_kwh, 15, 0.01)
    near(same!.discharged_kwh, 15, 0.2)
    await db.execute('DELETE FROM device_exchanges')
  })

  const earned = (from: string, to: string, bess_id = 1) =>
    earnedBetween(db, 'demo', bess_id, { start: new Date(ms(from)), end: new Date(ms(to)) })
  await t.test('without a market nothing is known of money', async () => {
    assert.equal(await earned('00:00:00', '01:00:00'), null)
    assert.equal(await earned('00:00:00', '01:00:00', 9), null)
  })

  await db.execute(
    `INSERT INTO markets (market_code, name, country_codes, type, currency, timezone,
       resolution_minutes)
     VALUES ('DE', 'Germany', '{DE}', 'day_ahead', 'EUR', 'Europe/Berlin', 15)`,
  )
  await db.execute("UPDATE batteries SET market_code = 'DE' WHERE bess_id = 1")
  const price = (from: string, to: string, value: number) =>
    db.execute(
      `INSERT INTO market_prices (market_code, kind, start_at, revision, end_at, price, source, fetched_at)
       VALUES ('DE', 'day_ahead', $1, 1, $2, $3, 'csv', $1)`,
      [`2026-06-21T${from}Z`, `2026-06-21T${to}Z`, value],
    )
  await price('00:00:00', '00:15:00', 100)
  await price('00:15:00', '00:30:00', -20)
  await price('01:00:00', '02:00:00', 40)

  await t.test('earned is energy by the price of its quarter', async () => {
    const both = await earned('00:00:00', '00:30:00')
    assert.deepEqual(both, { amount: 2.4, currency: 'EUR', completeness_pct: 100 })
    const charging = await earned('01:00:00', '02:00:00')
    near(charging!.amount, -0.04 * (59 + 2 / 3 - 1 / 3), 0.001)
  })

  await t.test('an amount needs each price, and tells how much energy it knows', async () => {
    assert.equal(await earned('00:00:00', '00:45:00'), null)
    assert.equal(await earned('05:15:00', '05:30:00'), null)
    await price('04:00:00', '05:00:00', 80)
    const part = await earned('04:00:00', '05:00:00')
    assert.equal(part!.completeness_pct, 25)
    near(part!.amount, 0.08 * (50 / 6 - 5), 0.002)
  })
})
