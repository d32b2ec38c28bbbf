import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { day_ms, hour_ms, week_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import fc from 'fast-check'
import { silent, type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import type { JsonText } from '../../http/json-text.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  readingsFrame,
  site_id,
} from '../../link/fixtures/plant.ts'
import { ingestInto } from '../../link/ingest.ts'
import { readStringInstants } from '../../performance/iv/store.ts'
import { createRollups } from '../../performance/rollups/job.ts'
import type { Database } from '../../storage/database.ts'
import { readInstants } from '../gaps/store.ts'
import { exportHistory, readHistory } from '../history.ts'
import { exportInstantHistory, readInstantHistory } from '../instants.ts'
import { inverterHistory } from '../inverters/endpoints.ts'
import { readReadings, walkReadings } from '../stored-readings.ts'
import { stringHistory } from '../strings/endpoints.ts'
import { countStrings, stringItems } from '../strings/store.ts'
import { packRows } from './packing.ts'
import { thinBlocks } from './thinning.ts'

/** A Monday. */
const first_ms = Date.UTC(2024, 0, 1)

let database: TestDatabase
let now_ms = 0
let seq = 0
const clock = { now: () => new Date(now_ms) }

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
  await db.execute(
    `truncate reading_blocks, packed_before, thinned_partitions, touched_hours, final_weeks, gaps,
       inverter_hours, string_hours, link_frames, rejected_frames, inverter_latest, string_latest`,
  )
  now_ms = first_ms + 10 * week_ms
  await ingest(inventoryFrame(0))
}

async function ingest(...frames: Frame[]) {
  const batch = { site_id, edge_id, epoch: 'e', lane: 'backlog', received_at: now_ms } as const
  const numbered = frames.map((frame) => ({ ...frame, seq: seq++ }))
  const { refused_frames } = await ingestInto(database.db).ingest({ ...batch, frames: numbered })
  assert.equal(refused_frames, 0)
}

/** Sums up and packs whatever is marked. */
async function rollUp(db: Database): Promise<void> {
  await database.db.execute(`update touched_hours set due_at = '-infinity'`)
  await createRollups(db, { clock, timers: { after: () => () => {} }, log: silent }).runDue()
}

const pack = (db: Database) =>
  packRows({ db, clock, log: silent, signal: new AbortController().signal })

/** Packs and drops every row that is old enough. */
async function packAll(): Promise<void> {
  await rollUp(database.db)
  await pack(database.db)
  now_ms += 3 * hour_ms
  await pack(database.db)
}

const rowsLeft = async () => {
  const [counted] = await database.db.query<{ count: number }>(
    'select (select count(*) from inverter_readings) + (select count(*) from string_readings) as count',
  )
  return counted!.count
}

class Crash extends Error {}

/** Ends transactions by their number before they are committed. */
function crashing(db: Database, crashes: Set<number>): Database {
  let number = 0
  return {
    ...db,
    transaction: (work, options) =>
      db.transaction(async (transaction) => {
        const result = await work(transaction)
        if (crashes.delete(number++)) throw new Crash()
        return result
      }, options),
  }
}

type Step =
  | { what: 'arrive'; readings: { device: number; at_s: number; kw: number | null }[] }
  | { what: 'roll up' | 'pack' | 'hours pass' }

const reading = fc.record({
  device: fc.integer({ min: 1, max: 2 }),
  at_s: fc.oneof(
    fc.integer({ min: 0, max: 7200 }),
    fc.integer({ min: 7 * 86_400 - 1800, max: 7 * 86_400 + 1800 }),
    fc.constantFrom(0, 3599, 3600, 7 * 86_400 - 1),
  ),
  kw: fc.oneof(
    fc.integer({ min: -999, max: 9999 }).map((raw) => raw / 100),
    fc.constant(null),
  ),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    what: fc.constant('arrive' as const),
    readings: fc.uniqueArray(reading, {
      minLength: 1,
      maxLength: 12,
      selector: ({ device, at_s }) => `${device} ${at_s}`,
    }),
  }),
  fc.record({ what: fc.constantFrom('roll up' as const, 'pack' as const, 'hours pass' as const) }),
)

