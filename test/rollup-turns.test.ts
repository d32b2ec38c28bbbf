/** What one turn of the roll-up takes, and which inverters a met station marks. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { addReading, servedSite } from '../server/fixtures/served-site.ts'
import { createRollups, touchAround } from '../server/performance/rollups/job.ts'
import type { Database } from '../server/storage/database.ts'
import { silent } from './postgres.ts'

const first_ms = Date.UTC(2026, 4, 1)
const hourAt = (nth: number) => new Date(first_ms + nth * hour_ms)

async function site(t: TestContext): Promise<Database> {
  const { db, close } = await servedSite()
  t.after(close)
  return db
}

/** One met station; `eyes` are its irradiance instruments. */
function addStation(db: Database, station_id: number, logger_id: number, eyes: number) {
  const instruments = Array.from({ length: eyes }, (_, nth) => ({
    sensor_id: `G${nth}`,
    name: 'Pyranometer',
    type: 'pyranometer',
    quantity: 'ghi_w_m2',
    point: '302[0].GHI',
  }))
  return db.execute(
    `insert into stations (site_id, station_id, logger_id, name, instruments, created_at,
       updated_at)
     values ('demo', $1, $2, 'Mast', $3, now(), now())`,
    [station_id, logger_id, JSON.stringify(instruments)],
  )
}

/** Marks of one device, one for each of the first hours. */
const mark = (db: Database, kind: string, device_id: number, hours: number) =>
  db.execute(
    `insert into touched_hours (site_id, kind, device_id, hour_at, due_at)
     select 'demo', $1, $2, $3::timestamptz + nth * interval '1 hour', now()
     from generate_series(0, $4::int - 1) as nth`,
    [kind, device_id, hourAt(0).toISOString(), hours],
  )

const markedInverters = async (db: Database) =>
  (
    await db.query<{ device_id: number; hour_at: Date }>(
      `select device_id, hour_at from touched_hours where kind = 'inverter'
       order by hour_at, device_id`,
    )
  ).map(({ device_id, hour_at }) => [device_id, (hour_at.getTime() - first_ms) / hour_ms])

test('a station marks the inverters that look to it, and those of plants that ask it', async (t) => {
  const db = await site(t)
  const heard = async (...marks: [station_id: number, nth: number][]) => {
    await db.execute('delete from touched_hours')
    const of = marks.map(([device_id, nth]) => ({
      kind: 'weather' as const,
      device_id,
      hour_at: hourAt(nth),
      touches: 1,
    }))
    await db.transaction((tx) => touchAround(tx, 'demo', of, new Date(first_ms)))
    return markedInverters(db)
  }
  await addStation(db, 1, 1, 2)
  assert.deepEqual(await heard([1, 5]), [
    [1, 5],
    [2, 5],
    // Its plant has none of its own.
    [3, 5],
  ])
  await addStation(db, 2, 2, 2)
  assert.deepEqual(await heard([1, 5], [2, 6], [1, 7]), [
    [1, 5],
    [2, 5],
    [3, 6],
    [1, 7],
    [2, 7],
  ])
  // With one eye it is believed by what that of the other plant says.
  await db.execute('delete from stations where station_id = 2')
  await addStation(db, 2, 2, 1)
  assert.deepEqual(await heard([1, 5], [2, 6]), [
    [1, 5],
    [2, 5],
    [3, 5],
    [3, 6],
  ])
  assert.deepEqual(await heard([9, 5]), [], 'of a station that nobody knows')
})

/** Runs the roll-up turn by turn, in its own order, with nothing to wait for. */
function turns(db: Database) {
  let due: (() => void) | null = null
  let scheduled = () => {}
  const timers = {
    after(_: number, run: () => void) {
      due = run
      scheduled()
      return () => {}
    },
  }
  // Marks are due by the time of the database.
  const clock = { now: () => new Date(Date.now() + hour_ms) }
  const rollups = createRollups(db, { clock, timers, log: silent })
  rollups.start()
  return async () => {
    const over = new Promise<void>((resolve) => {
      scheduled = resolve
    })
    due!()
    await over
  }
}

test('a turn takes 200 marks, the newest hours first', async (t) => {
  const db = await site(t)
  await mark(db, 'inverter', 1, 450)
  const turn = turns(db)
  const left = async () => {
    const marks = await markedInverters(db)
    return [marks.length, marks.at(-1)?.[1] ?? null]
  }
  await turn()
  assert.deepEqual(await left(), [250, 249])
  await turn()
  assert.deepEqual(await left(), [50, 49])
  await turn()
  assert.deepEqual(await left(), [0, null])
})

test('stations come before inverters, few at a time: each marks all that look to it', async (t) => {
  const db = await site(t)
  await addStation(db, 1, 1, 2)
  await mark(db, 'weather', 1, 30)
  await mark(db, 'inverter', 1, 5)
  const turn = turns(db)
  const left = async () => {
    const [weather] = await db.query<{ count: number }>(
      "select count(*) as count from touched_hours where kind = 'weather'",
    )
    return [weather!.count, (await markedInverters(db)).length]
  }
  await turn()
  assert.deepEqual(await left(), [10, 3 * 20 + 5])
  await turn()
  // Of the oldest hours that of inverter 1 was marked before.
  assert.deepEqual(await left(), [0, 3 * 30])
  await turn()
  assert.deepEqual(await left(), [0, 0])
})

test('days are not looked at before all that was heard of them is summed up', async (t) => {
  const db = await site(t)
  await addStation(db, 1, 1, 2)
  for (let minute = 0; minute <= 10; minute += 1) {
    await addReading(db, 'string', {
      inverter_id: 1,
      first_string_index: 0,
      current_a: [8, 8],
      voltage_v: [700, 700],
      measured_at: new Date(hourAt(249).getTime() + minute * 60_000).toISOString(),
    })
  }
  await mark(db, 'inverter', 1, 250)
  const turn = turns(db)
  const counts = async () => {
    const [row] = await db.query<{ days: number; looks: number }>(
      `select (select count(*) from string_days) as days,
              (select count(*) from step_looks) as looks`,
    )
    return [row!.days, row!.looks]
  }
  await turn()
  assert.deepEqual(await counts(), [1, 0], '50 hours of inverters are due')
  await mark(db, 'weather', 1, 30)
  await turn()
  assert.deepEqual(await counts(), [1, 0], '10 hours of the station')
  await turn()
  assert.deepEqual(await counts(), [1, 0], 'those of the inverters that look to it')
  await turn()
  assert.deepEqual(await counts(), [1, 1])
})
