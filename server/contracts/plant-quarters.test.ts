import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { hour_ms, minute_ms, quarter_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { silent } from '../../test/postgres.ts'
import { type ServedSite, servedSite } from '../fixtures/served-site.ts'
import { createRollups } from '../performance/rollups/job.ts'
import { touchReadingsSince } from '../telemetry/touched-hours.ts'
import { readPlantHours, readPlantQuarters, sharedOut } from './plant-quarters.ts'

const start_ms = Date.UTC(2026, 5, 21, 8)

test('parts of energy are whole and add up to the rounded whole, whatever their shares', () => {
  const share = fc.double({ min: 0, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.tuple(share, share, share, share),
      (kwh, shares) => {
        const parts = sharedOut(kwh, shares) as number[]
        assert.equal(
          parts.reduce((sum, wh) => sum + wh, 0),
          Math.round(kwh * 1000),
        )
        assert.ok(parts.every((wh) => Number.isInteger(wh) && wh >= 0))
      },
    ),
  )
  assert.deepEqual(sharedOut(Number.NaN, [1, 1, 1, 1]), [null, null, null, null])
  assert.deepEqual(sharedOut(0.01, [1, 1, 1, 1]), [3, 2, 3, 2])
})

/** Power that grows; the first inverter is silent in the second and third quarter of hour 9. */
async function measure({ db }: ServedSite) {
  const instants = Array.from({ length: 181 }, (_, nth) => start_ms + nth * minute_ms)
  const isHeard = (at_ms: number) => {
    const ms = at_ms - start_ms - hour_ms
    return ms < quarter_ms || ms >= 3 * quarter_ms
  }
  for (const [inverter_id, heard] of [
    [1, instants.filter(isHeard)],
    [3, instants],
  ] as const) {
    const kw = (at_ms: number) => 30 + ((at_ms - start_ms) / hour_ms) * 20
    // The integral of the power, which the counter shows to the Wh.
    const kwh = (at_ms: number) => {
      const hours = (at_ms - start_ms) / hour_ms
      return 5000 + 30 * hours + 10 * hours * hours
    }
    await db.execute(
      `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, ac_power_kw,
         energy_total_kwh)
       SELECT 'demo', $1, at, 'good', kw, kwh
       FROM unnest($2::timestamptz[], $3::float8[], $4::float8[]) AS r (at, kw, kwh)`,
      [
        inverter_id,
        heard.map((at_ms) => new Date(at_ms).toISOString()),
        heard.map(kw),
        heard.map(kwh),
      ],
    )
  }
  await db.transaction((tx) => touchReadingsSince(tx, 'demo', new Date(start_ms)))
  const clock = { now: () => new Date(Date.now() + 48 * hour_ms) }
  await createRollups(db, { clock, timers: { after: () => () => {} }, log: silent }).runDue()
}

test('quarters of plants as they were measured, and what a counter told of a silence', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await measure(site)
  const { db } = site
  const span = { from: new Date(start_ms), to: new Date(start_ms + 3 * hour_ms) }
  const quarters = await readPlantQuarters(db, { site_id: 'demo', ...span })
  const hours = await db.query<{ logger_id: number; hour_at: Date; energy_kwh: number }>(
    `SELECT logger_id, hour_at, energy_kwh FROM logger_hours WHERE site_id = 'demo' ORDER BY 1, 2`,
  )

  await t.test('they add up to the hours, to the Wh', () => {
    for (const { logger_id, hour_at, energy_kwh } of hours) {
      const of_hour = quarters.filter(
        (quarter) =>
          quarter.logger_id === logger_id &&
          Math.floor(quarter.start_ms / hour_ms) * hour_ms === hour_at.getTime(),
      )
      if (hour_at < span.from || hour_at >= span.to) continue
      assert.equal(of_hour.length, 4)
      const sum = of_hour.reduce((total, { energy_wh }) => total + energy_wh!, 0)
      assert.equal(sum, Math.round(energy_kwh * 1000))
    }
  })

  await t.test('each has the energy of its time', () => {
    const east = quarters.filter(({ logger_id }) => logger_id === 2)
    assert.equal(east.length, 12)
    for (const [nth, { energy_wh, completeness_pct }] of east.entries()) {
      const [from, to] = [nth / 4, (nth + 1) / 4]
      const expected_wh = 1000 * (30 * (to - from) + 10 * (to * to - from * from))
      assert.ok(Math.abs(energy_wh! - expected_wh) < 30, `${nth}: ${energy_wh} of ${expected_wh}`)
      assert.equal(completeness_pct, 100)
    }
  })

  await t.test('energy that nobody measured goes to the time that nobody measured', () => {
    const south = quarters.filter(({ logger_id }) => logger_id === 1)
    const silent_ones = south.slice(5, 7)
    const expected_kwh = 30 * 0.5 + 10 * (1.75 ** 2 - 1.25 ** 2)
    const sum = silent_ones.reduce((total, { energy_wh }) => total + energy_wh!, 0)
    assert.ok(Math.abs(sum / 1000 - expected_kwh) < 1, `${sum}`)
    assert.ok(Math.abs(silent_ones[0]!.energy_wh! - silent_ones[1]!.energy_wh!) <= 1)
    assert.ok(silent_ones.every(({ completeness_pct }) => completeness_pct < 20))
  })

  await t.test('hours from before quarters were kept have got the same', async () => {
    const kept = `SELECT logger_id, hour_at, quarter_slot_count, clipped_s, fault_s,
      (SELECT array_agg(round(kwh::numeric, 9)::float8) FROM unnest(quarter_kwh) AS kwh) AS kwh
      FROM logger_hours ORDER BY 1, 2`
    const before = await db.query(kept)
    await db.execute(
      `UPDATE logger_hours SET quarter_kwh = NULL, quarter_slot_count = NULL, clipped_s = NULL,
         fault_s = NULL`,
    )
    const migration = new URL('../storage/migrations/0014-contracts.sql', import.meta.url)
    const text = readFileSync(migration, 'utf8')
    await db.query(text.slice(text.indexOf('update logger_hours')))
    assert.deepEqual(await db.query(kept), before)
  })

  await t.test('the span cuts them, and a plant can be asked for', async () => {
    const some = await readPlantQuarters(db, {
      site_id: 'demo',
      logger_id: 2,
      from: new Date(start_ms + quarter_ms),
      to: new Date(start_ms + 3 * quarter_ms),
    })
    assert.deepEqual(
      some.map(({ logger_id, start_ms }) => [logger_id, start_ms]),
      [1, 2].map((nth) => [2, start_ms + nth * quarter_ms]),
    )
  })

  await t.test('every hour of a long time is there once, in order, by plant', async () => {
    await db.execute(
      `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count,
         energy_kwh, estimated_energy_kwh, awake_covered_s, sun_covered_s)
       SELECT 'demo', logger_id, at, 1, 1, 0, 0, 0, 0 FROM generate_series(1, 2) AS logger_id,
         generate_series(timestamptz '2026-01-01', '2026-02-28T23:00Z', interval '1 hour') AS at
       WHERE logger_id = 1 OR at >= '2026-02-01'`,
    )
    const [from_ms, to_ms] = [Date.parse('2026-01-02T05:00Z'), Date.parse('2026-02-27T07:00Z')]
    const long = { site_id: 'demo', from: new Date(from_ms), to: new Date(to_ms) }
    const plants = await readPlantHours(db, long)
    const startsOf = (logger_id: number) =>
      Array.from(plants.get(logger_id)!, (hour) => hour.start_ms)
    const hoursFrom = (first_ms: number) =>
      Array.from({ length: (to_ms - first_ms) / hour_ms }, (_, nth) => first_ms + nth * hour_ms)
    assert.deepEqual([...plants.keys()], [1, 2])
    assert.deepEqual(startsOf(1), hoursFrom(from_ms))
    assert.deepEqual(startsOf(2), hoursFrom(Date.parse('2026-02-01')))
    assert.deepEqual(startsOf(2), hoursFrom(Date.parse('2026-02-01')), 'and again')
  })

  await t.test('what limits cost goes to the time in which they held', async () => {
    await db.query(`
      UPDATE logger_hours SET curtailment_loss_kwh = 3 WHERE logger_id = 2;
      INSERT INTO curtailment_groups (site_id, group_id, source, created_at)
      VALUES ('demo', 'g', 'api', now());
      INSERT INTO curtailment_rows (site_id, group_id, logger_id, start_at, end_at, applied_at,
        max_power_kw)
      VALUES ('demo', 'g', 2, '2026-06-21T08:30Z', '2026-06-21T09:15Z', '2026-06-21T08:30Z', 5)`)
    const curtailed = await readPlantQuarters(db, { site_id: 'demo', logger_id: 2, ...span })
    assert.deepEqual(
      curtailed.slice(0, 8).map(({ curtailed_wh }) => curtailed_wh),
      [0, 0, 1500, 1500, 3000, 0, 0, 0],
    )
    assert.ok(curtailed.every((q) => q.available_wh === q.energy_wh! + q.curtailed_wh!))
  })
})
