import assert from 'node:assert/strict'
import { after, before, beforeEach, type TestContext, test } from 'node:test'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { Registry } from 'prom-client'
import { type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import { foundSite, site_id } from '../../link/fixtures/plant.ts'
import { emptyHour } from '../../performance/rollups/inverter-hour.ts'
import { storeInverterHours } from '../../performance/rollups/store.ts'
import { fetchWeather, missingDays, no_position } from './fetch-weather.ts'
import { type Answerer, httpService, json } from './fixtures/http-service.ts'
import { storedRuns } from './fixtures/runs.ts'
import { observeWeatherForecasts } from './metrics.ts'
import type { WeatherSettings } from './settings.ts'
import {
  knownWeather,
  newestRun,
  readArchivedDays,
  readFetchState,
  weatherHistory,
} from './store.ts'

const first_ms = Date.UTC(2026, 5, 21, 10)

let database: TestDatabase
let warned: string[]

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
})
after(() => database.drop())
beforeEach(async () => {
  warned = []
  await database.db.execute('truncate weather_runs, weather_fetches, inverter_hours')
  await placeAt({ latitude: 48.6, longitude: 12.2 })
})

const placeAt = (position: object) =>
  database.db.execute('update sites set inventory = $1', [JSON.stringify(position)])

const log = {
  info() {},
  error() {},
  warn: (facts: object) => void warned.push((facts as { failure: string }).failure),
}
const iso = (time_ms: number) => new Date(time_ms).toISOString()
const span = (from_ms: number, to_ms: number) => ({ from: new Date(from_ms), to: new Date(to_ms) })

/** Answers hours of what was asked for, each as bright as `brightness` says. */
function openMeteoAnswers(brightness: () => number): Answerer {
  return (request, response) => {
    const { searchParams, pathname } = new URL(request.url!, 'http://localhost')
    const start = searchParams.get('start_date')
    const from_s = Date.parse(start ?? iso(first_ms).slice(0, 10)) / 1000
    const to_s = start
      ? Date.parse(searchParams.get('end_date')!) / 1000 + 86_400
      : from_s + 4 * 86_400
    const time = Array.from({ length: (to_s - from_s) / 3600 }, (_, hour) => from_s + hour * 3600)
    const names = searchParams.get('hourly')!.split(',')
    const members =
      pathname === '/v1/ensemble' ? [1, 2, 3, 4, 5].map((n) => `${names[0]}_member0${n}`) : []
    const column = (name: string) => [name, time.map(() => brightness())]
    const hourly = { time, ...Object.fromEntries([...names, ...members].map(column)) }
    json({ utc_offset_seconds: 0, hourly })(request, response)
  }
}

async function following(t: TestContext, settings: Partial<WeatherSettings> = {}) {
  const light = { brightness: 50 }
  const service = await httpService(
    t,
    openMeteoAnswers(() => light.brightness),
  )
  const all = {
    source: 'open_meteo',
    url: service.url,
    key: null,
    contact: 'x',
    ...settings,
  } as const
  const fetchAt = (time_ms: number) =>
    fetchWeather({
      db: database.db,
      clock: { now: () => new Date(time_ms) },
      log,
      settings: all,
      signal: new AbortController().signal,
    })
  return { service, light, fetchAt }
}

const runs = () => storedRuns(database.db, site_id, span(first_ms - day_ms, first_ms + 10 * day_ms))

/** An hour that was summed up, as of the first readings. */
async function readSince(time_ms: number): Promise<void> {
  const hour = { inverter_id: 1, hour_at: new Date(time_ms) }
  await database.db.transaction((transaction) =>
    storeInverterHours(transaction, site_id, [{ ...hour, ...emptyHour() }], []),
  )
}

test('nothing is fetched where no source is named', async () => {
  const { signal } = new AbortController()
  await fetchWeather({
    db: database.db,
    clock: { now: () => new Date(0) },
    log,
    settings: null,
    signal,
  })
  assert.equal(await readFetchState(database.db, site_id), null)
})

test('one forecast an hour, kept as it was issued; what says nothing new is none', async (t) => {
  const { service, light, fetchAt } = await following(t)
  await fetchAt(first_ms)
  assert.equal(service.asked.length, 2)
  assert.equal(service.asked[0]?.searchParams.get('latitude'), '48.6000')
  const newest = await newestRun(database.db, site_id)
  assert.deepEqual(newest?.issued_at, new Date(first_ms))
  // From the present hour to the end of the third day after this.
  assert.equal(newest?.steps[0]?.start_ms, first_ms)
  assert.equal(newest?.steps.at(-1)?.end_ms, Date.UTC(2026, 5, 24, 23))
  await fetchAt(first_ms + 59 * minute_ms)
  assert.equal(service.asked.length, 2)
  await fetchAt(first_ms + hour_ms)
  assert.equal(service.asked.length, 4)
  assert.equal((await runs()).length, 1)
  light.brightness = 50.5
  await fetchAt(first_ms + 2 * hour_ms)
  assert.equal((await runs()).length, 2)
  assert.equal((await newestRun(database.db, site_id))?.steps[0]?.ghi_w_m2, 50.5)
  const before = await knownWeather(
    database.db,
    site_id,
    new Date(first_ms + hour_ms),
    span(first_ms, first_ms + day_ms),
  )
  assert.ok(before.length === 24 && before.every(({ ghi_w_m2 }) => ghi_w_m2 === 50))
  assert.deepEqual(warned, [])
})

