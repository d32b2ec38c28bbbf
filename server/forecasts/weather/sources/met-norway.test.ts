import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answerer, httpService, json } from '../fixtures/http-service.ts'
import { metNorway } from './met-norway.ts'

const place = { latitude: 59.913951, longitude: 10.752245, elevation_m: 94.6 }
const now = new Date('2026-06-21T10:20:00Z')
const signal = new AbortController().signal
const asked = { now, signal, last_modified: null }
const updated_at = '2026-06-21T09:42:11Z'

/** As its documentation describes it: hours first, later every six hours. */
const timeOf = (hour: number) => new Date(Date.parse('2026-06-21T10:00:00Z') + hour * 3_600_000)
const entry = (hour: number, cloud_area_fraction: number | null, air_temperature = 20) => ({
  time: timeOf(hour).toISOString().replace('.000', ''),
  data: {
    instant: {
      details: { air_temperature, cloud_area_fraction, wind_speed: 3, relative_humidity: 150 },
    },
    ...(hour < 3 ? { next_1_hours: { summary: { symbol_code: 'cloudy' } } } : {}),
  },
})
const document = (...timeseries: unknown[]) => ({
  type: 'Feature',
  properties: { meta: { updated_at, units: {} }, timeseries },
})

test('clouds and temperature by the hour, also between instants six hours apart', async (t) => {
  const body = document(entry(0, 0, 20), entry(1, 0, 22), entry(2, 100, 24), entry(8, 100, 12))
  const service = await httpService(t, json(body))
  const source = metNorway({ url: service.url, contact: 'ops@park.example' })
  const { forecast } = await source.forecast(place, asked)
  assert.deepEqual(forecast?.issued_at, new Date(updated_at))
  const steps = forecast?.steps ?? []
  assert.deepEqual(
    steps.map(({ start_ms }) => start_ms),
    [0, 1, 2, 3, 4, 5, 6, 7].map((hour) => timeOf(hour).getTime()),
  )
  const column = (quantity: 'temperature_c' | 'cloud_cover_pct' | 'relative_humidity_pct') =>
    steps.slice(0, 4).map((step) => step[quantity])
  assert.deepEqual(column('temperature_c'), [21, 23, 23, 21])
  assert.deepEqual(column('cloud_cover_pct'), [0, 50, 100, 100])
  assert.deepEqual(column('relative_humidity_pct'), [null, null, null, null])
  assert.equal(steps[0]?.wind_speed_m_s, 3)
  assert.equal(steps[0]?.ghi_p10_w_m2, null)
})

test('irradiance is what the clouds pass of a clear sky', async (t) => {
  const under = async (cover_pct: number | null) => {
    const service = await httpService(t, json(document(entry(0, cover_pct), entry(1, cover_pct))))
    const { forecast } = await metNorway({ url: service.url, contact: 'x' }).forecast(place, asked)
    return forecast!.steps[0]!
  }
  const clear = await under(0)
  // Midsummer in Oslo, half an hour before noon: the sun is 53 degrees high.
  assert.ok(clear.ghi_w_m2! > 750 && clear.ghi_w_m2! < 850, `${clear.ghi_w_m2}`)
  assert.ok(clear.dni_w_m2! > 750)
  const covered = await under(100)
  assert.ok(Math.abs(covered.ghi_w_m2! / clear.ghi_w_m2! - 0.25) < 1e-9)
  assert.ok(covered.dni_w_m2! < 20)
  assert.ok(covered.dhi_w_m2! > 0.9 * covered.ghi_w_m2!)
  await assert.rejects(under(null), /without clouds/)
})

test('it is asked as its terms want it, and told when nothing is new', async (t) => {
  const headers = {
    expires: 'Sun, 21 Jun 2026 10:51:00 GMT',
    'last-modified': 'Sun, 21 Jun 2026 10:20:00 GMT',
  }
  let agent: string | undefined
  const service = await httpService(t, (request, response) => {
    agent = request.headers['user-agent']
    const known = request.headers['if-modified-since']
    if (known === headers['last-modified']) return response.writeHead(304, headers).end()
    return json(document(entry(0, 0), entry(1, 0)), 200, headers)(request, response)
  })
  const source = metNorway({ url: service.url, contact: 'ops@park.example' })
  const first = await source.forecast(place, asked)
  assert.equal(service.asked[0]?.pathname, '/weatherapi/locationforecast/2.0/complete')
  assert.equal(service.asked[0]?.search, '?lat=59.9140&lon=10.7522&altitude=95')
  assert.equal(agent, 'Heliograph/1 (ops@park.example)')
  assert.deepEqual(first.expires_at, new Date('2026-06-21T10:51:00Z'))
  const { last_modified } = first
  assert.deepEqual(await source.forecast(place, { ...asked, last_modified }), {
    forecast: null,
    last_modified,
    expires_at: first.expires_at,
  })
})

test('what is no answer is told in words', async (t) => {
  const service = await httpService(t, json(''))
  const refused = async (answer: Answerer, words: RegExp) => {
    service.answer = answer
    await assert.rejects(
      metNorway({ url: service.url, contact: 'x' }).forecast(place, asked),
      words,
    )
  }
  await refused(json({}, 403), /answered 403/)
  await refused(json(null), /without 'timeseries'/)
  await refused(json({ properties: { timeseries: 'none' } }), /without 'timeseries'/)
  await refused(json(document()), /without instants/)
  await refused(json(document({ time: 'frog' }, null)), /without instants/)
  await refused(json(document(entry(0, 0), entry(9, 0))), /without clouds/)
  await refused((_, response) => response.end('<html></html>'), /no JSON/)
})
