import assert from 'node:assert/strict'
import test from 'node:test'
import { significant } from '@heliograph/domain/significant'
import type { Instrument } from '@heliograph/domain/site'
import {
  addKey,
  addReading,
  noon,
  type ServedSite,
  servedSite,
} from '../../fixtures/served-site.ts'

const instrument = (
  sensor_id: string,
  quantity: Instrument['quantity'],
  type: Instrument['type'] = 'pyranometer',
): Instrument => ({
  sensor_id,
  name: sensor_id,
  type,
  quantity,
  point: '302[0].POAI',
  azimuth_deg: 180,
  tilt_deg: 25,
})

const instruments = [
  instrument('poa-1', 'poa_irradiance_w_m2'),
  instrument('poa-2', 'poa_irradiance_w_m2'),
  instrument('poa-3', 'poa_irradiance_w_m2'),
  instrument('ghi', 'ghi_w_m2'),
  instrument('back', 'module_temperature_c', 'module_thermometer'),
  instrument('air', 'ambient_temperature_c', 'thermometer'),
  instrument('vane', 'wind_direction_deg', 'wind_vane'),
  instrument('gauge', 'rain_mm', 'rain_gauge'),
]
type Values = (number | null)[]

const at = (seconds: number) => new Date(noon.getTime() + seconds * 1000).toISOString()

/** A site with one station, and a way to put other readings in the place of those it has. */
async function siteWithStation(t: { after(work: () => Promise<void>): void }) {
  const site = await servedSite()
  t.after(site.close)
  await site.db.execute(
    `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
     VALUES ('demo', 7, 1, 'South', $1, '2026-01-01', '2026-01-01')`,
    [JSON.stringify(instruments)],
  )
  return { ...site, fill: (change?: Change) => fill(site, change) }
}

type Change = (values: Values, nth: number) => Values

/** Readings every 30 s of the hour up to noon, the newest 5 s old, as `change` makes them. */
async function fill({ db, clock }: ServedSite, change: Change = (values) => values) {
  clock.set(noon)
  const rows = Array.from({ length: 121 }, (_, nth) => {
    const sun = 800 + (nth % 5)
    const air = 24 + (nth % 4) / 10
    const ghi = 780 - (nth % 9)
    const rain = nth >= 60 ? 2 : 0
    const values = change([sun, sun + 2, sun + 4, ghi, 45 + air, air, 200, rain], nth)
    const text = values.map((value) => value ?? 'NULL')
    return `('demo', 7, '${at(-5 - 30 * (120 - nth))}', 'good', '{${text}}')`
  })
  const columns = 'site_id, station_id, measured_at, quality, instrument_values'
  await db.query(`
    DELETE FROM weather_readings;
    DELETE FROM weather_latest;
    INSERT INTO weather_readings (${columns}) VALUES ${rows.join(', ')};
    INSERT INTO weather_latest (${columns}, received_at)
    SELECT ${columns}, measured_at FROM weather_readings ORDER BY measured_at DESC LIMIT 1;
  `)
}

const put = (index: number, value: number | null) => (values: Values) => values.with(index, value)