test('a source that fails is asked later and later; the last good run stays', async (t) => {
  const { service, fetchAt } = await following(t)
  await fetchAt(first_ms)
  const good = service.answer
  const html: Answerer = (_, response) => response.end('<html>')
  service.answer = html
  const began_ms = first_ms + hour_ms
  const asked_after: number[] = []
  for (let minute = 0; minute < 190; minute += 1) {
    const count = service.asked.length
    await fetchAt(began_ms + minute * minute_ms)
    if (service.asked.length > count) asked_after.push(minute)
  }
  assert.deepEqual(asked_after, [0, 1, 3, 7, 15, 31, 63, 123, 183])
  const state = await readFetchState(database.db, site_id)
  assert.equal(state?.failure_count, 9)
  assert.match(state?.failure ?? '', /no JSON/)
  assert.deepEqual(state?.succeeded_at, new Date(first_ms))
  assert.equal(warned.length, 9)
  assert.equal((await runs()).length, 1)
  service.answer = good
  await fetchAt(began_ms + 300 * minute_ms)
  assert.equal((await readFetchState(database.db, site_id))?.failure_count, 0)
})

test('a site without a position is told of, and not asked for', async (t) => {
  const { service, fetchAt } = await following(t)
  await placeAt({ latitude: null, longitude: null })
  await fetchAt(first_ms)
  assert.equal(service.asked.length, 0)
  const state = await readFetchState(database.db, site_id)
  assert.equal(state?.failure, no_position)
  assert.equal(state?.succeeded_at, null)
  assert.deepEqual(warned, [])
})

test('what the archive has is fetched once, in bounded requests, as far as readings go', async (t) => {
  const { service, light, fetchAt } = await following(t)
  light.brightness = 7
  await readSince(first_ms - 40 * day_ms)
  await fetchAt(first_ms)
  const archive = () =>
    service.asked.flatMap(({ searchParams }) => {
      const [from, to] = [searchParams.get('start_date'), searchParams.get('end_date')]
      return from ? [`${from} ${to}`] : []
    })
  assert.deepEqual(archive(), ['2026-05-21 2026-06-21', '2026-05-12 2026-05-21'])
  const past = span(first_ms - 39 * day_ms, first_ms - day_ms)
  const known = await weatherHistory(
    database.db,
    site_id,
    past,
    (start_ms) => start_ms - 23 * hour_ms,
  )
  assert.equal(known.length, 38 * 24)
  assert.ok(
    known.every(
      ({ ghi_w_m2, issued_at, end_ms }) => ghi_w_m2 === 7 && Number(issued_at) === end_ms - day_ms,
    ),
  )
  await fetchAt(first_ms + 5 * minute_ms)
  assert.equal(archive().length, 2)
  // Readings from before came in, and a day went by.
  await readSince(first_ms - 42 * day_ms)
  await fetchAt(first_ms + day_ms)
  assert.deepEqual(archive().slice(2), ['2026-06-21 2026-06-22', '2026-05-10 2026-05-12'])
})

test('the archive goes as far back as readings that are yet to be summed up', async (t) => {
  const { service, fetchAt } = await following(t)
  await readSince(first_ms - 2 * day_ms)
  await database.db.execute(
    `insert into touched_hours (site_id, kind, device_id, hour_at)
     values ($1, 'inverter', 1, $2), ($1, 'weather', 1, $3)`,
    [site_id, iso(first_ms - 5 * day_ms), iso(first_ms - 9 * day_ms)],
  )
  await fetchAt(first_ms)
  await database.db.execute('delete from touched_hours')
  const starts = service.asked.flatMap(({ searchParams }) => searchParams.get('start_date') ?? [])
  assert.deepEqual(starts, ['2026-06-16'])
})

test('an archive that fails or leaves days out leaves the forecast, and waits', async (t) => {
  const { service, fetchAt } = await following(t)
  await readSince(first_ms - 5 * day_ms)
  const good = service.answer
  const failing =
    (answer: Answerer): Answerer =>
    (request, response) =>
      (request.url!.includes('start_date') ? answer : good)(request, response)
  service.answer = failing(json({ error: true, reason: 'not now' }, 429))
  await fetchAt(first_ms)
  await fetchAt(first_ms + 5 * minute_ms)
  assert.equal(service.asked.length, 3)
  assert.equal((await runs()).filter(({ kind }) => kind === 'live').length, 1)
  assert.match((await readFetchState(database.db, site_id))?.failure ?? '', /429: not now/)
  const time = [0, 3600].map((s) => Date.parse('2026-06-20') / 1000 + s)
  service.answer = failing(json({ hourly: { time, shortwave_radiation_previous_day1: [1, 2] } }))
  await fetchAt(first_ms + hour_ms)
  assert.match(
    (await readFetchState(database.db, site_id))?.failure ?? '',
    /did not answer all days/,
  )
  assert.deepEqual(
    await readArchivedDays(database.db, site_id, 'open_meteo', span(0, first_ms)),
    new Set(),
  )
  service.answer = good
  await fetchAt(first_ms + 2 * hour_ms)
  assert.equal(
    (await readArchivedDays(database.db, site_id, 'open_meteo', span(0, first_ms))).size,
    5,
  )
})

