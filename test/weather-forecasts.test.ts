/** The demo's weather service, the adapter, the job and the store, together over HTTP. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { fetchWeather } from '../server/forecasts/weather/fetch-weather.ts'
import {
  knownWeather,
  newestRun,
  readFetchState,
  weatherHistory,
} from '../server/forecasts/weather/store.ts'
import { foundSite, site_id } from '../server/link/fixtures/plant.ts'
import { emptyHour } from '../server/performance/rollups/inverter-hour.ts'
import { storeInverterHours } from '../server/performance/rollups/store.ts'
import { serveForecasts } from '../simulator/forecast-service.ts'
import { createSkyForecast } from '../simulator/forecast-sky.ts'
import { silent, testDatabase } from './postgres.ts'

const seed = 20261

test('what the simulated service forecasts is kept with its time of issue', async (t) => {
  const text = readFileSync(new URL('../simulator/demo/site.yaml', import.meta.url), 'utf8')
  const parsed = parseSiteFile(text)
  if (!('site' in parsed)) throw new Error('the demo site is not right')
  const { site } = parsed
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  await db.execute('update sites set inventory = $1', [JSON.stringify(site)])

  let now_ms = Date.UTC(2026, 5, 21, 9, 20)
  const serving = { port: 0, now_ms: () => now_ms, log: { debug() {}, warn() {} } }
  const service = await serveForecasts({ site, seed }, serving)
  t.after(() => service.close())
  const hour = { inverter_id: 1, hour_at: new Date(now_ms - 10 * day_ms), ...emptyHour() }
  await db.transaction((transaction) => storeInverterHours(transaction, site_id, [hour], []))
  const url = `http://127.0.0.1:${service.port}`
  const fetchNow = () =>
    fetchWeather({
      db,
      clock: { now: () => new Date(now_ms) },
      log: silent,
      settings: { source: 'open_meteo', url, key: null, contact: null },
      signal: new AbortController().signal,
    })
  await fetchNow()

  assert.equal((await readFetchState(db, site_id))?.failure, null)
  const run = await newestRun(db, site_id)
  assert.equal(run?.issued_at.getTime(), now_ms)
  assert.equal(run?.steps.length, 3 * 24 + 14)
  const { latitude, longitude, elevation_m } = site
  const sky = createSkyForecast(seed, { latitude, longitude, elevation_m: elevation_m ?? 0 })
  const issued_ms = Date.UTC(2026, 5, 21, 6)
  for (const step of run?.steps ?? []) {
    const { ghi_w_m2, dni_w_m2, dhi_w_m2 } = sky.radiation(step.end_ms, issued_ms)
    const close = (told: number | null, expected: number, by: number) =>
      assert.ok(Math.abs(told! - expected) < by, `${told}, not ${expected}`)
    close(step.ghi_w_m2, ghi_w_m2, 0.051)
    close(step.dni_w_m2, dni_w_m2, 0.051)
    close(step.dhi_w_m2, dhi_w_m2, 0.051)
    const [from, to] = [step.start_ms, step.end_ms].map((at) => sky.point(at, issued_ms))
    const was_issued = step.start_ms >= issued_ms
    if (was_issued) close(step.temperature_c, (from!.temperature_c + to!.temperature_c) / 2, 0.051)
    if (was_issued)
      close(step.wind_speed_m_s, (from!.wind_speed_m_s + to!.wind_speed_m_s) / 2, 0.051)
    const [p10, p90] = [step.ghi_p10_w_m2!, step.ghi_p90_w_m2!]
    assert.ok(ghi_w_m2 < 5 ? p10 <= p90 : p10 < p90)
  }

  // Two issues later a day has another forecast; what was known before is still told.
  const tomorrow = { from: new Date(Date.UTC(2026, 5, 22)), to: new Date(Date.UTC(2026, 5, 23)) }
  const first = await knownWeather(db, site_id, new Date(now_ms), tomorrow)
  const then = new Date(now_ms)
  now_ms += 9 * hour_ms
  await fetchNow()
  assert.deepEqual(await knownWeather(db, site_id, then, tomorrow), first)
  const second = await knownWeather(db, site_id, new Date(now_ms), tomorrow)
  assert.equal(second.length, 24)
  assert.ok(second.every(({ issued_at }) => issued_at.getTime() === now_ms))
  assert.notDeepEqual(
    second.map(({ ghi_w_m2 }) => ghi_w_m2),
    first.map(({ ghi_w_m2 }) => ghi_w_m2),
  )

  // The archive tells of each past day what was forecast for it a day and two ahead.
  const past = { from: new Date(Date.UTC(2026, 5, 11)), to: new Date(Date.UTC(2026, 5, 21)) }
  for (const days of [1, 2, 3]) {
    const known = await weatherHistory(
      db,
      site_id,
      past,
      (start_ms) => start_ms + hour_ms - days * day_ms,
    )
    assert.equal(known.length, 240)
    for (const step of known.slice(0, 24)) {
      const issue = Math.floor((step.end_ms - days * day_ms) / (6 * hour_ms)) * 6 * hour_ms
      const expected = sky.radiation(step.end_ms, issue).ghi_w_m2
      assert.ok(Math.abs(step.ghi_w_m2! - expected) < 0.051)
      assert.equal(step.issued_at.getTime(), step.end_ms - days * day_ms)
    }
  }
})
