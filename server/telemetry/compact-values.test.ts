import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type ColumnType, columnsOf, emptyReading, readingKinds } from '@heliograph/domain/readings'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { foundSite, site_id } from '../link/fixtures/plant.ts'
import { ensurePartitions } from '../storage/partitions.ts'
import { byteReader, byteWriter } from './blocks/bytes.ts'
import type { BlockValue } from './blocks/codec.ts'
import { compactColumns, readCompact, writeCompact } from './compact-values.ts'
import { encodeTable } from './readings.ts'
import { copyColumns, readRows } from './rows.ts'

const names = compactColumns.inverter!
const types: Readonly<Record<string, ColumnType>> = readingKinds.inverter.columns

const number = fc.oneof(
  fc
    .tuple(fc.integer({ min: -4_000_000, max: 4_000_000 }), fc.integer({ min: -7, max: 2 }))
    .map(([raw, exponent]) => Number(`${raw}e${exponent}`)),
  fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: -13, max: 2 }))
    .map(([raw, exponent]) => Number(`${raw}e${exponent}`)),
  fc.double({ noNaN: true }),
  fc.constantFrom(0, -0, 2 ** 51, 2 ** 53, -(2 ** 53), 1e-12, 1e300),
)
const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { freq: 4, nil: null })
const columnValue = (name: string): fc.Arbitrary<BlockValue> =>
  types[name]!.endsWith('[]') ? maybe(fc.array(maybe(number), { maxLength: 14 })) : maybe(number)
const row = fc.tuple(...names.map(columnValue))

function written(rows: readonly (readonly BlockValue[])[]): Buffer {
  const to = byteWriter()
  const decimals = names.map(() => 0)
  for (const values of rows) writeCompact(to, values, decimals)
  return Buffer.from(to.taken())
}

test('rows come out as they went in, to the last digit', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), fc.subarray([...names]), (rows, wanted) => {
      const from = byteReader(written(rows))
      const found = readCompact('inverter', from, rows.length, new Set(wanted))
      assert.ok(from.isAtEnd())
      assert.deepEqual([...found.keys()], wanted)
      for (const [nth, name] of names.entries()) {
        if (!wanted.includes(name)) continue
        const given = rows.map((values) => values[nth]!)
        assert.deepStrictEqual(found.get(name), given, name)
      }
    }),
  )
})

test('a list of a large number and a fine one comes out as it went in', () => {
  const list = [123_456_789_012.3, 0.000_000_000_01]
  const given = names.map((name) => (name === 'mppt_energy_total_kwh' ? list : null))
  const found = readCompact('inverter', byteReader(written([given])), 1, new Set(names))
  assert.deepEqual(found.get('mppt_energy_total_kwh'), [list])
})

test('a row of this release can be read by all later ones', () => {
  const given = names.map((name, nth) => {
    if (types[name] === 'real') return nth === 2 ? null : 230.1 + nth
    return types[name] === 'integer' ? 4 : nth % 2 ? [1043.2, 1042.7] : [0.1 + 0.2, null]
  })
  const stored =
    '0154505555555555555555131303088e2428141414141414141414141414141414140201343333333333d33f' +
    '0002018a7c090201343333333333d33f0002010a090201343333333333d33f00'
  assert.equal(written([given]).toString('hex'), stored)
  const found = readCompact('inverter', byteReader(Buffer.from(stored, 'hex')), 1, new Set(names))
  assert.deepEqual([...found.values()].flat(), given)
})

test('a row of a later layout is refused', () => {
  const bytes = written([names.map(() => null)])
  bytes[0] = 2
  const read = () => readCompact('inverter', byteReader(bytes), 1, new Set(names))
  assert.throws(read, /a row has layout 2/)
})

let database: TestDatabase
const first_ms = Date.UTC(2026, 5, 1)

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  const until = new Date(first_ms + 1000)
  await ensurePartitions(database.db, ['inverter_readings'], new Date(first_ms), until)
})
after(() => database.drop())

const columns = columnsOf('inverter')

