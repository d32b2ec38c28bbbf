import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { hour_ms, minute_ms, week_ms } from '@heliograph/domain/durations'
import {
  type ColumnType,
  columnsOf,
  qualities,
  type ReadingKind,
  readingKinds,
  readingWords,
} from '@heliograph/domain/readings'
import fc from 'fast-check'
import { silent, type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import {
  addBatteries,
  addBatteryReadings,
  bessValues,
  pcsValues,
} from '../../batteries/fixtures/battery-site.ts'
import { readRoundtrip } from '../../batteries/roundtrip.ts'
import { readHeard, readUnitQuarters } from '../../batteries/unit-energy.ts'
import { addReading, servedSite } from '../../fixtures/served-site.ts'
import { edge_id, foundSite, inventoryFrame, site_id } from '../../link/fixtures/plant.ts'
import { ingestInto } from '../../link/ingest.ts'
import { createRollups } from '../../performance/rollups/job.ts'
import type { Database } from '../../storage/database.ts'
import { valuesOf } from '../history.ts'
import { firstOf, walkReadings } from '../stored-readings.ts'
import { packRows } from './packing.ts'
import { packHours, type StoredReading } from './store.ts'
import { thinBlocks } from './thinning.ts'

const kinds = Object.keys(readingKinds) as ReadingKind[]
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
  const latest = kinds.map((kind) => `${kind}_latest`).join(', ')
  await db.execute(
    `truncate reading_blocks, packed_before, touched_hours, final_weeks, gaps, link_frames,
       rejected_frames, inverter_hours, string_hours, ${latest}`,
  )
  now_ms = first_ms + 10 * week_ms
}

const nulls = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { freq: 5, nil: null })
const register = fc
  .tuple(fc.integer({ min: -65_535, max: 65_535 }), fc.integer({ min: -3, max: 2 }))
  .map(([raw, exponent]) => Number(`${raw}e${exponent}`))
const real = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
const double = fc.double({ noNaN: true, noDefaultInfinity: true })
const byType: Record<Exclude<ColumnType, 'text'>, fc.Arbitrary<unknown>> = {
  real: nulls(fc.oneof(register, real)),
  double: nulls(fc.oneof(register, double)),
  integer: nulls(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  bigint: nulls(fc.integer({ min: 0, max: 4_294_967_295 })),
  'real[]': nulls(fc.array(nulls(register), { maxLength: 6 })),
  'double[]': nulls(fc.array(nulls(double), { maxLength: 6 })),
}

/** Instants around the bounds of blocks, hours and weeks. */
const instant = fc.oneof(
  fc.integer({ min: 0, max: 10 * minute_ms }),
  fc.integer({ min: 57 * minute_ms, max: 66 * minute_ms }),
  fc.constantFrom(5 * minute_ms - 1, 5 * minute_ms, hour_ms - 1, hour_ms, week_ms - 1, week_ms),
)

/** Readings of two devices of a kind as the edge sends them. */
function readingsOf(kind: ReadingKind) {
  const { keys, columns } = readingKinds[kind]
  const words: Readonly<Record<string, readonly string[]>> =
    (readingWords as Partial<Record<ReadingKind, Record<string, readonly string[]>>>)[kind] ?? {}
  const [key, sub_key] = keys as readonly [string, string?]
  const values = Object.entries<ColumnType>(columns).map(([name, type]) => [
    name,
    type === 'text' ? nulls(fc.constantFrom(...words[name]!)) : byType[type],
  ])
  return fc.uniqueArray(
    fc.record({
      [key]: fc.integer({ min: 1, max: 2 }),
      ...(sub_key && { [sub_key]: fc.constantFrom(0, 8) }),
      measured_at: instant.map((at_ms) => first_ms + at_ms),
      quality: fc.constantFrom(...qualities),
      ...Object.fromEntries(values),
    }) as fc.Arbitrary<Record<string, unknown>>,
    {
      minLength: 1,
      maxLength: 40,
      selector: (reading) => [...keys, 'measured_at'].map((name) => reading[name]).join(),
    },
  )
}

async function ingest(kind: ReadingKind, readings: readonly Record<string, unknown>[]) {
  const columns = columnsOf(kind)
  const rows = readings.map((reading) => columns.map((name) => reading[name]))
  const batch = { site_id, edge_id, epoch: 'e', lane: 'backlog', received_at: now_ms } as const
  const frames = [
    inventoryFrame(seq),
    { seq: seq + 1, kind: 'readings', payload: { [kind]: { columns, rows } } },
  ] as const
  seq += 2
  const { refused_frames } = await ingestInto(database.db).ingest({ ...batch, frames })
  assert.equal(refused_frames, 0)
}

async function rollUp(): Promise<void> {
  await database.db.execute(`update touched_hours set due_at = '-infinity'`)
  const timers = { after: () => () => {} }
  await createRollups(database.db, { clock, timers, log: silent }).runDue()
}

const pack = () =>
  packRows({ db: database.db, clock, log: silent, signal: new AbortController().signal })

/** Every reading of both devices, by time and from the end. */
async function all(db: Database, kind: ReadingKind): Promise<StoredReading[][]> {
  const span = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY }
  const found: StoredReading[][] = []
  for (const newest of [false, true]) {
    for (const device_id of [1, 2]) {
      const walk = { site_id, device_id, ...span, newest }
      found.push(
        await firstOf(walkReadings(db, kind, walk, valuesOf(kind)), Number.POSITIVE_INFINITY),
      )
    }
  }
  return found
}