test('each acknowledged reading comes back once, whatever arrives and breaks meanwhile', async () => {
  let [packed, dropped, crashed] = [0, 0, 0]
  const input = fc.record({
    steps: fc.array(step, { minLength: 4, maxLength: 10 }),
    crashes: fc.uniqueArray(fc.integer({ min: 0, max: 25 }), { maxLength: 6 }),
  })
  const property = fc.asyncProperty(input, async ({ steps, crashes }) => {
    await clear()
    const acknowledged = new Map<string, number | null>()
    const left = new Set(crashes)
    const db = crashing(database.db, left)
    for (const each of [...steps, { what: 'roll up' }, { what: 'pack' }] as Step[]) {
      try {
        if (each.what === 'arrive') {
          const rows = each.readings.map(({ device, at_s, kw }) => ({
            inverter_id: device,
            measured_at: first_ms + 1000 * at_s,
            ac_power_kw: kw,
            dc_power_kw: kw,
          }))
          await ingest(readingsFrame(0, 'inverter', rows))
          for (const row of rows) {
            const id = `${row.inverter_id} ${row.measured_at}`
            if (!acknowledged.has(id)) acknowledged.set(id, row.ac_power_kw)
          }
        } else if (each.what === 'roll up') await rollUp(db)
        else if (each.what === 'pack') await pack(db)
        else now_ms += 3 * hour_ms
      } catch (error) {
        if (!(error instanceof Crash)) throw error
        crashed += 1
      }
      await comesBack(acknowledged)
    }
    const [blocks] = await database.db.query<{ count: number }>(
      'select coalesce(sum(reading_count), 0)::int as count from reading_blocks',
    )
    packed += blocks!.count
    dropped += acknowledged.size - (await rowsLeft())
  })
  const arrive = (...at_s: number[]) => ({
    what: 'arrive' as const,
    readings: at_s.map((each) => ({ device: 1, at_s: each, kw: each })),
  })
  const [roll, packing, wait] = (['roll up', 'pack', 'hours pass'] as const).map((what) => ({
    what,
  })) as [Step, Step, Step]
  const steps: Step[] = [
    arrive(0, 5, 3599),
    roll,
    packing,
    wait,
    packing,
    arrive(5, 10),
    roll,
    roll,
  ]
  await fc.assert(property, {
    numRuns: 4,
    endOnFailure: true,
    examples: [[{ steps: [...steps, packing, wait], crashes: [2, 5, 9] }]],
  })
  assert.ok(packed > 0 && dropped > 0 && crashed > 0, 'the property says nothing')
})

async function comesBack(expected: ReadonlyMap<string, number | null>): Promise<void> {
  const { db } = database
  const all = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY }
  const columns = ['ac_power_kw', 'dc_power_kw']
  const given = [...expected].sort()
  const found = await readReadings(db, 'inverter', { site_id, device_ids: [1, 2], ...all }, columns)
  const ids = found.map((each) => [
    `${each['inverter_id']} ${each.measured_at}`,
    each['ac_power_kw'],
  ])
  assert.deepEqual(ids.sort(), given)
  for (const { ac_power_kw, dc_power_kw } of found) assert.equal(dc_power_kw, ac_power_kw)
  for (const newest of [false, true]) {
    const walked: unknown[] = []
    for (const device_id of [1, 2]) {
      const walk = { site_id, device_id, ...all, newest, most: 3 }
      let before = newest ? Number.POSITIVE_INFINITY : 0
      for await (const part of walkReadings(db, 'inverter', walk, columns)) {
        for (const { measured_at, ac_power_kw, dc_power_kw } of part) {
          assert.equal(dc_power_kw, ac_power_kw)
          assert.ok(newest ? measured_at < before : measured_at > before)
          before = measured_at
          walked.push([`${device_id} ${measured_at}`, ac_power_kw])
        }
      }
    }
    assert.deepEqual(walked.sort(), given)
  }
}

/** Sends the statements of a server before migration 0046. */
const ofEarlierRelease = (db: Database): Database => ({
  ...db,
  transaction: (work, options) =>
    db.transaction((transaction) => {
      const execute: typeof transaction.execute = (statement, values) => {
        const is_text = typeof statement === 'string'
        const earlier = is_text ? statement.replaceAll('string_ranges', 'ranges') : statement
        return transaction.execute(earlier, values)
      }
      return work({ ...transaction, execute })
    }, options),
})

test('a server that does not see compact values makes neither blocks nor sums', async () => {
  const { db } = database
  const rows = [0, 5, 10].map((at_s) => ({
    inverter_id: 1,
    measured_at: first_ms + 1000 * at_s,
    dc_power_kw: 40 + at_s,
  }))
  await ingest(readingsFrame(0, 'inverter', rows))
  const marks = () =>
    db.query('select kind, device_id, hour_at, touches from touched_hours order by 1, 2, 3')
  const marked = await marks()
  assert.ok(marked.length > 0)
  await assert.rejects(rollUp(ofEarlierRelease(db)), { code: '42703' })
  await assert.rejects(pack(ofEarlierRelease(db)), { code: '42703' })
  assert.deepEqual(await marks(), marked)
  assert.deepEqual(await db.query('select from inverter_hours'), [])
  await packAll()
  assert.equal(await rowsLeft(), 0)
  const all = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY }
  const asked = { site_id, device_ids: [1], ...all }
  const found = await readReadings(db, 'inverter', asked, ['dc_power_kw'])
  assert.deepEqual(
    found.map(({ dc_power_kw }) => dc_power_kw),
    [40, 45, 50],
  )
})