const readingAt = (nth: number) => ({
  ...emptyReading('inverter'),
  inverter_id: 1,
  measured_at: first_ms + nth,
  quality: 'good',
  state: nth % 3 === 0 ? null : 'mppt',
  dc_power_kw: nth / 8,
  alarm_1: nth % 4 === 0 ? null : nth % 4 === 1 ? 0 : nth,
  alarm_2: 0,
  mppt_voltage_v: nth % 5 === 0 ? null : [nth + 0.1, null],
})

/** As an earlier release stored it: a column for each value. */
async function storeAsBefore(reading: Readonly<Record<string, unknown>>): Promise<void> {
  const all = ['site_id', ...columns]
  const row: Record<string, unknown> = { ...reading, site_id }
  row['measured_at'] = new Date(row['measured_at'] as number)
  const places = all.map((_, nth) => `$${nth + 1}`)
  await database.db.execute(
    `insert into inverter_readings (${all}) values (${places})`,
    all.map((name) => row[name]),
  )
}

async function store(readings: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const rows = readings.map((reading) => columns.map((name) => reading[name]))
  const always = { first_at: 0, last_at: Infinity, believed_until: Infinity, is_live: false }
  const { text } = encodeTable('inverter', { columns, rows }, { site_id, ...always })
  const target = `inverter_readings (${copyColumns('inverter').join(', ')})`
  await database.db.transaction((tx) => tx.copyInto(target, [text]))
}

for (const [which, isOld] of [
  ['new rows', () => false],
  ['rows of before the upgrade', () => true],
  ['both', (nth: number) => nth % 3 === 1],
] as const) {
  test(`readings come out of ${which} as they went in`, async () => {
    await database.db.execute('truncate inverter_readings')
    const readings = Array.from({ length: 24 }, (_, nth) => readingAt(nth))
    for (const [nth, reading] of readings.entries()) if (isOld(nth)) await storeAsBefore(reading)
    await store(readings.filter((_, nth) => !isOld(nth)))
    const asked = { where: 'where r.site_id = $1 order by r.measured_at', values: [site_id] }
    const found = await readRows(database.db, 'inverter', asked, columns)
    assert.equal(found.count, readings.length)
    for (const name of columns) {
      const given = readings.map((reading) => reading[name as keyof typeof reading])
      assert.deepEqual(found.columns.get(name), given, name)
    }
  })
}

test('rows that go between two statements are no rows', async () => {
  const { db } = database
  await db.execute('truncate inverter_readings')
  await storeAsBefore(readingAt(1))
  const going = {
    ...db,
    async query<Row>(...asked: Parameters<typeof db.query>) {
      const found = await db.query<Row>(...asked)
      await db.execute('truncate inverter_readings')
      return found
    },
  }
  const found = await readRows(going, 'inverter', { where: '', values: [] }, columns)
  assert.equal(found.count, 0)
})

test('a real is stored as PostgreSQL rounds and writes it', async () => {
  const real = fc.float({ noNaN: true, noDefaultInfinity: true })
  const given = fc.sample(fc.oneof(real, fc.double({ min: -1e7, max: 1e7, noNaN: true })), {
    numRuns: 300,
    seed: 7,
  })
  for (let exponent = -126; exponent <= 127; exponent += 1) {
    // Their neighbours below are nearer than those above; few bits lead to ties between decimals.
    given.push(2 ** exponent)
    for (const odd of [3, 5, 11, 27, 1023, 4095]) given.push(-odd * 2 ** Math.min(exponent, 112))
  }
  for (let quarter = 1; quarter < 100; quarter += 2) given.push(2 ** 21 + quarter / 4)
  await database.db.execute('truncate inverter_readings')
  await store(given.map((value, nth) => ({ ...readingAt(nth), dc_power_kw: value })))
  const asked = { where: 'where r.site_id = $1 order by r.measured_at', values: [site_id] }
  const found = await readRows(database.db, 'inverter', asked, ['dc_power_kw'])
  const rounded = await database.db.query<{ value: number }>(
    `select value::real from unnest($1::text[]) with ordinality as g (value, nth) order by nth`,
    [given.map((value) => String(Math.abs(value) < 1.1754943508222875e-38 ? 0 : value))],
  )
  assert.deepEqual(
    found.columns.get('dc_power_kw'),
    rounded.map(({ value }) => value),
  )
})
