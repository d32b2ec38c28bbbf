import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import { migrations_dir } from '../../storage/migrate.ts'
import { type LoggerHour, storeLoggerDays, unpackHours } from './logger-days.ts'

const span = { start_ms: Date.UTC(2026, 5, 21), end_ms: Date.UTC(2026, 5, 23) }
const iso = (time_ms: number) => new Date(time_ms).toISOString()

/** Of two loggers on two days: every source and none, with and without what may be null. */
async function addHours({ db }: TestDatabase) {
  await db.execute(
    `insert into logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
       estimated_energy_kwh, energy_source, awake_covered_s, sun_covered_s, expected_energy_kwh,
       curtailment_loss_kwh)
     select 'demo', id, $1::timestamptz + nth * interval '1 hour', 3 + id, 2,
       case when nth % 5 > 0 then nth + id / 3.0::float8 end, nth / 7.0::float8,
       (array[null, 'inverter_counter', 'integrated_power', 'counter_over_gap', 'mixed'])[1 + nth % 5],
       3600 * id, 1800 * id, case when nth % 3 > 0 then nth * 1.1::float8 end,
       case when nth % 4 > 0 then nth / 9.0::float8 end
     from generate_series(1, 2) as id, generate_series(0, 47, 1 + id) as nth`,
    [iso(span.start_ms)],
  )
}

const store = ({ db }: TestDatabase, hours: readonly number[]) =>
  db.transaction((transaction) => storeLoggerDays(transaction, 'demo', hours.map(iso)))

const packedDays = ({ db }: TestDatabase) =>
  db.query<{ logger_id: number; day_at: Date; hours: Buffer }>(
    'select logger_id, day_at, hours from logger_days order by logger_id, day_at',
  )

async function assertSame(testing: TestDatabase): Promise<number> {
  const rows = await testing.db.query<LoggerHour & { logger_id: number; hour_at: Date }>(
    `select logger_id, hour_at, inverter_count, energy_kwh, estimated_energy_kwh, energy_source,
            awake_covered_s, sun_covered_s, expected_energy_kwh, curtailment_loss_kwh
     from logger_hours order by logger_id, hour_at`,
  )
  const days = Map.groupBy(await packedDays(testing), ({ logger_id }) => logger_id)
  const unpacked = [...days].flatMap(([logger_id, of_logger]) => {
    const hourAt = unpackHours(Buffer.concat(of_logger.map(({ hours }) => hours)), span)
    return Array.from({ length: 48 }, (_, nth) => span.start_ms + nth * hour_ms).flatMap((hour) => {
      const known = hourAt(hour)
      return known === undefined ? [] : { logger_id, hour_at: new Date(hour), ...known }
    })
  })
  assert.deepEqual(unpacked, rows)
  return rows.length
}

test('a packed day holds its hours, whatever becomes of them', async (t) => {
  const testing = await testDatabase()
  t.after(() => testing.drop())
  const { db } = testing
  await addHours(testing)
  await store(testing, [span.start_ms + 5 * hour_ms, span.start_ms + 30 * hour_ms])
  assert.equal(await assertSame(testing), 40)
  assert.deepEqual(
    (await packedDays(testing)).map(({ logger_id, day_at }) => [logger_id, day_at.getTime()]),
    [1, 2].flatMap((id) => [span.start_ms, span.start_ms + 24 * hour_ms].map((day) => [id, day])),
  )

  await t.test('as the migration packs those that were there before', async () => {
    const before = await packedDays(testing)
    const migration = await readFile(path.join(migrations_dir, '0008-energy-days.sql'), 'utf8')
    await db.execute('delete from logger_days')
    await db.execute(migration.slice(migration.indexOf('insert into logger_days')))
    assert.deepEqual(await packedDays(testing), before)
  })

  await t.test('an hour that changed, of its own site alone', async () => {
    await db.execute('update logger_hours set energy_kwh = 99 where hour_at = $1', [
      iso(span.start_ms + 6 * hour_ms),
    ])
    await db.execute("insert into logger_days values ('other', 1, $1, '')", [iso(span.start_ms)])
    await store(testing, [span.start_ms + 6 * hour_ms])
    assert.equal((await db.query("select from logger_days where site_id = 'other'")).length, 1)
    await db.execute("delete from logger_days where site_id = 'other'")
    await assertSame(testing)
  })

  await t.test('hours that are gone, and the day with the last of them', async () => {
    await db.execute('delete from logger_hours where logger_id = 2 and hour_at < $1', [
      iso(span.start_ms + 24 * hour_ms),
    ])
    await store(testing, [span.start_ms])
    assert.equal(await assertSame(testing), 32)
    assert.equal((await packedDays(testing)).length, 3)
  })
})
