import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { day_ms, hour_ms, week_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import fc from 'fast-check'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { foundSite, site_id } from '../link/fixtures/plant.ts'
import { emptyHour } from '../performance/rollups/inverter-hour.ts'
import { storeInverterHours, storeStringHours } from '../performance/rollups/store.ts'
import type { Log } from '../storage/log.ts'
import { ensurePartitions } from '../storage/partitions.ts'
import { packRows } from './blocks/packing.ts'
import { keepTiers } from './retention.ts'

const summed_tables = ['inverter_readings', 'string_readings']

/** A Monday. */
const first_ms = Date.UTC(2024, 0, 1)

let database: TestDatabase

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
after(() => database.drop())
beforeEach(clear)

async function clear(): Promise<void> {
  const { db } = database
  const partitions = await db.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits join pg_class on oid = inhparent
     where relkind = 'p'`,
  )
  for (const { name } of partitions) await db.execute(`drop table ${name}`)
  const latest = Object.keys(readingKinds).map((kind) => `${kind}_latest`)
  await db.execute(
    `truncate reading_blocks, packed_before, inverter_hours, string_hours, string_days, logger_hours, touched_hours, gaps,
       final_weeks, link_frames, rejected_frames, events, ${latest}`,
  )
}

const states = ['summed', 'marked', 'unknown'] as const
type WeekState = (typeof states)[number]
interface Filled {
  week: number
  kind: 'inverter' | 'string'
  state: WeekState
}

/** A day of readings in a week: summed up, marked, or of a device that was never summed up. */
async function fill({ week, kind, state }: Filled): Promise<void> {
  const { db } = database
  const start = new Date(first_ms + week * week_ms + (week % 7) * day_ms)
  const end = new Date(first_ms + (week + 1) * week_ms)
  await ensurePartitions(db, summed_tables, new Date(first_ms + week * week_ms), end)
  const { table } = readingKinds[kind]
  const [names, values] =
    kind === 'inverter' ? ['ac_power_kw', '5'] : ['first_string_index, current_a', `0, '{8}'`]
  await db.execute(
    `insert into ${table} (site_id, inverter_id, measured_at, quality, ${names})
     select '${site_id}', 1, $1::timestamptz + n * interval '50 minutes', 'good', ${values}
     from generate_series(0, 27) as n`,
    [start.toISOString()],
  )
  await db.execute(
    `insert into ${kind}_latest (site_id, inverter_id, measured_at, received_at, quality, ${names})
     select site_id, inverter_id, measured_at, measured_at, quality, ${names} from ${table}
     order by measured_at desc limit 1 on conflict do nothing`,
  )
  if (state === 'marked') {
    await db.execute(
      `insert into touched_hours (site_id, kind, device_id, hour_at) values ('${site_id}', $2, 1, $1)
       on conflict do nothing`,
      [start.toISOString(), kind],
    )
  }
  if (state !== 'unknown') await sum(kind, start)
}

async function sum(kind: 'inverter' | 'string', hour_at: Date): Promise<void> {
  const hour = { inverter_id: 1, hour_at }
  await database.db.transaction(async (transaction) => {
    if (kind === 'inverter') {
      const sums = { ...hour, ...emptyHour(), covered_s: 1 }
      await storeInverterHours(transaction, site_id, [sums], [])
    } else {
      const sums = { ...hour, string_count: 0, layout: 1, sums: Buffer.alloc(0) }
      await storeStringHours(transaction, site_id, [sums], [])
    }
  })
}

/** Packs old rows, then thins. Where nothing else is given no minutes are kept, only hours. */
async function run(
  now_ms: number,
  raw_days: number | null,
  { minute_days = raw_days, log = silent }: { minute_days?: number | null; log?: Log } = {},
): Promise<void> {
  const at = (time_ms: number) => ({
    db: database.db,
    clock: { now: () => new Date(time_ms) },
    log,
    signal: new AbortController().signal,
  })
  await packRows(at(now_ms))
  await packRows(at(now_ms + 3 * hour_ms))
  await keepTiers(at(now_ms), {
    retention_raw_days: raw_days,
    retention_minute_days: minute_days,
  })
}

/** Readings by week and kind, of rows or else of blocks. */
const remaining = async () =>
  database.db.query<{ week: number; kind: string; rows: number }>(
    `with rows as (
       select date_trunc('week', measured_at) as week, kind, count(*) as rows
       from (select 'inverter' as kind, measured_at from inverter_readings
             union all select 'string', measured_at from string_readings) r
       group by 1, 2
     ), blocks as (
       select date_trunc('week', hour_at) as week, kind, sum(reading_count)::int as rows
       from reading_blocks group by 1, 2
     )
     select ((extract(epoch from week) * 1000 - $1) / $2)::int as week, kind,
       coalesce(rows.rows, blocks.rows) as rows
     from rows full join blocks using (week, kind) order by 1, 2`,
    [first_ms, week_ms],
  )

const count = async (table: string) =>
  (await database.db.query<{ count: number }>(`select count(*) from ${table}`))[0]!.count

test('nothing newer than the bound and nothing that is not summed up is ever thinned', async () => {
  const filled = fc.uniqueArray(
    fc.record({
      week: fc.integer({ min: 0, max: 9 }),
      kind: fc.constantFrom('inverter', 'string'),
      state: fc.oneof({ weight: 2, arbitrary: fc.constant('summed') }, fc.constantFrom(...states)),
    }) as fc.Arbitrary<Filled>,
    { minLength: 1, maxLength: 5, selector: ({ week, kind }) => `${week} ${kind}` },
  )
  const setting = fc.record({
    retention_raw_days: fc.integer({ min: 35, max: 80 }),
    now_ms: fc.integer({ min: first_ms + 35 * day_ms, max: first_ms + 150 * day_ms }),
  })
  let [thinned, held] = [0, 0]
  const property = fc.asyncProperty(filled, setting, async (weeks, { now_ms, ...days }) => {
    await clear()
    for (const each of weeks) await fill(each)
    const sums = [await count('inverter_hours'), await count('string_hours')]
    await run(now_ms, days.retention_raw_days)

    const bound_ms = now_ms - days.retention_raw_days * day_ms
    const isOver = (week: number) => first_ms + (week + 1) * week_ms <= bound_ms
    const isHeld = (asked: number) =>
      weeks.some(
        ({ week, state }) =>
          (week === asked && state !== 'summed') ||
          // A mark in the first hour of a week waits for readings of the week before it.
          (week === asked + 1 && state === 'marked' && week % 7 === 0),
      )
    const expected = weeks
      .map(({ week, kind }) => ({ week, kind, rows: isOver(week) && !isHeld(week) ? 23 : 28 }))
      .sort((a, b) => a.week - b.week || a.kind.localeCompare(b.kind))
    assert.deepEqual(await remaining(), expected)
    assert.deepEqual([await count('inverter_hours'), await count('string_hours')], sums)
    thinned += expected.filter(({ rows }) => rows === 23).length
    held += expected.filter(({ week, rows }) => isOver(week) && rows === 28).length
  })
  const old = { retention_raw_days: 35, now_ms: first_ms + 120 * day_ms }
  const inOrder = (...states: WeekState[]): Filled[] =>
    states.map((state, week) => ({ week, kind: week % 2 ? 'string' : 'inverter', state }))
  await fc.assert(property, {
    numRuns: 15,
    endOnFailure: true,
    examples: [
      [inOrder('summed', 'summed', 'marked', 'summed'), old],
      [inOrder('summed', 'unknown', 'summed'), old],
      [inOrder('summed'), { ...old, now_ms: first_ms + 42 * day_ms - 1 }],
      [inOrder('summed'), { ...old, now_ms: first_ms + 42 * day_ms }],
    ],
  })
  assert.ok(thinned > 0 && held > 0, `${thinned} thinned, ${held} held: the property says nothing`)
})

test('without a setting everything stays', async () => {
  await fill({ week: 0, kind: 'inverter', state: 'summed' })
  await run(first_ms + 9000 * day_ms, null)
  assert.equal((await remaining()).length, 1)
})

test('what holds a week up is told', async () => {
  const told: unknown[] = []
  const log = { ...silent, warn: (what: unknown) => void told.push(what) }
  await fill({ week: 1, kind: 'string', state: 'unknown' })
  await run(first_ms + 200 * day_ms, 35, { log })
  const held_by = `${site_id}: string readings of inverter 1 on 2024-01-09 have no sums`
  assert.deepEqual(told, [{ week: new Date(first_ms + week_ms), held_by }])
})

test('every kind of readings steps down: to minutes, then to hours', async () => {
  const { db } = database
  const partitioned = await db.query<{ table: string }>(
    'select partrelid::regclass::text as "table" from pg_partitioned_table order by 1',
  )
  const kinds = Object.values(readingKinds)
  assert.deepEqual(
    partitioned.map(({ table }) => table),
    kinds.map(({ table }) => table).sort(),
    'a table of weekly partitions that is of no kind of readings is never thinned',
  )
  const end = new Date(first_ms + week_ms)
  await ensurePartitions(
    db,
    kinds.map(({ table }) => table),
    new Date(first_ms),
    end,
  )
  const counts = async () => {
    const found: Record<string, number> = {}
    for (const { table } of kinds) found[table] = await count(table)
    const blocks = await db.query<{ kind: ReadingKind; count: number }>(
      'select kind, sum(reading_count)::int as count from reading_blocks group by 1',
    )
    for (const { kind, count } of blocks) {
      assert.equal(found[readingKinds[kind].table], 0, 'its rows are gone')
      found[readingKinds[kind].table] = count
    }
    return found
  }
  // Four minutes with three readings each, and two hours.
  for (const kind of Object.keys(readingKinds) as ReadingKind[]) {
    const { table, keys } = readingKinds[kind]
    await db.execute(
      `insert into ${table} (site_id, ${keys.join(', ')}, measured_at, quality)
       select '${site_id}', ${keys.map(() => '1').join(', ')}, $1::timestamptz + at, 'good'
       from unnest(array[0, 20, 40, 60, 80, 100, 3600, 3620, 3640, 3660, 3680, 3700]) as second,
         make_interval(secs => second) as at`,
      [new Date(first_ms).toISOString()],
    )
    await db.execute(
      `insert into ${kind}_latest (site_id, ${keys.join(', ')}, measured_at, quality, received_at)
       select site_id, ${keys.join(', ')}, measured_at, quality, measured_at from ${table} limit 1`,
    )
  }
  const all = (rows: number) => Object.fromEntries(kinds.map(({ table }) => [table, rows]))
  const days = { minute_days: 100 }
  const finals = () => count('final_weeks')
  await run(first_ms + week_ms + 35 * day_ms - 1, 35, days)
  assert.deepEqual(await counts(), all(12))
  assert.equal(await finals(), 0)
  await run(first_ms + week_ms + 35 * day_ms, 35, days)
  assert.deepEqual(await counts(), all(4))
  assert.equal(await finals(), 1)
  await run(first_ms + week_ms + 100 * day_ms - 1, 35, days)
  assert.deepEqual(await counts(), all(4))
  await run(first_ms + week_ms + 100 * day_ms, 35, days)
  assert.deepEqual(await counts(), all(2))
})

test('a week with marks stays whole until its hours are summed up', async () => {
  await fill({ week: 0, kind: 'inverter', state: 'marked' })
  await fill({ week: 2, kind: 'inverter', state: 'summed' })
  const minutes = { minute_days: 1000 }
  const final = () =>
    database.db.query<{ week_at: Date }>('select week_at from final_weeks order by 1')
  await run(first_ms + 60 * day_ms, 35, minutes)
  assert.deepEqual(await final(), [{ week_at: new Date(first_ms + 2 * week_ms) }])
  await database.db.execute('truncate touched_hours')
  await run(first_ms + 60 * day_ms, 35, minutes)
  assert.equal((await final()).length, 2)
})