test('live weather: averages, physics, today, every instrument', async (t) => {
  const { get, db, fill } = await siteWithStation(t)
  await fill()
  const { status, body } = await get('/weather/logger/1')
  assert.equal(status, 200)
  assert.equal(body.quality, 'good')
  assert.equal(body.age_s, 5)
  assert.equal(body.poa_irradiance_w_m2, 802)
  assert.equal(body.sensors_used, 8)
  assert.equal(body.sensors_rejected, 0)
  assert.ok(body.sun_elevation_deg > 55 && body.sun_azimuth_deg > 100)
  for (const angle of [body.sun_elevation_deg, body.sun_azimuth_deg]) {
    assert.equal(angle, significant(angle))
  }
  assert.ok(body.clear_sky_poa_w_m2 > 850 && body.clear_sky_poa_w_m2 < 1100)
  assert.ok(Math.abs(body.clear_sky_index - 802 / body.clear_sky_poa_w_m2) < 1e-8)
  assert.ok(body.cell_temperature_c > body.module_temperature_c + 2)
  assert.ok(body.effective_irradiance_w_m2 < 802 && body.effective_irradiance_w_m2 > 770)
  assert.equal(body.rain_today_mm, 2)
  assert.ok(Math.abs(body.poa_insolation_today_kwh_m2 - 0.804) < 0.001)
  const [first] = body.sensors
  assert.deepEqual(
    [first.quantity, first.unit, first.value, first.deviation_from_average_pct],
    ['poa_irradiance', 'W/m²', 800, (100 * -2) / 802].map((value) =>
      typeof value === 'number' ? Number(value.toPrecision(9)) : value,
    ),
  )
  assert.deepEqual([first.included_in_average, first.reject_reason], [true, null])
  const list = await get('/weather')
  assert.equal(list.body.meta.count, 1)
  assert.deepEqual(list.body.data, [body])
  // A late row goes to history and changes nothing live but the sums of the day.
  await addReading(db, 'weather', { station_id: 7, measured_at: at(-2000.5) })
  const later = (await get('/weather/logger/1')).body
  assert.equal(later.measured_at, body.measured_at)
  assert.deepEqual(later.sensors, body.sensors)
})

const rejections: [reason: string, index: number, change: (v: Values, nth: number) => Values][] = [
  ['out_of_range', 1, put(1, 1700)],
  ['out_of_range', 5, put(5, -75)],
  ['stuck', 1, put(1, 801)],
  ['disagrees', 2, (values, nth) => put(2, 400 + nth)(values)],
  ['not_measured', 0, (values, nth) => (nth > 110 ? put(0, null)(values) : values)],
]

test('an instrument that cannot be believed is out of the average', async (t) => {
  const { get, fill } = await siteWithStation(t)
  for (const [reason, index, change] of rejections) {
    await t.test(`${reason}: ${instruments[index]!.sensor_id}`, async () => {
      await fill(change)
      const { body } = await get('/weather/logger/1')
      const sensor = body.sensors[index]
      assert.equal(sensor.reject_reason, reason)
      assert.equal(sensor.included_in_average, false)
      assert.equal(sensor.quality, reason === 'not_measured' ? 'stale' : 'suspect')
      assert.equal(body.sensors_rejected, 1)
      const is_silent = reason === 'not_measured'
      assert.equal(body.quality, is_silent ? 'good' : 'suspect', 'the whole')
      assert.equal(body.sensors[3].quality, 'good', 'the others')
      const bucket = (await get('/weather/logger/1/history')).body.data.at(-1)
      assert.equal(bucket.quality, body.quality)
      const others = [800, 802, 804].filter((_, at) => at !== index)
      assert.equal(body.poa_irradiance_w_m2, others.reduce((a, b) => a + b) / others.length)
      if (index === 5) assert.equal(body.ambient_temperature_c, null)
      if (reason === 'not_measured') assert.equal(sensor.value, 800)
    })
  }

  await t.test(
    'of two that disagree the one without light is wrong; else nobody can tell',
    async () => {
      const reasonsOf = async () =>
        (await get('/weather/logger/1')).body.sensors
          .slice(0, 3)
          .map((one: { reject_reason: string }) => one.reject_reason)
      await fill((values, nth) => put(2, null)(put(1, nth % 4)(values)))
      assert.deepEqual(await reasonsOf(), [null, 'disagrees', 'not_measured'])
      await fill((values, nth) => put(2, null)(put(1, 500 + nth)(values)))
      assert.deepEqual(await reasonsOf(), [null, null, 'not_measured'])
    },
  )
})

