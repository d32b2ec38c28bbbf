import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Answerer, httpService, json } from '../fixtures/http-service.ts'
import { openMeteo } from './open-meteo.ts'
import { columnsOf, spreadOf, stepsOf } from './open-meteo-columns.ts'

const place = { latitude: 48.621234, longitude: -12.17, elevation_m: 410 }
const now = new Date('2026-06-21T01:20:00Z')
const midnight_s = Date.parse('2026-06-21T00:00:00Z') / 1000
const signal = new AbortController().signal
const asked = { now, signal, last_modified: null }
const time = [0, 1, 2, 3].map((hour) => midnight_s + hour * 3600)

const hourly = {
  time,
  shortwave_radiation: [9, 100, 200, 300],
  direct_normal_irradiance: [0, 400, null, 600],
  // no diffuse_radiation
  temperature_2m: [10, 12, 14, 15],
  wind_speed_10m: [1, 3, 5, 7],
  cloud_cover: [0, 100, 101, 50],
  relative_humidity_2m: [40, 50, null, 70],
}
const hourly_units = { wind_speed_10m: 'm/s', shortwave_radiation: 'W/m²', temperature_2m: '°C' }
const ensemble = {
  time,
  shortwave_radiation: [0, 0, 50, 300],
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`shortwave_radiation_member0${n}`, [0, 0, n * 10, null]]),
  ),
}

/** As the two services would answer. */
const both: Answerer = (request, response) => {
  const block = request.url!.startsWith('/v1/ensemble') ? ensemble : hourly
  return json({ utc_offset_seconds: 0, hourly_units, hourly: block })(request, response)
}

test('radiation is of the hour before its time, all else between two times', async (t) => {
  const service = await httpService(t, both)
  const { forecast } = await openMeteo({ url: service.url, key: null }).forecast(place, asked)
  const hour = (nth: number) => (midnight_s + nth * 3600) * 1000
  assert.deepEqual(forecast?.steps, [
    {
      // The step before it is over.
      start_ms: hour(1),
      end_ms: hour(2),
      ghi_w_m2: 200,
      dni_w_m2: null,
      dhi_w_m2: null,
      temperature_c: 13,
      wind_speed_m_s: 4,
      cloud_cover_pct: null,
      relative_humidity_pct: null,
      ghi_p10_w_m2: 10,
      ghi_p90_w_m2: 80,
    },
    {
      start_ms: hour(2),
      end_ms: hour(3),
      ghi_w_m2: 300,
      dni_w_m2: 600,
      dhi_w_m2: null,
      temperature_c: 14.5,
      wind_speed_m_s: 6,
      cloud_cover_pct: null,
      relative_humidity_pct: null,
      ghi_p10_w_m2: null,
      ghi_p90_w_m2: null,
    },
  ])
  assert.equal(forecast?.shortcoming, null)
  assert.equal(forecast?.issued_at, null)
})

test('it is asked in units and times that leave no doubt', async (t) => {
  const service = await httpService(t, both)
  await openMeteo({ url: service.url, key: 'sesame' }).forecast(place, asked)
  const [first, second] = service.asked
  assert.equal(first?.pathname, '/v1/forecast')
  const { hourly: variables, ...rest } = Object.fromEntries(first!.searchParams)
  assert.deepEqual(rest, {
    latitude: '48.6212',
    longitude: '-12.1700',
    forecast_days: '4',
    apikey: 'sesame',
    wind_speed_unit: 'ms',
    timeformat: 'unixtime',
    timezone: 'GMT',
  })
  assert.equal(variables?.split(',').length, 7)
  assert.equal(second?.pathname, '/v1/ensemble')
  assert.equal(second?.searchParams.get('models'), 'icon_seamless')
})

test('without its ensemble a forecast is one all the same, and says so', async (t) => {
  const service = await httpService(t, (request, response) =>
    request.url!.startsWith('/v1/ensemble')
      ? json({ error: true, reason: 'too many for sesame' }, 429)(request, response)
      : both(request, response),
  )
  const { forecast } = await openMeteo({ url: service.url, key: 'sesame' }).forecast(place, asked)
  assert.equal(forecast?.steps[0]?.ghi_w_m2, 200)
  assert.match(forecast?.shortcoming ?? '', /^no ensemble: .* answered 429: too many for …$/)
})

