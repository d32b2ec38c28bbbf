import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { type ColumnType, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { lockedOut, untilLockedOut } from '../link/fixtures/plant.ts'
import type { Database } from '../storage/database.ts'
import { ensurePartitions, partitionName, weeksOf } from '../storage/partitions.ts'
import { type Thinning, type ThinningStep, thinnedSteps, thinWeek } from './thinning.ts'

/** A Monday. */
const start = new Date('2024-01-01')
const [week] = weeksOf(start, new Date('2024-01-02'))
const kinds = Object.keys(readingKinds) as ReadingKind[]

let database: TestDatabase

before(async () => {
  database = await testDatabase()
})
after(() => database.drop())
beforeEach(clear)

/** The week is there, whole and empty. */
async function clear(): Promise<void> {
  const { db } = database
  const tables = Object.values(readingKinds).map(({ table }) => table)
  const made = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relname ~ '_2024'`,
  )
  for (const { name } of made) await db.execute(`drop table ${name}`)
  await db.execute('truncate late_devices, thinned_partitions')
  await ensurePartitions(db, tables, start, week!.end)
}

interface Sample {
  site_id: string
  device_id: number
  sub: number
  at_ms: number
  quality: string
}
/** A row as the database has it, every column. */
type Row = Readonly<Record<string, unknown>> & { measured_at: string; quality: string }

const anything: Record<ColumnType, string> = {
  real: 'random()',
  double: 'random() * 1e9',
  integer: '1 + (random() * 9)::int',
  bigint: '(random() * 1e9)::bigint',
  text: `md5(random()::text)`,
  'real[]': 'array[random(), null]',
  'double[]': 'array[random() * 1e9]',
}

/** Stores what is not there yet, with values of all sorts; returns it. */
async function store(kind: ReadingKind, samples: readonly Sample[]): Promise<Row[]> {
  const { table, keys, columns } = readingKinds[kind]
  const values = Object.values<ColumnType>(columns).map((type) => anything[type])
  const sub = keys.length > 1 ? ', sub' : ''
  const rows = await database.db.query<{ row: Row }>(
    `insert into ${table} as r
       (site_id, ${keys.join(', ')}, measured_at, quality, ${Object.keys(columns).join(', ')})
     select site_id, device_id${sub}, at, quality, ${values.join(', ')}
     from unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[], $5::text[])
       as t (site_id, device_id, sub, at, quality)
     on conflict do nothing returning to_jsonb(r) as row`,
    [
      samples.map(({ site_id }) => site_id),
      samples.map(({ device_id }) => device_id),
      samples.map((each) => each.sub),
      samples.map(({ at_ms }) => new Date(start.getTime() + at_ms).toISOString()),
      samples.map(({ quality }) => quality),
    ],
  )
  return rows.map(({ row }) => row)
}

async function stored(kind: ReadingKind): Promise<Row[]> {
  const { table } = readingKinds[kind]
  const rows = await database.db.query<{ row: Row }>(`select to_jsonb(r) as row from ${table} r`)
  return rows.map(({ row }) => row)
}

/** What the whole of the rows is thinned to, as one would say it. */
function thinned(kind: ReadingKind, rows: readonly Row[], step_s: number): Row[] {
  const step = (row: Row) => Math.floor(Date.parse(row.measured_at) / (step_s * 1000))
  const keys = ['site_id', ...readingKinds[kind].keys]
  const groups = Map.groupBy(rows, (row) => [...keys.map((key) => row[key]), step(row)].join('/'))
  return [...groups.values()].map((group) => {
    const inOrder = group.toSorted((a, b) => Date.parse(a.measured_at) - Date.parse(b.measured_at))
    return inOrder.findLast(({ quality }) => quality !== 'suspect') ?? inOrder.at(-1)!
  })
}

const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort()

/** `before` and `within` come before and at the end of each transaction, by its number. */
function stepwise(
  db: Database,
  disturb: { before?(step: number): Promise<void>; within?(step: number): void | Promise<void> },
): Database {
  let step = 0
  return {
    ...db,
    async transaction(work, options) {
      const number = step++
      await disturb.before?.(number)
      return db.transaction(async (transaction) => {
        const result = await work(transaction)
        await disturb.within?.(number)
        return result
      }, options)
    },
  }
}

class Crash extends Error {}

const samples: fc.Arbitrary<Sample[]> = fc.array(
  fc.record({
    site_id: fc.constantFrom('a', 'b'),
    device_id: fc.integer({ min: 1, max: 3 }),
    sub: fc.constantFrom(0, 8),
    at_ms: fc.oneof(
      fc.integer({ min: 0, max: 5 * minute_ms - 1 }),
      fc.integer({ min: 58 * minute_ms, max: 62 * minute_ms }),
      fc.constantFrom(0, minute_ms, 7 * 24 * 60 * minute_ms - 1),
    ),
    quality: fc.constantFrom('good', 'good', 'suspect', 'estimated'),
  }),
  { maxLength: 40 },
)

const disturbances = fc.array(
  fc.record({
    step: fc.integer({ min: 0, max: 10 }),
    what: fc.constantFrom('crash', 'crash within', 'late', 'late'),
  }),
  { maxLength: 5 },
)

test('of each device and step one reading stays, whatever arrives and breaks meanwhile', async () => {
  const { db } = database
  let [late_before, late_after, crashes] = [0, 0, 0]
  const input = fc.record({
    kind: fc.constantFrom(...kinds),
    step_s: fc.constantFrom<ThinningStep>(60, 3600),
    readings: samples,
    late: samples,
    disturbances,
  })
  const property = fc.asyncProperty(input, async ({ kind, step_s, readings, late, ...rest }) => {
    await clear()
    const left = new Map(rest.disturbances.map(({ step, what }) => [step, what]))
    const name = partitionName(readingKinds[kind].table, week!)
    const whole = await store(kind, readings)
    const afterwards: Row[] = []
    const arriving = [...late]
    async function arrive(): Promise<void> {
      const rows = await store(kind, arriving.splice(0, 8))
      const is_thinned = (await thinnedSteps(db)).has(name)
      ;(is_thinned ? afterwards : whole).push(...rows)
      if (is_thinned) late_after += rows.length
      else late_before += rows.length
    }
    const crash = (step: number, what: string) => {
      if (left.get(step) !== what) return
      left.delete(step)
      crashes += 1
      throw new Crash()
    }
    let offset = 0
    const disturbed = stepwise(db, {
      async before(step) {
        offset = step
        if (left.get(step) === 'late') await arrive()
        crash(step, 'crash')
      },
      within: (step) => crash(step, 'crash within'),
    })
    const thinning: Thinning = { kind, week: week!, step_s }
    for (let is_done = false; !is_done; ) {
      try {
        is_done = await thinWeek(disturbed, thinning, () => true)
      } catch (error) {
        if (!(error instanceof Crash)) throw error
      }
    }
    assert.ok(offset >= 1)
    await arrive()
    assert.deepEqual(
      sorted(await stored(kind)),
      sorted([...thinned(kind, whole, step_s), ...afterwards]),
    )
    assert.deepEqual([...(await thinnedSteps(db))], [[name, step_s]])
    assert.deepEqual(await leftovers(), [])
  })
  await fc.assert(property, { numRuns: 20, endOnFailure: true })
  assert.ok(late_before > 0 && late_after > 0 && crashes > 0, 'the property says nothing')
})

/** Tables aside, notes and triggers; and weeks that lack their primary key or are not attached. */
async function leftovers(): Promise<unknown[]> {
  return database.db.query(
    `select relname from pg_class c where relkind = 'r' and relname ~ '_2024' and (
       relname ~ 'every' or not relispartition
       or not exists (select from pg_index where indrelid = c.oid and indisprimary)
       or exists (select from pg_constraint where conrelid = c.oid and contype = 'c')
       or exists (select from pg_trigger where tgrelid = c.oid))
     union all select name from late_devices`,
  )
}

const sample = { site_id: 'a', device_id: 1, sub: 0, at_ms: 10_000, quality: 'good' }
const thinning: Thinning = { kind: 'meter', week: week!, step_s: 60 }

test('a reading whose transaction is under way when the week is swapped is not lost', async () => {
  const { db } = database
  await store('meter', [sample])
  let arrived: Promise<void> | undefined
  const disturbed: Database = {
    ...db,
    async execute(statement, values) {
      // The devices are done, and the swap is next.
      if (`${statement}`.startsWith('analyze')) {
        const commit = await lockedOut(
          db,
          `insert into meter_readings (site_id, meter_id, measured_at, quality, active_power_kw)
           values ('a', 1, '2024-01-01T00:00:59Z', 'good', 77)`,
        )
        arrived = untilLockedOut(db).then(commit)
      }
      return db.execute(statement, values)
    },
  }
  assert.equal(await thinWeek(disturbed, thinning, () => true), true)
  await arrived
  assert.deepEqual(
    (await stored('meter')).map((row) => row['active_power_kw']),
    [77],
  )
})

test('a reading that arrives while its device is done again is seen the next time', async () => {
  const { db } = database
  await store('meter', [sample])
  let [began, arrived] = [false, Promise.resolve<Row[]>([])]
  const disturbed = stepwise(db, {
    // After the device was done, another reading; and one more while it is done again.
    async before(step) {
      if (step === 2) await store('meter', [{ ...sample, at_ms: 20_000 }])
    },
    async within(step) {
      if (step !== 3 || began) return
      began = true
      arrived = store('meter', [{ ...sample, at_ms: 30_000 }])
      await untilLockedOut(db)
    },
  })
  assert.equal(await thinWeek(disturbed, thinning, () => true), true)
  assert.deepEqual(sorted(await stored('meter')), sorted(await arrived))
})

test('a reader who does not end is waited for shortly, and then another time', async () => {
  const { db } = database
  await store('meter', [sample, { ...sample, at_ms: 20_000 }])
  const end = await lockedOut(db, 'lock table meter_readings in access share mode')
  let waits = 0
  const disturbed: Database = {
    ...db,
    transaction: (work, options) =>
      db.transaction(work, options).catch(async (error) => {
        assert.match(String(error), /lock timeout/)
        waits += 1
        await end()
        throw error
      }),
  }
  assert.equal(await thinWeek(disturbed, thinning, () => true), true)
  assert.equal(waits, 1)
  assert.equal((await stored('meter')).length, 1)
})

test('what was told to stop goes on where it was', async () => {
  const { db } = database
  const readings = [1, 2, 3].flatMap((device_id) => [
    { ...sample, device_id },
    { ...sample, device_id, at_ms: 20_000 },
  ])
  await store('logger', readings)
  let steps = 0
  const counted = stepwise(db, {
    async before() {
      steps += 1
    },
  })
  const of: Thinning = { ...thinning, kind: 'logger' }
  let asked = 0
  assert.equal(await thinWeek(counted, of, () => ++asked <= 2), false)
  assert.equal((await stored('logger')).length, 6, 'nothing is to be seen of it yet')
  assert.equal(await thinWeek(counted, of, () => true), true)
  // Preparing twice, three devices once each, and the swap.
  assert.equal(steps, 6)
  assert.equal((await stored('logger')).length, 3)
})