const rowsOf = async (kind: ReadingKind) => {
  const counted = `select count(*) from ${readingKinds[kind].table}`
  return (await database.db.query<{ count: number }>(counted))[0]!.count
}

/** The readings that stay of each device, part and step: the last good one, else the last. */
function thinned(kind: ReadingKind, readings: readonly StoredReading[], step_ms: number) {
  const keys = readingKinds[kind].keys as readonly string[]
  const stepOf = (reading: StoredReading) =>
    [...keys.map((key) => reading[key]), Math.floor(reading.measured_at / step_ms)].join()
  const kept = new Set(
    [...Map.groupBy(readings, stepOf).values()].map((own) => {
      const ascending = own.toSorted((a, b) => a.measured_at - b.measured_at)
      return ascending.findLast(({ quality }) => quality !== 'suspect') ?? ascending.at(-1)
    }),
  )
  return readings.filter((reading) => kept.has(reading))
}

for (const kind of kinds) {
  test(`readings of ${kind} come back from blocks as from rows, and thinned`, async () => {
    const { db } = database
    let dropped = 0
    const property = fc.asyncProperty(readingsOf(kind), async (readings) => {
      await clear()
      const [early, late] = [readings.slice(0, -3), readings.slice(-3)]
      await ingest(kind, early)
      await rollUp()
      await ingest(kind, late)
      const from_rows = await all(db, kind)
      assert.equal(from_rows[0]!.length + from_rows[1]!.length, readings.length)
      await rollUp()
      assert.deepEqual(await db.query('select * from touched_hours'), [])
      await pack()
      assert.deepEqual(await all(db, kind), from_rows, 'rows beside blocks')
      now_ms += 3 * hour_ms
      await pack()
      assert.equal(await rowsOf(kind), 0)
      assert.deepEqual(await all(db, kind), from_rows, 'blocks alone')
      dropped += readings.length
      const tier = { before: new Date(now_ms), goesOn: () => true, isFinal: async () => true }
      for (const step_s of [60, 3600]) {
        await thinBlocks(db, { ...tier, step_s })
        const expected = from_rows.map((each) => thinned(kind, each, 1000 * step_s))
        assert.deepEqual(await all(db, kind), expected, `one in ${step_s} s`)
      }
    })
    await fc.assert(property, { numRuns: 3, endOnFailure: true })
    assert.ok(dropped > 0)
  })
}

/** Moves every row of a served site into blocks, as if weeks had passed. */
async function packEverything(db: Database): Promise<void> {
  for (const kind of kinds) {
    const { table, keys } = readingKinds[kind]
    const hours = await db.query<{ device_id: number; hour_at: Date }>(
      `select distinct ${keys[0]} as device_id, date_bin('1 hour', measured_at, 'epoch') as hour_at
       from ${table} where site_id = 'demo'`,
    )
    await db.transaction((tx) => packHours(tx, 'demo', kind, hours))
    await db.execute(`delete from ${table}`)
    await db.execute(`insert into packed_before values ('2026-06-25', now(), $1)`, [kind])
  }
}

