import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { servedSite } from '../fixtures/served-site.ts'
import { addPast } from '../forecasts/fixtures/history.ts'
import { addOutage } from '../forecasts/outage-admin.ts'

test('what an outage was told to take was not sold, and no deviation is charged for it', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  const today = Date.parse('2026-06-21T00:00:00Z')
  const before_gate = '2026-06-21T09:00:00Z'
  clock.set(before_gate)
  await addPast(db, { site_id: 'demo', from_ms: today - 3 * day_ms, to_ms: today })
  await get('/predictions/forecast?date=2026-06-22')
  await db.execute("UPDATE forecast_runs SET issued_at = '2026-06-21T09:59Z'")
  await db.query(`
    INSERT INTO market_assignments (site_id, logger_id, market_code, contract_type,
      pays_at_negative_price, currency, valid_from)
    VALUES ('demo', 1, 'BE', 'spot', true, 'EUR', '2026-01-01');
    INSERT INTO fees (site_id, code, name, basis, value, currency, valid_from) VALUES
      ('demo', 'balancing', 'B', 'imbalance', 1, 'EUR', '2026-01-01');
    INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
      fetched_at)
    SELECT 'BE', kind, at, at + interval '15 minutes', price, 1, 'csv', now()
    FROM (VALUES ('day_ahead', 50), ('imbalance', 150)) AS of_kind (kind, price),
      generate_series(timestamptz '2026-06-21T22:00Z', '2026-06-22T23:45Z', interval '15 minutes')
        AS at;
    INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
      estimated_energy_kwh, energy_source, awake_covered_s, sun_covered_s, quarter_kwh,
      quarter_slot_count)
    SELECT 'demo', 1, at, 2, 2, 10.007, 0, 'inverter_counter', 7200, 3600,
      ARRAY[1.1, 2.2, 3.3, 3.407], ARRAY[6, 6, 6, 6]
    FROM generate_series(timestamptz '2026-06-22T00:00Z', '2026-06-22T23:00Z', interval '1 hour')
      AS at`)
  const hours = (day: string) => `/earnings/hourly?start=${day}&end=${day}&logger_id=1`
  const read = async () => {
    clock.set('2026-06-24T00:00:00Z')
    const at_9 = 'start=2026-06-22T09:00:00Z&end=2026-06-22T10:00:00Z'
    const production = (await get(`/predictions/production?${at_9}&logger_id=1`)).body.data[0]
    const hour = (await get(hours('2026-06-22'))).body.data[9]
    clock.set(before_gate)
    return { production, hour }
  }
  /** (Delivered less sold) kWh at 150 - 50 EUR/MWh, as what it costs. */
  const feeOf = (sold_kwh: number) => -(10.007 - sold_kwh) / 10

  const whole = await read()
  assert.ok(whole.production.p50_kwh > 20)
  assert.ok(Math.abs(whole.hour.fees_amount - feeOf(whole.production.p50_kwh)) < 1e-3)
  const outage = (from: string, to: string) => ({
    site_id: 'demo',
    logger_id: 1,
    unavailable_pct: 100,
    reason: null,
    start_at: new Date(from),
    end_at: new Date(to),
  })
  // Told after the gate: what was offered then was offered.
  clock.set('2026-06-21T12:00:00Z')
  await addOutage(site, outage('2026-06-22T08:00Z', '2026-06-22T09:30Z'))
  assert.deepEqual(await read(), whole)
  await addOutage(site, outage('2026-06-22T09:00Z', '2026-06-22T10:00Z'))
  const { production, hour } = await read()
  assert.equal(production.p50_kwh, 0)
  assert.equal(hour.fees_amount, -1.0007)
  assert.ok(hour.net_amount > hour.gross_amount)
})
