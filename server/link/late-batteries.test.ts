import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { testDatabase } from '../../test/postgres.ts'
import { holdBatteryMarks } from '../telemetry/battery-day-marks.ts'
import { storeReadings } from '../telemetry/store-readings.ts'
import {
  edge_id,
  foundSite,
  inverterFrame,
  noon,
  readingsFrame,
  site_id,
  untilLockedOut,
} from './fixtures/plant.ts'
import { prepareFrame } from './frames.ts'
import { ingestInto } from './ingest.ts'

const midnight = noon - 12 * hour_ms

test('late readings of a battery mark the days that were summed up', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const { ingest } = ingestInto(db)
  const source = { site_id, edge_id, epoch: 'journal-1', lane: 'live', received_at: noon } as const
  let seq = 0
  const frameOf = (bess_id: number, measured_at: number) => {
    seq += 1
    return readingsFrame(seq, 'bess', [{ bess_id, measured_at, soc_pct: 50 }])
  }
  const summed = () =>
    db.execute(
      `insert into battery_days
       select $1, bess_id, date '2026-06-21' - ago, zeros, zeros, now()
       from generate_series(1, 2) as bess_id, generate_series(0, 40) as ago,
         (select array_fill(0, array[96]) as zeros) as none
       on conflict (site_id, bess_id, date) do update set summed_at = excluded.summed_at`,
      [site_id],
    )
  const marked = async () =>
    (
      await db.query<{ day: string }>(
        `select bess_id || ' ' || to_char(date, 'DD.MM.') as day from battery_days
         where summed_at = '-infinity' order by bess_id, date`,
      )
    ).map(({ day }) => day)
  const markedBy = async (...frames: ReturnType<typeof frameOf>[]) => {
    await summed()
    await ingest({ ...source, frames })
    return marked()
  }

  await t.test('however late they come, each of its own battery', async () => {
    const frames = [frameOf(1, noon - 30 * day_ms), frameOf(2, noon - 2 * day_ms)]
    assert.deepEqual(await markedBy(...frames), ['1 22.05.', '2 19.06.'])
  })

  await t.test('and the day beside, where counters are read across midnight', async () => {
    assert.deepEqual(await markedBy(frameOf(1, midnight + 0.9 * hour_ms)), ['1 20.06.'])
    const before = midnight - day_ms - 0.9 * hour_ms
    assert.deepEqual(await markedBy(frameOf(1, before)), ['1 19.06.', '1 20.06.'])
  })

  await t.test('none that is still running, nor by other devices', async () => {
    assert.deepEqual(await markedBy(frameOf(1, noon)), [])
    seq += 1
    assert.deepEqual(await markedBy(inverterFrame(seq, noon - 3 * day_ms)), [])
  })

  await t.test('who sums a day up has the readings, or finds it marked', async () => {
    await summed()
    const { content } = prepareFrame(frameOf(1, noon - 5 * day_ms), {
      site_id,
      lane: 'live',
      received_at: noon,
    })
    const { items: tables } = content as Extract<typeof content, { is: 'readings' }>
    const store = (transaction: Parameters<typeof storeReadings>[0]) =>
      storeReadings(transaction, [{ site_id, received_at: new Date(noon).toISOString(), tables }])
    const readings = `select bess_id from bess_readings where measured_at < '2026-06-17'
      and measured_at > '2026-06-16'`
    let sums: Promise<unknown> | undefined
    await db.transaction(async (transaction) => {
      await store(transaction)
      sums = db.transaction(async (consumer) => {
        await holdBatteryMarks(consumer)
        return consumer.query(readings)
      })
      await untilLockedOut(db, 'lock table battery_days')
    })
    assert.deepEqual(await sums, [{ bess_id: 1 }])
    await db.execute('truncate bess_readings')
    await summed()
    let stored: Promise<unknown> | undefined
    await db.transaction(async (consumer) => {
      await holdBatteryMarks(consumer)
      stored = db.transaction(store)
      await untilLockedOut(db, 'update battery_days')
      await consumer.execute("update battery_days set summed_at = '2026-06-21'")
    })
    await stored
    assert.deepEqual(await marked(), ['1 16.06.'])
  })
})