test('every answer is the same from blocks as from rows', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db } = site
  await addBatteries(db)
  await db.execute(
    `insert into stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
     values ('demo', 1, 1, 'Met', $1, '2026-01-01', now())`,
    [
      JSON.stringify(
        (['poa_irradiance_w_m2', 'ambient_temperature_c', 'rain_mm'] as const).map((quantity) => ({
          quantity,
          sensor_id: quantity,
        })),
      ),
    ],
  )
  await db.execute(
    `insert into nodes (site_id, node_number, node_id, name, type, report_s, channels, created_at,
       updated_at)
     values ('demo', 1, 'oil-1', 'Oil', 'transformer_station', 30, $1, now(), now())`,
    [
      JSON.stringify([
        { channel: 'oil', kind: 'temperature', label: 'Oil' },
        { channel: 'fan', kind: 'relay', label: 'Fan' },
      ]),
    ],
  )
  await addBatteryReadings(db, '2026-06-19T11:00:00Z')
  for (let nth = 0; nth < 400; nth += 1) {
    const measured_at = new Date(Date.parse('2026-06-19T21:50:00Z') + nth * 97_000).toISOString()
    const quality = nth % 50 === 7 ? 'suspect' : 'good'
    const power_kw = 40 - (nth % 90)
    await addReading(db, 'logger', { logger_id: 1, measured_at, quality, ac_power_kw: nth / 10 })
    await addReading(db, 'weather', {
      station_id: 1,
      measured_at,
      quality,
      instrument_values: [nth, 15 + (nth % 10) / 10, nth % 60],
    })
    await addReading(db, 'node', {
      node_number: 1,
      measured_at,
      channel_values: nth % 9 === 0 ? [null, 1] : [40.5 + (nth % 7), nth % 2],
    })
    await addReading(db, 'bess', {
      bess_id: 1,
      measured_at,
      quality,
      ...bessValues({
        power_kw,
        soc_pct: 50 + (nth % 40) / 8,
        charged_total_kwh: nth < 300 ? 5000 + 2 * nth : null,
        discharged_total_kwh: 4000 + 1.5 * nth,
      }),
    })
    for (const pcs_idx of [0, 1]) {
      const values = pcsValues({ pcs_idx, ac_power_kw: power_kw / 2 })
      await addReading(db, 'pcs', { bess_id: 1, measured_at, ...values })
    }
  }
  for (const [nth, at] of ['2026-06-19T23:00:30Z', '2026-06-20T03:10:00Z'].entries()) {
    await db.execute(
      `insert into events (site_id, source_kind, source_id, code, edge, severity, message, details,
         at, received_at)
       values ('demo', 'bess', '1', 'alarm_1.3', $1, 'major', 'hot', '{}', $2, $2)`,
      [nth === 0 ? 'rising' : 'falling', at],
    )
  }
  const window = 'start=2026-06-19T20:00:00Z&end=2026-06-21T00:00:00Z'
  const paths = [
    ...['/loggers/1', '/sensors/oil-1', '/bess/1', '/bess/1/pcs'].flatMap((device) =>
      [
        window,
        `${window}&limit=7`,
        'end=2026-06-20T02:00:00Z&limit=9',
        `${window}&every=3600s&extremes=true`,
        `${window}&every=900s&limit=5`,
        `${window}&every=86400s`,
      ].map((query) => `${device}/history?${query}`),
    ),
    `/bess/1/history?${window}&every=900s&fields=power_kw,soc_pct`,
    ...[window, `${window}&every=3600s`, 'end=2026-06-20T05:00:00Z&limit=6'].map(
      (query) => `/weather/logger/1/history?${query}`,
    ),
    '/bess/1/alarms/history',
    '/bess/1/deviations?target_date=2026-06-20',
  ]
  const files = [`/bess/1/pcs/history?${window}`, `/bess/1/history?${window}&limit=5`]
  const unit = {
    site_id: 'demo',
    bess_id: 1,
    rated_charge_power_kw: 100,
    rated_discharge_power_kw: 100,
  }
  const answers = async () => {
    const found: unknown[] = []
    for (const path of paths) {
      const { status, body } = await site.get(path)
      assert.equal(status, 200, `${path} ${JSON.stringify(body)}`)
      assert.ok(body.data.length > 0, path)
      found.push([path, body])
    }
    for (const path of files) {
      found.push([path, await site.file(path, 'text/csv')])
      found.push([path, await site.file(path, 'application/x-ndjson')])
    }
    const span = {
      start_ms: Date.parse('2026-06-19T21:00Z'),
      end_ms: Date.parse('2026-06-20T12:00Z'),
    }
    found.push(await readUnitQuarters(db, unit, span), await readHeard(db, unit, span))
    const ends = { start: new Date('2026-06-19T22:00Z'), end: new Date('2026-06-20T22:00Z') }
    const efficiency_pct = await readRoundtrip(db, { site_id: 'demo', bess_id: 1 }, ends)
    assert.ok(efficiency_pct !== null)
    return [...found, efficiency_pct]
  }
  const from_rows = await answers()
  await packEverything(db)
  for (const [nth, answer] of (await answers()).entries()) {
    assert.deepEqual(answer, from_rows[nth])
  }
})