/** Readings of two weeks with holes, nulls, suspect ones and combiners beside an inverter. */
async function measure(): Promise<void> {
  const minutes = [0, 1, 59, 60, 61, 62, 300, 7 * 1440 - 1, 7 * 1440, 7 * 1440 + 30, 13 * 1440]
  const instants = minutes.flatMap((minute) =>
    [0, 5, 10.5, 55].map((second) => first_ms + minute * 60_000 + second * 1000),
  )
  const value = (nth: number) => [98.4, 0.1, null, -0.02, 12_345.678, 1e6][nth % 6]!
  await ingest(
    readingsFrame(
      0,
      'inverter',
      instants.map((measured_at, nth) => ({
        inverter_id: 1,
        measured_at,
        quality: nth % 5 === 3 ? 'suspect' : 'good',
        state: nth % 7 === 0 ? null : 'mppt',
        ac_power_kw: value(nth),
        energy_total_kwh: 402_113.12 + nth / 1000,
        alarm_1: nth % 4 === 0 ? 4_294_967_295 : 0,
        mppt_voltage_v: nth % 6 === 0 ? null : [800.1 + nth, null],
      })),
    ),
    readingsFrame(
      0,
      'string',
      instants.flatMap((measured_at, nth) =>
        [0, 2].map((first_string_index) => ({
          inverter_id: 1,
          first_string_index,
          measured_at,
          current_a: nth % 9 === 0 ? [] : [9.31 + nth / 100, null],
          voltage_v: nth % 4 === 0 ? null : [800.5, 801.25],
        })),
      ),
    ),
  )
}

/** What the readers of both kinds answer, in many windows. */
async function answers(): Promise<unknown[]> {
  const { db } = database
  const found: unknown[] = []
  const end = new Date(first_ms + 2 * week_ms).toISOString()
  const starts = [0, hour_ms + 1, 7 * day_ms - 50_000, 13 * day_ms]
  const windows = [
    { start: null, end, newest: true },
    { start: null, end: new Date(first_ms + 7 * day_ms + 5000).toISOString(), newest: true },
    ...starts.flatMap((start_ms) =>
      [true, false].map((newest) => ({
        start: new Date(first_ms + start_ms).toISOString(),
        end,
        newest,
      })),
    ),
  ]
  for (const window of windows) {
    for (const limit of [1, 9, 1000]) {
      const device = { site_id, device_id: 1, window, limit }
      found.push(JSON.parse(String((await readHistory(db, 'inverter', device)).text)))
      for (const string_index of [undefined, 3]) {
        const strings = { site_id, device_id: 1, string_index, window }
        found.push(
          JSON.parse(
            String(
              (await readInstantHistory(db, 'string', { ...strings, limit }, stringItems)).text,
            ),
          ),
        )
        if (string_index === undefined || limit !== 9) continue
        found.push(await countStrings(db, strings))
        const one = {
          ...strings,
          inverter_id: 1,
          string_index,
          partner_indexes: [string_index + 1],
        }
        found.push(await readStringInstants(db, { ...one, step: null, limit: 5 }))
      }
    }
  }
  for (const window of windows) {
    for (const query of [
      { every: '60s', limit: 5, extremes: true },
      { every: '3600s', fields: 'current_a' },
      { every: '86400s' },
    ]) {
      const site = { site_id, timezone: 'Europe/Berlin' }
      const { fields: _, ...all } = query
      for (const [endpoint, asked] of [
        [inverterHistory, all],
        [stringHistory, query],
      ] as const) {
        const request = { site, params: { inverter_id: 1 }, query: asked, window }
        const answer = await endpoint.handle(request as never, { db } as never)
        found.push(JSON.parse(String((answer as JsonText).text)))
      }
    }
  }
  for (const [type, sub_ids] of [
    ['inverter', [0]],
    ['string', [0, 2]],
  ] as const) {
    for (const start_ms of starts) {
      const span = { start_ms: first_ms + start_ms, end_ms: first_ms + start_ms + hour_ms }
      const sources = sub_ids.map((sub_id) => ({ device_id: 1, sub_id }))
      const instants = await readInstants(db, site_id, { type, sources }, span)
      found.push(
        [...instants].map(([key, { times_ms, before_count, after_count }]) => [
          key,
          times_ms,
          before_count,
          after_count,
        ]),
      )
    }
  }
  return found
}