test('what a source wants is honoured: no request before its answer expires', async (t) => {
  const { service, fetchAt } = await following(t, { source: 'met_norway' })
  const details = { cloud_area_fraction: 50 }
  const entry = (hour: number) => ({
    time: iso(first_ms + hour * hour_ms),
    data: { instant: { details } },
  })
  const modified = 'Sun, 21 Jun 2026 09:50:00 GMT'
  const known: (string | undefined)[] = []
  service.answer = (request, response) => {
    known.push(request.headers['if-modified-since'])
    const headers = {
      expires: new Date(first_ms + 3 * hour_ms).toUTCString(),
      'last-modified': modified,
    }
    if (known.at(-1) === modified) return response.writeHead(304).end()
    const meta = { updated_at: iso(first_ms - 10 * minute_ms) }
    const timeseries = Array.from({ length: 12 }, (_, hour) => entry(hour))
    return json({ properties: { meta, timeseries } }, 200, headers)(request, response)
  }
  await fetchAt(first_ms)
  assert.deepEqual(
    (await newestRun(database.db, site_id))?.issued_at,
    new Date(first_ms - 10 * minute_ms),
  )
  await fetchAt(first_ms + 2 * hour_ms)
  assert.equal(known.length, 1)
  await fetchAt(first_ms + 3 * hour_ms)
  assert.deepEqual(known, [undefined, modified])
  assert.equal((await runs()).length, 1)
  assert.equal((await readFetchState(database.db, site_id))?.failure_count, 0)
})

test('an answer that cannot be kept is a failure of its source; of many sites three are tried', async (t) => {
  const { service, fetchAt } = await following(t)
  const more = ['s1', 's2', 's3', 's4']
  await database.db.execute(
    `insert into sites (site_id, client_id, name, inventory)
     select unnest($1::text[]), client_id, 'more', inventory from sites where site_id = $2`,
    [more, site_id],
  )
  t.after(() =>
    database.db.query("truncate weather_fetches; delete from sites where site_id like 's_'"),
  )
  const time = Array.from({ length: 99 }, (_, hour) => first_ms / 1000 + hour * 3600 + 420)
  service.answer = json({ hourly: { time, shortwave_radiation: time.map(() => 5) } })
  await fetchAt(first_ms)
  assert.match(
    (await readFetchState(database.db, site_id))?.failure ?? '',
    /do not begin on the hour/,
  )
  assert.equal((await readFetchState(database.db, 's2'))?.failure_count, 1)
  assert.equal(await readFetchState(database.db, 's3'), null)
  await fetchAt(first_ms + 5000)
  assert.equal((await readFetchState(database.db, 's4'))?.failure_count, 1)
})

test('figures tell how it goes', async (t) => {
  const { service, fetchAt } = await following(t)
  const registry = new Registry()
  observeWeatherForecasts(registry, database.db)
  await fetchAt(first_ms)
  service.answer = json({}, 500)
  await fetchAt(first_ms + hour_ms)
  const figures = await registry.metrics()
  const labels = `{site_id="${site_id}",source="open_meteo"}`
  for (const line of [
    `last_success_timestamp_seconds${labels} ${first_ms / 1000}`,
    `last_failure_timestamp_seconds${labels} ${(first_ms + hour_ms) / 1000}`,
    `failures${labels} 1`,
  ]) {
    assert.ok(figures.includes(`heliograph_weather_forecast_${line}`), figures)
  }
  const broken = new Registry()
  observeWeatherForecasts(broken, {
    ...database.db,
    query: () => Promise.reject(new Error('gone')),
  })
  assert.doesNotMatch(await broken.metrics(), /park/)
})

test('days that are missing, the newest first', () => {
  const day = (nth: number) => nth * day_ms
  const found = (there: number[], from = 0, to = 70) =>
    missingDays({ from_ms: day(from), to_ms: day(to) }, new Set(there.map(day))).map((days) => [
      Number(days.from) / day_ms,
      Number(days.to) / day_ms,
    ])
  assert.deepEqual(found([]), [
    [39, 70],
    [8, 39],
    [0, 8],
  ])
  assert.deepEqual(found([3, 4, 8], 2, 9), [
    [5, 8],
    [2, 3],
  ])
  assert.deepEqual(found([0], 0, 1), [])
  assert.deepEqual(found([], 5, 5), [])
})
