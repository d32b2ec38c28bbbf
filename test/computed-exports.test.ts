/** Exports whose items are computed, longer than what one reads at a time, against JSON. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { createRollups } from '../server/performance/rollups/job.ts'
import { touchReadingsSince } from '../server/telemetry/touched-hours.ts'
import { readCsv } from './conventions/csv.ts'
import { silent } from './postgres.ts'

type Item = Record<string, unknown>

/** Until the noon of the fixture. */
const start = '2026-06-20T00:00:00Z'
let site: ServedSite

before(async () => {
  site = await servedSite()
  await addReadings(site)
  await addGapsAndSwitchings(site)
  await site.db.transaction((tx) => touchReadingsSince(tx, 'demo', new Date(start)))
  // Marks are due by the time of the database.
  const clock = { now: () => new Date(Math.max(Date.now(), Date.parse(start)) + 48 * 3_600_000) }
  await createRollups(site.db, { clock, timers: { after: () => () => {} }, log: silent }).runDue()
})

after(() => site.close())

const instruments = [
  ['G', 'reference_cell', 'poa_irradiance_w_m2'],
  ['T', 'module_thermometer', 'module_temperature_c'],
  ['R', 'rain_gauge', 'rain_mm'],
].map(([sensor_id, type, quantity]) => ({
  sensor_id,
  name: sensor_id,
  type,
  quantity,
  point: '302[0].POAI',
  azimuth_deg: 180,
  tilt_deg: 25,
}))

/** A reading every two minutes, hours of silence, a current and a temperature that stand still. */
async function addReadings({ db }: ServedSite) {
  await db.execute(
    `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at,
       updated_at)
     VALUES ('demo', 1, 1, 'Mast', $1, '2026-01-01', now())`,
    [JSON.stringify(instruments)],
  )
  await db.query(`
    CREATE TEMP TABLE course AS
    SELECT nth, timestamptz '${start}' + nth * interval '2 minutes' AS at,
           greatest(0, 800 * sin(((nth + 550) % 720) / 720.0 * 2 * pi() - pi())) + nth % 7 AS sun
    FROM generate_series(0, 1019) AS nth WHERE nth NOT BETWEEN 380 AND 440;
    INSERT INTO weather_readings (site_id, station_id, measured_at, quality, instrument_values)
    SELECT 'demo', 1, at, CASE WHEN nth % 300 = 0 THEN 'suspect' ELSE 'good' END,
           ARRAY[sun, CASE WHEN nth BETWEEN 975 AND 1005 THEN 33 ELSE 20 + sun / 30 END, nth / 100]
    FROM course;
    INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
      energy_total_kwh)
    SELECT 'demo', 1, at, 'good', 'mppt', sun / 25, 1000 + nth FROM course;
    INSERT INTO string_readings (site_id, inverter_id, first_string_index, measured_at, quality,
      current_a, voltage_v)
    SELECT 'demo', 1, 0, at, 'good',
           array_fill((CASE WHEN nth BETWEEN 160 AND 190 THEN 7 ELSE sun / 80 END)::real, ARRAY[4]),
           array_fill((700 + nth % 11)::real, ARRAY[4])
    FROM course;
    DROP TABLE course;
  `)
}

async function addGapsAndSwitchings({ db }: ServedSite) {
  await db.query(`
    INSERT INTO gaps (site_id, logger_id, source_type, device_id, sub_id, source_id, start_at,
      end_at, step_s, widest_start_at, expected_count, received_count, widest_expected_count,
      during_daylight, detected_at, status, updated_at)
    SELECT 'demo', 1, 'inverter', 1, 0, '1', at,
           CASE WHEN nth < 1200 THEN at + interval '5.5 minutes' END, 10, at, 400, nth % 7, 400,
           true, at, CASE WHEN nth < 1200 THEN 'unrecoverable' ELSE 'open' END, at
    FROM (SELECT nth, timestamptz '2026-06-01T00:00Z' + nth / 2 * interval '10 minutes' AS at
          FROM generate_series(1, 1200) AS nth) AS g;
    INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
      updated_at)
    VALUES ('demo', 'ts-1', 1, 'Node', 'transformer_station', 60, '[]', now(), now());
    INSERT INTO relay_events (site_id, node_id, channel, at, received_at, from_state, to_state,
      cause, reason)
    SELECT 'demo', 'ts-1', 'fans', at, at, nth % 2 = 0, nth % 2 = 1, 'manual',
           CASE nth % 3 WHEN 0 THEN '=1+1' WHEN 1 THEN 'hot, "very"' END
    FROM (SELECT nth, timestamptz '2026-06-01T00:00Z' + nth * interval '1 minute' AS at
          FROM generate_series(1, 1200) AS nth) AS e;
  `)
}

