import assert from 'node:assert/strict'
import { test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { answerForecast } from './forecast-answer.ts'
import { createSkyForecast } from './forecast-sky.ts'

const place = { latitude: 48.62, longitude: 12.17, elevation_m: 410 }
const sky = createSkyForecast(7, place)
const now_ms = Date.UTC(2026, 5, 21, 14, 30)

interface Body {
  hourly: Record<string, number[]>
  hourly_units: Record<string, string>
  reason: string
}

async function ask(query: string, { path = '/v1/forecast', at_ms = now_ms } = {}) {
  const usual = 'latitude=48.62&longitude=12.17&timezone=GMT&timeformat=unixtime'
  const url = new URL(`${path}?${usual}&${query}`, 'http://localhost')
  const { status, body } = await answerForecast(url, { sky, place, now_ms: at_ms })
  return { status, ...(body as Body) }
}

test('hours from today on, in the requested units', async () => {
  const { status, hourly, hourly_units } = await ask(
    'hourly=shortwave_radiation,direct_radiation,diffuse_radiation,wind_speed_10m&forecast_days=2',
  )
  assert.equal(status, 200)
  assert.equal(hourly['time']?.length, 48)
  assert.equal(hourly['time']?.[0], Date.UTC(2026, 5, 21) / 1000)
  assert.equal(hourly_units['wind_speed_10m'], 'km/h')
  const { shortwave_radiation: all, direct_radiation: direct, diffuse_radiation: diffuse } = hourly
  for (const hour of [6, 12, 36]) {
    assert.ok(all![hour]! > 0)
    assert.ok(Math.abs(direct![hour]! + diffuse![hour]! - all![hour]!) < 0.2)
  }
  assert.equal(all?.[0], 0)
  const in_m_s = await ask('hourly=wind_speed_10m&forecast_days=2&wind_speed_unit=ms')
  assert.equal(in_m_s.hourly_units['wind_speed_10m'], 'm/s')
  const [kmh, ms] = [hourly['wind_speed_10m']![20]!, in_m_s.hourly['wind_speed_10m']![20]!]
  assert.ok(Math.abs(kmh / 3.6 - ms) < 0.1)
  const local = await ask('hourly=cloud_cover&timeformat=iso8601')
  assert.equal(local.status, 200)
})

test('the forecast changes with each issue, every six hours', async () => {
  const query = 'hourly=shortwave_radiation&start_date=2026-06-22&end_date=2026-06-22'
  const at = async (hour: number) =>
    (await ask(query, { at_ms: Date.UTC(2026, 5, 21, hour) })).hourly['shortwave_radiation']
  const noon = await at(12)
  assert.deepEqual(await at(17.99), noon)
  assert.notDeepEqual(await at(18), noon)
})

test('the archive returns what the service forecast then', async () => {
  const names = 'shortwave_radiation_previous_day1,temperature_2m_previous_day2'
  const days = 'start_date=2026-06-20&end_date=2026-06-20'
  const archive = (await ask(`hourly=${names}&${days}`)).hourly
  for (const hour of [9, 12, 15]) {
    const then = async (name: string, lead_days: number) => {
      const at_ms = Date.UTC(2026, 5, 20, hour) - lead_days * day_ms
      return (await ask(`hourly=${name}&${days}`, { at_ms })).hourly[name]?.[hour]
    }
    assert.equal(
      archive['shortwave_radiation_previous_day1']?.[hour],
      await then('shortwave_radiation', 1),
    )
    assert.equal(archive['temperature_2m_previous_day2']?.[hour], await then('temperature_2m', 2))
  }
})

test('the past excludes forecasts issued later', async () => {
  const query = 'hourly=shortwave_radiation&start_date=2026-06-19&end_date=2026-06-19'
  const early = await ask(query, { at_ms: Date.UTC(2026, 5, 19, 12) })
  const late = await ask(query)
  const until_noon = (body: Body) => body.hourly['shortwave_radiation']?.slice(0, 13)
  assert.deepEqual(until_noon(early), until_noon(late))
})

test('an ensemble has its members', async () => {
  const path = '/v1/ensemble'
  const { hourly } = await ask('hourly=shortwave_radiation&models=icon_seamless', { path })
  const members = Object.keys(hourly).filter((name) => /_member\d\d$/.test(name))
  assert.equal(members.length, 20)
  const afternoon = members.map((name) => hourly[name]![36]!)
  assert.ok(new Set(afternoon).size > 15)
  assert.equal((await ask('hourly=temperature_2m', { path })).status, 400)
})

test('invalid requests are refused as by Open-Meteo', async () => {
  const refused = async (query: string, why: RegExp) => {
    const { status, reason } = await ask(query)
    assert.equal(status, 400)
    assert.match(reason, why)
  }
  await refused('hourly=frogs', /unknown variable 'frogs'/)
  await refused('hourly=toString', /unknown variable/)
  await refused('hourly=cloud_cover_previous_day8', /unknown variable/)
  await refused('hourly=cloud_cover&forecast_days=17', /forecast_days/)
  await refused('hourly=cloud_cover&start_date=2026-02-01&end_date=2026-06-01', /93 days/)
  await refused('hourly=cloud_cover&start_date=2026-06-02&end_date=2026-06-01', /93 days/)
  await refused('hourly=cloud_cover&start_date=soon&end_date=2026-06-01', /no date/)
  await refused('hourly=cloud_cover&start_date=2026-06-20&end_date=2026-07-30', /too far ahead/)
  const elsewhere = new URL(
    'http://localhost/v1/forecast?latitude=52&longitude=13&hourly=cloud_cover',
  )
  const { status, body } = await answerForecast(elsewhere, { sky, place, now_ms })
  assert.equal(status, 400)
  assert.match((body as Body).reason, /latitude must be that of the simulated site/)
  assert.equal((await ask('hourly=cloud_cover', { path: '/v1/elsewhere' })).status, 404)
})