test('every reader answers the same from blocks as from rows', async () => {
  await measure()
  const from_rows = await answers()
  await rollUp(database.db)
  assert.deepEqual(await answers(), from_rows, 'rows and blocks beside each other')
  await pack(database.db)
  assert.ok((await rowsLeft()) > 0, 'rows stay until every reader knows the bound')
  assert.deepEqual(await answers(), from_rows, 'the bound is known, and the rows are there')
  await packAll()
  assert.equal(await rowsLeft(), 0)
  assert.deepEqual(await answers(), from_rows, 'blocks alone')
})

test('an export from blocks holds the items of the answer', async () => {
  await measure()
  await packAll()
  const { db } = database
  const end = new Date(first_ms + 2 * week_ms).toISOString()
  for (const start_ms of [0, 7 * day_ms]) {
    const window = { start: new Date(first_ms + start_ms).toISOString(), end, newest: false }
    const device = { site_id, device_id: 1, window, limit: 10_000 }
    const strings = { site_id, device_id: 1, window, limit: 10_000 }
    for (const [page, exported, cut] of [
      [
        await readHistory(db, 'inverter', device),
        await exportHistory(db, 'inverter', { ...device, limit: null }),
        await exportHistory(db, 'inverter', device),
      ],
      [
        await readInstantHistory(db, 'string', strings, stringItems),
        exportInstantHistory('string', { ...strings, limit: undefined }, stringItems),
        exportInstantHistory('string', strings, stringItems),
      ],
    ] as const) {
      const { data } = JSON.parse(String(page.text))
      for (const file of [exported, cut]) {
        assert.ok('items' in file)
        const items: unknown[] = []
        for await (const batch of file.items(db)) items.push(...batch)
        assert.deepEqual(JSON.parse(JSON.stringify(items)), data)
      }
    }
  }
})

test('rows that no mark tells of become blocks before they go', async () => {
  await measure()
  await database.db.execute('truncate touched_hours')
  const from_rows = await answers()
  await packAll()
  assert.equal(await rowsLeft(), 0)
  assert.deepEqual(await answers(), from_rows)
})

test('rows stay while readings of their week wait for the roll-up', async () => {
  await measure()
  await packAll()
  const late = { inverter_id: 1, measured_at: first_ms + 1234, ac_power_kw: 7 }
  await ingest(readingsFrame(0, 'inverter', [late]))
  await pack(database.db)
  assert.equal(await rowsLeft(), 1)
  await packAll()
  assert.equal(await rowsLeft(), 0)
  const span = { site_id, device_ids: [1], from_ms: first_ms + 1234, to_ms: first_ms + 1235 }
  const [found] = await readReadings(database.db, 'inverter', span, ['ac_power_kw'])
  assert.equal(found!['ac_power_kw'], 7)
})

test('a week that was thinned before it was packed says so', async () => {
  await measure()
  await database.db.execute(
    `insert into thinned_partitions values ('inverter_readings_20240101', 60)`,
  )
  await database.db.execute('truncate touched_hours')
  await packAll()
  const found = await database.db.query(
    `select distinct kind, resolution_s from reading_blocks
     where hour_at < $1 order by 1`,
    [new Date(first_ms + week_ms).toISOString()],
  )
  assert.deepEqual(found, [
    { kind: 'inverter', resolution_s: 60 },
    { kind: 'string', resolution_s: null },
  ])
  assert.deepEqual(await database.db.query('select * from thinned_partitions'), [])
})

test('of each minute of a thinned block the last reading that is not suspect stays', async () => {
  await measure()
  await packAll()
  const { db } = database
  const span = { site_id, device_ids: [1], from_ms: first_ms, to_ms: first_ms + 2 * week_ms }
  const columns = ['quality', 'ac_power_kw', 'mppt_voltage_v']
  const whole = await readReadings(db, 'inverter', span, columns)
  const steps = Map.groupBy(whole, ({ measured_at }) => Math.floor(measured_at / 60_000))
  const expected = [...steps.values()].map(
    (own) => own.findLast(({ quality }) => quality !== 'suspect') ?? own.at(-1)!,
  )
  const before = new Date(first_ms + 3 * week_ms)
  const tier = { step_s: 60, before, goesOn: () => true, isFinal: async () => true }
  await thinBlocks(db, { ...tier, isFinal: async () => false })
  assert.equal((await readReadings(db, 'inverter', span, columns)).length, whole.length)
  await thinBlocks(db, tier)
  assert.deepEqual(await readReadings(db, 'inverter', span, columns), expected)
  const resolutions = await db.query('select distinct resolution_s from reading_blocks')
  assert.deepEqual(resolutions, [{ resolution_s: 60 }])
})
