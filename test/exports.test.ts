/** Every export of the API against the JSON answer to the same request. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { readingKinds } from '@heliograph/domain/readings'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { addBatteries } from '../server/batteries/fixtures/battery-site.ts'
import { endpoints } from '../server/endpoints.ts'
import { addReading, type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { openParquet } from '../server/storage/parquet.ts'
import { insertRow } from '../server/storage/rows.ts'
import { readCsv } from './conventions/csv.ts'

const exporting = endpoints.filter((endpoint) => endpoint.exports)

/** They take a window and sum it up: an item for each device, whatever the time. */
const sums_of_a_window = [
  'efficiency_loggers_list',
  'efficiency_inverters_list',
  'efficiency_strings_list',
  'efficiency_health_list',
  'efficiency_losses_list',
  'strings_compare_list',
]

/** Asks for a time to begin at, tells how to go on in time, or is called a course of time. */
function isHistory({ method, path, operation_id, query = {}, returns }: (typeof endpoints)[0]) {
  const { data, meta } = (returns as TSchema & { properties: Fields }).properties ?? {}
  if (method !== 'GET' || data === undefined) return false
  if (sums_of_a_window.includes(operation_id)) return false
  // What is worked on is paged, and is no series.
  if ('offset' in query) return false
  const goes_on = (meta as TSchema & { properties: Fields }).properties.next_start !== undefined
  const asks = 'start' in query || 'since' in query
  return asks || goes_on || /history|hourly|timeseries|curve|-log$/.test(path)
}

type Fields = Record<string, TSchema | undefined>

test('every history can be exported, and nothing else', () => {
  for (const endpoint of endpoints) {
    assert.equal(endpoint.exports !== undefined, isHistory(endpoint), endpoint.operation_id)
  }
  const names = endpoints.map(({ operation_id }) => operation_id)
  assert.deepEqual(
    sums_of_a_window.filter((name) => !names.includes(name)),
    [],
  )
})

const real = fc.option(
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  { nil: null },
)
const reals = fc.option(fc.array(real, { minLength: 1, maxLength: 3 }), { nil: null })
const quality = fc.constantFrom('good', 'suspect')
/** Seconds before the noon of the fixture. */
const instant = (age_s: number, ms = 0) =>
  new Date(Date.UTC(2026, 5, 21, 10) - age_s * 1000 + ms).toISOString()

const inverterReading = fc.record({
  /** Stored with a column for each value, as by an earlier release. */
  is_earlier: fc.boolean(),
  quality,
  state: fc.option(fc.constantFrom('mppt', 'fault'), { nil: null }),
  ac_power_kw: real,
  energy_total_kwh: fc.option(fc.double({ noNaN: true, min: 0, max: 1e9 }), { nil: null }),
  alarm_1: fc.option(fc.nat(), { nil: null }),
  mppt_voltage_v: reals,
  mppt_energy_total_kwh: reals,
})
const windows = fc.constantFrom(
  '',
  `start=${instant(30)}`,
  `end=${instant(10)}`,
  `start=${instant(35)}&end=${instant(5)}`,
)
const limits = fc.option(fc.integer({ min: 1, max: 12 }), { nil: null })

async function store(site: ServedSite, all: readonly [age_s: number, reading: object][]) {
  const { db } = site
  await db.execute(`
    TRUNCATE ${Object.values(readingKinds)
      .flatMap(({ table }) => [table, table.replace('readings', 'latest')])
      .join(', ')}`)
  for (const [age_s, given] of all as [number, Record<string, unknown>][]) {
    const { strings, is_earlier, ...reading } = given
    const measured_at = instant(age_s, 7)
    const row = { inverter_id: 1, measured_at, ...reading }
    if (is_earlier) await insertRow(db, 'inverter_readings', { site_id: 'demo', ...row })
    else await addReading(db, 'inverter', row)
    const { ac_power_kw, quality } = reading
    await addReading(db, 'logger', { logger_id: 1, measured_at, ac_power_kw, quality })
    for (const [at, [current_a, voltage_v]] of (strings as unknown[][]).entries()) {
      const range = { first_string_index: at * 3, current_a, voltage_v, quality }
      await addReading(db, 'string', { inverter_id: 1, measured_at, ...range })
    }
  }
}