test('whoever sees no light by day is believed by nobody, however many they are', async (t) => {
  const { get, fill } = await siteWithStation(t)
  const dead: [number[], string, string][] = [
    [[3], 'ghi_w_m2', 'poa_irradiance_w_m2'],
    [[0, 1, 2], 'poa_irradiance_w_m2', 'ghi_w_m2'],
  ]
  for (const [indices, name, other] of dead) {
    // Dead for ten minutes: too short to be stuck.
    await fill((values, nth) =>
      values.map((value, index) => (nth > 100 && indices.includes(index) ? 0 : value)),
    )
    const live = (await get('/weather/logger/1')).body
    const bucket = (await get('/weather/logger/1/history')).body.data.at(-1)
    for (const record of [live, bucket]) {
      assert.equal(record[name], null)
      assert.ok(record[other] > 700)
      assert.equal(record.sensors_rejected, indices.length)
      assert.equal(record.quality, 'suspect')
    }
    for (const index of indices) assert.equal(live.sensors[index].reject_reason, 'disagrees')
  }
})

test('the only pyranometer of a plant is contradicted by those of another', async (t) => {
  const { get, db, fill } = await siteWithStation(t)
  await fill()
  await db.execute(
    `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
     VALUES ('demo', 8, 2, 'East', $1, '2026-01-01', '2026-01-01')`,
    [JSON.stringify([instrument('ghi', 'ghi_w_m2')])],
  )
  for (let nth = 0; nth < 20; nth += 1) {
    const reading = { station_id: 8, instrument_values: [nth % 3], measured_at: at(-5 - 30 * nth) }
    await addReading(db, 'weather', reading)
  }
  const live = (await get('/weather/logger/2')).body
  assert.deepEqual([live.ghi_w_m2, live.sensors[0].reject_reason], [null, 'disagrees'])
  const bucket = (await get('/weather/logger/2/history')).body.data.at(-1)
  assert.deepEqual([bucket.ghi_w_m2, bucket.quality], [null, 'suspect'])
  assert.equal((await get('/weather/logger/1')).body.quality, 'good')
})

test('air that stands still is measured air', async (t) => {
  const { get, fill } = await siteWithStation(t)
  await fill(put(5, 8.9))
  const live = (await get('/weather/logger/1')).body
  assert.deepEqual([live.ambient_temperature_c, live.quality], [8.9, 'good'])
  for (const bucket of (await get('/weather/logger/1/history')).body.data) {
    assert.deepEqual([bucket.ambient_temperature_c, bucket.quality], [8.9, 'good'])
  }
})

test('a silent station is stale with its last values; a plant without one has the sun', async (t) => {
  const site = await siteWithStation(t)
  await site.fill()
  site.clock.set(at(600))
  const { body } = await site.get('/weather/logger/1')
  assert.equal(body.quality, 'stale')
  assert.equal(body.age_s, 605)
  assert.equal(body.poa_irradiance_w_m2, 802)
  assert.equal(body.sensors[0].quality, 'stale')
  site.clock.set('2026-06-21T23:30:00Z')
  const night = (await site.get('/weather/logger/1')).body
  assert.equal(night.rain_today_mm, null)
  assert.equal(night.poa_insolation_today_kwh_m2, null)
  const bare = (await site.get('/weather/logger/2')).body
  assert.deepEqual([bare.quality, bare.measured_at, bare.sensors], ['missing', null, []])
  assert.equal(bare.poa_irradiance_w_m2, null)
  assert.equal(typeof bare.sun_elevation_deg, 'number')
  assert.deepEqual((await site.get('/weather/logger/2/history')).body.data, [])
  assert.equal((await site.get('/weather/logger/9')).status, 404)
  assert.equal((await site.get('/weather/logger/9/history')).status, 404)
  const other = await addKey(site.db, { key_id: 'aaaaaaaaaaaa', scopes: ['plant:read'] })
  assert.equal((await site.get('/weather', other)).status, 403)
})