const json = async (path: string): Promise<Item[]> =>
  JSON.parse(await site.file(path, 'application/json')).data
const ndjson = async (path: string): Promise<Item[]> =>
  (await site.file(path, 'application/x-ndjson'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** CSV has the same lines as `items`, whose texts stand for themselves. */
async function assertCsv(path: string, items: readonly Item[]) {
  const csv = readCsv(await site.file(path, 'text/csv'), (_, field) => field)
  const asText = (value: unknown) =>
    value === null || typeof value === 'string' ? harmless(value) : JSON.stringify(value)
  const wanted = items.map((item) =>
    Object.fromEntries(Object.entries(item).map(([name, value]) => [name, asText(value)])),
  )
  assert.deepEqual(csv, wanted, path)
}

const harmless = (value: string | null) => (value?.startsWith('=') ? `'${value}` : value)

/** A window that JSON shows whole, and how many items it has at least. */
const windows = [
  ['/weather/logger/1/history', `start=${start}`, 350],
  ['/iv/strings/1/2/expected', `start=${start}`, 900],
  ['/gaps', 'start=2026-06-02T00:00:00Z&end=2026-06-03T00:00:00Z', 200],
  ['/gaps/logger/1', 'start=2026-06-05T00:00:00Z', 40],
  ['/commands/relay-history', '', 500],
] as const

for (const [path, window, least] of windows) {
  test(`${path} as a file`, async () => {
    const largest = await json(`${path}?${window}&limit=5000`)
    assert.ok(largest.length >= least, `${largest.length} items`)
    const whole = await ndjson(`${path}?${window}`)
    // The newest come first here, and JSON has no more of them.
    const is_newest_first = path.startsWith('/commands')
    assert.deepEqual(is_newest_first ? whole.slice(0, 500) : whole, largest)
    await assertCsv(`${path}?${window}`, whole)
    const page = `${path}?${window}&limit=7`
    assert.deepEqual(await ndjson(page), await json(page))
    await assertCsv(page, await json(page))
  })
}

test('weather is the same wherever the days begin in which it is read', async () => {
  // The days of the first begin while the thermometer stands still, the other has but one.
  const [first, other] = await Promise.all(
    ['2026-06-20T09:00:00Z', '2026-06-20T12:00:00Z'].map((from) =>
      ndjson(`/weather/logger/1/history?start=${from}`),
    ),
  )
  assert.ok(first!.some(({ sensors_rejected }) => sensors_rejected === 1))
  assert.deepEqual(first!.slice(-other!.length), other)
})

test('all gaps and all switchings come without a limit', async () => {
  for (const path of ['/gaps', '/gaps?logger_id=2', '/commands/relay-history?node_id=ts-1']) {
    const { count } = JSON.parse(await site.file(path, 'application/json')).meta
    const ids = (await ndjson(path)).map(({ gap_id, command_id }) => gap_id ?? command_id)
    assert.equal(new Set(ids).size, count, path)
    assert.equal(ids.length, count, path)
  }
})

test('hours of loggers and strings over weeks', async () => {
  for (const path of [
    '/loggers/1/hourly-energy?since=2026-05-30T10:30:00Z',
    '/strings/inverter/1/hourly?start=2026-06-01T10:30:00Z&end=2026-06-21T09:30:00Z',
  ]) {
    const items = await json(path)
    assert.ok(items.some(({ energy_kwh }) => Number(energy_kwh) > 0))
    assert.deepEqual(await ndjson(path), items)
    await assertCsv(path, items)
  }
})

test('the matrix has an hour on each line of CSV', async () => {
  const path = '/energy/hourly?start=2026-06-01T10:30:00Z&end=2026-06-22T00:00:00Z'
  const days = await json(path)
  assert.equal(days.length, 2 * 21)
  assert.deepEqual(await ndjson(path), days)
  const hours = days.flatMap(({ date, logger_id, hours }) =>
    (hours as Item[]).map((hour) => ({ date, logger_id, ...hour })),
  )
  assert.equal(hours.length, 2 * 21 * 24)
  assert.ok(hours.some((hour) => Number((hour as Item).energy_kwh) > 0))
  await assertCsv(path, hours)
  const of_one = await ndjson(`${path}&logger_ids=2`)
  assert.deepEqual(
    of_one,
    days.filter(({ logger_id }) => logger_id === 2),
  )
  await assert.rejects(site.file('/energy/hourly?logger_ids=2,9', 'text/csv'), /: 404 /)
})
