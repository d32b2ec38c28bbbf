/** The light of a day is one figure, whichever chapter is asked. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import type { Instrument } from '@heliograph/domain/site'
import { silent } from '../../../test/postgres.ts'
import { type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import { createRollups } from '../../performance/rollups/job.ts'
import { addTouchedHours, touchHours } from '../touched-hours.ts'
import { clearLight, skiesOf } from './instrument-limits.ts'

const plane = { azimuth_deg: 180, tilt_deg: 25 }
const instrument = (
  sensor_id: string,
  quantity: Instrument['quantity'],
  type: Instrument['type'],
): Instrument => ({ sensor_id, name: sensor_id, type, quantity, point: '302[0].POAI', ...plane })

const instruments = [
  instrument('pyranometer', 'poa_irradiance_w_m2', 'pyranometer'),
  instrument('second', 'poa_irradiance_w_m2', 'pyranometer'),
  instrument('cell', 'poa_irradiance_w_m2', 'reference_cell'),
  instrument('ghi', 'ghi_w_m2', 'pyranometer'),
  instrument('air', 'ambient_temperature_c', 'thermometer'),
]
const start_ms = Date.parse('2026-06-20T22:00:00Z')
const hourOf = (time_ms: number) => (time_ms - Date.parse('2026-06-21T00:00:00Z')) / 3_600_000

/** A day with drifting clouds; at night the offset of a thermopile. */
function day(change: (values: number[], hour: number) => number[]) {
  const skies = skiesOf({ latitude: 48.62, longitude: 12.17, elevation_m: 400 })
  return Array.from({ length: 28 * 60 }, (_, nth) => {
    const time_ms = start_ms + nth * minute_ms
    const clouds = 0.75 + 0.15 * Math.sin(nth / 7) + 0.05 * Math.sin(nth * 1.7)
    const of = (index: number) => {
      const light = clouds * clearLight(instruments[index]!, skies(time_ms)!)
      return light > 0 ? Math.round(light * 10) / 10 : -3
    }
    const values = [of(0), of(1) * 1.01, of(2) * 0.97, of(3), 24]
    return { time_ms, values: change(values, hourOf(time_ms)) }
  })
}

const days: [string, (values: number[], hour: number) => number[], rejected: boolean][] = [
  ['all instruments are believed', (values) => values, false],
  [
    'one is stuck for hours',
    (values, hour) => (hour > 8 && hour < 14 ? values.with(0, 631) : values),
    true,
  ],
  ['one is dead', (values, hour) => (hour > 6 && hour < 15 ? values.with(1, 0) : values), true],
]

/** Stores a station with readings, and sums up what its marks ask for alone. */
async function measure(
  { db }: ServedSite,
  station: { station_id: number; logger_id: number; instruments: readonly Instrument[] },
  rows: readonly { time_ms: number; values: readonly number[] }[],
) {
  const { station_id, logger_id } = station
  await db.execute(
    `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at,
       updated_at)
     VALUES ('demo', $1, $2, 'South', $3, '2026-01-01', '2026-01-01')`,
    [station_id, logger_id, JSON.stringify(station.instruments)],
  )
  const readings = rows.map(
    ({ time_ms, values }) =>
      `('demo', ${station_id}, '${new Date(time_ms).toISOString()}', 'good', '{${values}}')`,
  )
  await db.query(
    `INSERT INTO weather_readings (site_id, station_id, measured_at, quality, instrument_values)
     VALUES ${readings.join(', ')}`,
  )
  const hours = new Set<number>()
  for (const { time_ms } of rows) addTouchedHours(hours, time_ms)
  const mark = { site_id: 'demo', kind: 'weather', device_id: station_id }
  const marks = [...hours].map((hour) => ({ ...mark, hour }))
  await db.transaction((one) => touchHours(one, marks))
  // Marks are due by the time of the database.
  const clock = { now: () => new Date(Math.max(Date.now(), start_ms) + 48 * 3_600_000) }
  await createRollups(db, { clock, timers: { after: () => () => {} }, log: silent }).runDue()
}

async function summaryOf({ get }: ServedSite, logger_id: number) {
  const { body } = await get('/plant/summary?date=2026-06-21')
  return body.data.find((each: { logger_id: number }) => each.logger_id === logger_id)
}

for (const [what, change, is_rejected] of days) {
  test(`weather and summary agree on the light of a day: ${what}`, async (t) => {
    const site = await servedSite()
    t.after(site.close)
    site.clock.set('2026-06-22T06:00:00Z')
    await measure(site, { station_id: 7, logger_id: 1, instruments }, day(change))
    const summary = await summaryOf(site, 1)
    const window = `start=${summary.day_start_at}&end=${summary.day_end_at}&limit=2000`
    const buckets = (await site.get(`/weather/logger/1/history?${window}`)).body.data
    assert.equal(buckets.length, 288)
    const sum = buckets.reduce(
      (total: number, each: { poa_insolation_kwh_m2: number }) =>
        total + each.poa_insolation_kwh_m2,
      0,
    )
    assert.ok(sum > 5, `${sum}`)
    // The summary is rounded to 0.0001.
    const apart = Math.abs(summary.poa_insolation_kwh_m2 - sum)
    assert.ok(apart <= 0.00005, `${summary.poa_insolation_kwh_m2} in the summary, ${sum} here`)
    const suspect = buckets.filter((each: { quality: string }) => each.quality === 'suspect')
    assert.equal(suspect.length > 60, is_rejected)
  })
}

test('a plant is summed up anew when the station arrives that contradicts its own', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  site.clock.set('2026-06-22T06:00:00Z')
  const dead = day((_, hour) => [Math.abs(Math.sin(hour * 100))])
  const eastern = [{ ...instruments[0]!, azimuth_deg: 90 }]
  await measure(site, { station_id: 8, logger_id: 2, instruments: eastern }, dead)
  const before = await summaryOf(site, 2)
  assert.ok(before.poa_insolation_kwh_m2 > 0 && before.poa_insolation_kwh_m2 < 0.02)
  const sunny = day((values) => values)
  await measure(site, { station_id: 7, logger_id: 1, instruments }, sunny)
  const { poa_insolation_kwh_m2, expected_energy_kwh } = await summaryOf(site, 2)
  assert.deepEqual([poa_insolation_kwh_m2, expected_energy_kwh], [null, null])
  assert.ok((await summaryOf(site, 1)).poa_insolation_kwh_m2 > 5)
})