const addresses = ['/loggers/1/history', '/inverters/1/history', '/strings/inverter/1/history']

test('an export has the rows and values of the JSON answer', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const readings = fc.array(
    fc.tuple(
      inverterReading,
      fc.array(fc.tuple(reals, reals), { maxLength: 2 }),
      fc.integer({ min: 1, max: 40 }),
    ),
    { maxLength: 6 },
  )
  await fc.assert(
    fc.asyncProperty(readings, windows, limits, async (given, window, limit) => {
      const byAge = new Map(given.map(([one, strings, age]) => [age, { ...one, strings }]))
      await store(site, [...byAge])
      for (const address of addresses) {
        const query = [window, ...(limit === null ? [] : [`limit=${limit}`])].filter(Boolean)
        const path = `${address}?${query.join('&')}`
        const { data } = JSON.parse(await site.file(path, 'application/json'))
        const lines = (await site.file(path, 'application/x-ndjson')).split('\n')
        assert.equal(lines.pop(), '')
        assert.deepEqual(
          lines.map((line) => JSON.parse(line)),
          data,
          path,
        )
        assert.deepEqual(readCsv(await site.file(path, 'text/csv'), fieldValue), data, path)
        assert.deepEqual(await readParquet(site, path), data, path)
      }
    }),
    { numRuns: 15, endOnFailure: true },
  )
})

/** The rows of a Parquet file in the form of JSON. */
async function readParquet(site: ServedSite, path: string) {
  const file = await site.bytes(path, 'application/vnd.apache.parquet')
  const { groups } = await openParquet(Uint8Array.from(file).buffer)
  const rows = []
  for await (const group of groups()) rows.push(...group)
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'bigint'
          ? Number(value)
          : value instanceof Date
            ? value.toISOString().slice(0, name.endsWith('date') ? 10 : undefined)
            : (value ?? null),
      ]),
    ),
  )
}

function fieldValue(name: string, field: string): unknown {
  return ['measured_at', 'quality', 'state'].includes(name) ? field : JSON.parse(field)
}

test('the header of a CSV file names the fields of an item in their order', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await site.db.execute(
    `INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
       updated_at)
     VALUES ('demo', '1', 1, 'Node', 'transformer_station', 60, '[]', now(), now())`,
  )
  await site.db.execute(
    `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at,
       updated_at)
     VALUES ('demo', 1, 1, 'Mast', '[]', now(), now())`,
  )
  await addBatteries(site.db)
  for (const { path, operation_id, returns, export_lines } of exporting) {
    const { data } = (returns as TSchema & { properties: Record<string, TSchema> }).properties
    const { items } = data as TSchema & { items: { properties: Fields; required: string[] } }
    const names = export_lines
      ? ['date', 'logger_id', ...fieldsOfParts(items.properties['hours'])]
      : Object.keys(items.properties).filter((name) => items.required.includes(name))
    const address = path.replaceAll(/\{\w+\}/g, '1')
    const payload = await site.file(address, 'text/csv')
    assert.equal(payload.slice(0, payload.indexOf('\n')), names.join(','), operation_id)
    // Every column has a type, and every file is read.
    assert.equal((await readParquet(site, address)).length, readCsv(payload, String).length)
  }
})

const fieldsOfParts = (parts: unknown) =>
  Object.keys((parts as { items: { properties: object } }).items.properties)

test('a limit is clamped; without one the whole window comes', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await site.db.execute(
    `INSERT INTO logger_readings (site_id, logger_id, measured_at, quality)
     SELECT 'demo', 1, timestamptz '2026-06-21T09:59:59Z' - nth * interval '1 second', 'good'
     FROM generate_series(1, 10100) AS nth`,
  )
  const rows = async (query: string) => {
    const payload = await site.file(`/loggers/1/history?${query}`, 'application/x-ndjson')
    return payload.split('\n').length - 1
  }
  assert.equal(await rows(''), 10_100)
  assert.equal(await rows('limit=20000'), 10_000)
  assert.equal(await rows('limit=3'), 3)
})