test('history: aligned buckets, pages that join, an exact count', async (t) => {
  const site = await siteWithStation(t)
  await site.fill()
  const starts = (body: { data: { start_at: string }[] }) => body.data.map((one) => one.start_at)
  const all = (await site.get('/weather/logger/1/history')).body
  assert.equal(all.meta.count, 13)
  assert.equal(all.data[0].start_at, '2026-06-21T08:55:00.000Z')
  assert.deepEqual([all.data[0].sample_count, all.data[0].is_partial], [1, true])
  assert.deepEqual([all.data[5].sample_count, all.data[5].is_partial], [10, false])
  assert.deepEqual([all.data[12].sample_count, all.data[12].is_partial], [10, true])
  const rain = all.data.map((one: { rain_mm: number | null }) => one.rain_mm)
  assert.equal(rain[0], null)
  assert.equal(
    rain.reduce((sum: number, one: number | null) => sum + (one ?? 0), 0),
    2,
  )
  const live = (await site.get('/weather/logger/1')).body
  const insolation = all.data.map(
    (one: { poa_insolation_kwh_m2: number }) => one.poa_insolation_kwh_m2,
  )
  const sum = insolation.reduce((a: number, b: number) => a + b, 0)
  assert.ok(Math.abs(sum - live.poa_insolation_today_kwh_m2) < 1e-6)

  let path = '/weather/logger/1/history?start=2026-06-21T08:00:00Z&limit=5'
  const paged = []
  for (let next: string | null = ''; next !== null; ) {
    const { data, meta } = (await site.get(path)).body
    paged.push(...data)
    next = meta.next_start
    path = `/weather/logger/1/history?start=${next}&limit=5`
  }
  assert.deepEqual(paged, all.data)
  const newest = (await site.get('/weather/logger/1/history?limit=5')).body
  assert.deepEqual(starts(newest), starts(all).slice(-5))
  assert.equal(newest.meta.truncated, true)
  const before = await site.get(`/weather/logger/1/history?limit=8&end=${newest.meta.previous_end}`)
  assert.deepEqual(starts(before.body), starts(all).slice(0, 8))
  const inside = await site.get(
    '/weather/logger/1/history?start=2026-06-21T09:02:00Z&end=2026-06-21T09:11:00Z',
  )
  assert.deepEqual(starts(inside.body), ['2026-06-21T09:05:00.000Z', '2026-06-21T09:10:00.000Z'])
})

test('longer buckets combine those of five minutes', async (t) => {
  const site = await siteWithStation(t)
  await site.fill()
  const read = async (query: string) => (await site.get(`/weather/logger/1/history?${query}`)).body
  const { data } = await read('')
  const hours = await read('every=3600s')
  assert.deepEqual(
    hours.data.map((one: { start_at: string; end_at: string }) => [one.start_at, one.end_at]),
    [
      ['2026-06-21T08:00:00.000Z', '2026-06-21T09:00:00.000Z'],
      ['2026-06-21T09:00:00.000Z', '2026-06-21T10:00:00.000Z'],
    ],
  )
  assert.equal(hours.meta.resolution_s, 3600)
  const [day] = (await read('every=86400s&start=2026-06-20T22:00:00Z')).data
  assert.deepEqual(
    [day.start_at, day.end_at, day.is_partial],
    ['2026-06-20T22:00:00.000Z', '2026-06-21T22:00:00.000Z', true],
  )
  const sumOf = (name: string) =>
    data.reduce((sum: number, one: Record<string, number>) => sum + (one[name] ?? 0), 0)
  assert.equal(day.sample_count, sumOf('sample_count'))
  assert.equal(day.rain_mm, sumOf('rain_mm'))
  assert.ok(Math.abs(day.poa_insolation_kwh_m2 - sumOf('poa_insolation_kwh_m2')) < 1e-6)
  assert.ok(Math.abs(day.completeness_pct - sumOf('completeness_pct') / 288) < 0.1)
  const ghi = data.map((one: { ghi_w_m2: number }) => one.ghi_w_m2)
  assert.ok(day.ghi_w_m2 >= Math.min(...ghi) && day.ghi_w_m2 <= Math.max(...ghi))
  const [first] = (await read('every=3600s&limit=1&start=2026-06-21T08:00:00Z')).data
  assert.deepEqual(first, hours.data[0])
})