test('an archive has a forecast for each lead, of the days that were asked for', async (t) => {
  const hours = Array.from({ length: 72 }, (_, hour) => midnight_s + hour * 3600)
  const leads = [1, 2, 3].map((days) => [
    `shortwave_radiation_previous_day${days}`,
    hours.map(() => days),
  ])
  const block = { time: hours, ...Object.fromEntries(leads) }
  const service = await httpService(t, json({ utc_offset_seconds: 0, hourly: block }))
  const days = { from: new Date(midnight_s * 1000), to: new Date((midnight_s + 2 * 86_400) * 1000) }
  const runs = await openMeteo({ url: service.url, key: null }).previous!(place, days, asked)
  const { searchParams } = service.asked[0]!
  assert.equal(searchParams.get('start_date'), '2026-06-21')
  assert.equal(searchParams.get('end_date'), '2026-06-23')
  assert.deepEqual(
    runs.map(({ lead_minutes, steps }) => [lead_minutes, steps.length, steps[47]?.ghi_w_m2]),
    [
      [1440, 48, 1],
      [2880, 48, 2],
      [4320, 48, 3],
    ],
  )
  assert.equal(runs[0]?.steps[0]?.start_ms, days.from.getTime())
  assert.equal(runs[0]?.steps[0]?.temperature_c, null)
})

test('what is no answer is told in words, without the key', async (t) => {
  const service = await httpService(t, json(''))
  const refused = async (answer: Answerer, words: RegExp) => {
    service.answer = answer
    await assert.rejects(
      openMeteo({ url: service.url, key: 'sesame' }).forecast(place, asked),
      (error: Error) => {
        assert.match(error.message, words)
        assert.doesNotMatch(`${error.message} ${error.stack}`, /sesame/)
        return true
      },
    )
  }
  const html: Answerer = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>busy</html>')
  await refused(html, /answered 200 with text\/html that is no JSON/)
  await refused(json(''), /with nothing/)
  await refused(json({ error: true, reason: 'key sesame is wrong' }, 400), /400: key … is wrong/)
  await refused(json({}, 503), /answered 503$/)
  await refused(json([1, 2]), /without 'hourly'/)
  await refused(json({ hourly: { time: ['frog'] } }), /not evenly spaced/)
  await refused(json({ hourly: { time: [1, 2, 3] } }), /not evenly spaced/)
  await refused(json({ hourly: { time, temperature_2m: [1, 2, 3, 4] } }), /without radiation/)
  await refused(json({ hourly: { time, shortwave_radiation: [-5, 'x', 1e9, null] } }), /radiation/)
  await refused((_, response) => response.writeHead(302, { location: '/' }).end(), /answered 302/)
  await refused((_, response) => response.destroy(), /other side closed|socket hang up|ECONNRESET/)
  await refused(json(`"${'x'.repeat(9 * 2 ** 20)}"`), /exceeds/)
})

const samples = new URL('../../../../../shared/data/weather/', import.meta.url)
const skip = existsSync(samples) ? false : 'LEFT OUT: ../shared/data/weather is not there'
const sample = (name: string) => JSON.parse(readFileSync(new URL(name, samples), 'utf8'))

test('a real answer in quarters of an hour, local time, instants and km/h', { skip }, () => {
  const table = columnsOf(sample('emhass_openmeteo_minutely15.json'), 'minutely_15')
  const steps = stepsOf(table)
  assert.equal(steps.length, 287)
  // 10:15 to 10:30 in Paris.
  const step = steps.find(({ start_ms }) => start_ms === Date.parse('2025-02-24T09:15:00Z'))!
  assert.equal(step.end_ms - step.start_ms, 900_000)
  const close = (value: number | null, expected: number) =>
    assert.ok(Math.abs((value ?? Number.NaN) - expected) < 1e-9, `${value}, not ${expected}`)
  close(step.ghi_w_m2, (311.3 + 294.4) / 2)
  close(step.dni_w_m2, (177.4 + 135.2) / 2)
  close(step.dhi_w_m2, (237.9 + 234.7) / 2)
  close(step.temperature_c, -11.65)
  close(step.wind_speed_m_s, (17.6 + 18.2) / 2 / 3.6)
  close(step.relative_humidity_pct, 10)
  assert.equal(step.cloud_cover_pct, 100)
})

test('a real ensemble of 40', { skip }, () => {
  const spread = spreadOf(columnsOf(sample('balcony_ensemble_icon_seamless.json'), 'hourly'))
  assert.equal(spread.size, 6)
  // At 07:00 all 40 lie from 411 to 415, the fourth and fifth from the ends at 411 and 413.
  assert.deepEqual(spread.get(Date.parse('2026-07-11T07:00:00Z')), { p10: 411, p90: 413 })
})
