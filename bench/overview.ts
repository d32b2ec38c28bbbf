/** Latency of the overview of a large plant: 500 inverters with 24 strings each. */

import { tell, tellLatency, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 100
const limit_mb = 300
const inverters = quickOr(20, 500)
const strings = 24
const requests = quickOr(3, 300)

await using plant = await servedPlant({ inverters, strings })
const { db } = plant
const names = Object.keys(inverterValues)
const values = Object.values(inverterValues).join(', ')
// Two days and a half in steps of five minutes: where the day began has to be found.
await db.execute(
  `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, ${names})
     SELECT 'plant', id, at, 'good', ${values}
     FROM generate_series(1, ${inverters}) AS id,
       generate_series(now() - interval '60 h', now(), interval '5 min') AS at`,
)
await db.execute(
  `INSERT INTO inverter_latest (site_id, inverter_id, measured_at, quality, ${names}, received_at)
     SELECT DISTINCT ON (inverter_id) site_id, inverter_id, measured_at, quality, ${names},
       measured_at
     FROM inverter_readings ORDER BY inverter_id, measured_at DESC`,
)
await db.execute(
  `INSERT INTO string_latest (site_id, inverter_id, first_string_index, measured_at, quality,
       current_a, voltage_v, received_at)
     SELECT 'plant', id, 0, now(), 'good', ARRAY(SELECT (10 + random())::real FROM
         generate_series(1, ${strings}) WHERE id > 0),
       ARRAY(SELECT (840 + random())::real FROM generate_series(1, ${strings}) WHERE id > 0), now()
     FROM generate_series(1, ${inverters}) AS id`,
)
await db.execute(
  `INSERT INTO logger_latest (site_id, logger_id, measured_at, quality, ac_power_kw, received_at)
     SELECT 'plant', logger_id, now(), 'good', 850, now() FROM loggers`,
)
// A year of sums, a met station of ten instruments for each logger, and as many sensor nodes.
await db.execute(
  `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
       estimated_energy_kwh, awake_covered_s, sun_covered_s)
     SELECT 'plant', logger_id, hour_at, 10, 10, 500, 0, 36000, 36000
     FROM loggers, generate_series(date_trunc('hour', now()) - interval '365 days', now(),
       interval '1 h') AS hour_at`,
)
const instruments = Array.from({ length: 10 }, (_, nth) => ({
  sensor_id: `s-${nth}`,
  name: `Sensor ${nth}`,
  type: 'pyranometer',
  quantity: 'poa_irradiance_w_m2',
  point: `302[${nth}].POAI`,
}))
await db.execute(
  `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
     SELECT 'plant', logger_id, logger_id, 'Met', $1, now(), now() FROM loggers`,
  [JSON.stringify(instruments)],
)
await db.execute(
  `INSERT INTO weather_latest (site_id, station_id, measured_at, quality, poa_irradiance_w_m2,
       instrument_values, received_at)
     SELECT 'plant', logger_id, now(), 'good', 800, array_fill(800::real, ARRAY[10]), now()
     FROM loggers`,
)
const channels = ['oil', 'room', 'door', 'fans'].map((channel, nth) => ({
  channel,
  label: channel,
  kind: ['temperature', 'temperature', 'door', 'relay'][nth],
}))
await db.execute(
  `INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
       updated_at)
     SELECT 'plant', 'ts-' || logger_id, logger_id, 'Station', 'transformer_station', 30, $1, now(),
       now() FROM loggers`,
  [JSON.stringify(channels)],
)
await db.execute(
  `INSERT INTO node_latest (site_id, node_number, measured_at, quality, channel_values,
       received_at)
     SELECT 'plant', logger_id, now(), 'good', '{60, 30, 0, 1}', now() FROM loggers`,
)
await db.execute(
  `INSERT INTO relay_events (site_id, node_id, channel, at, received_at, to_state, cause)
     SELECT 'plant', 'ts-' || logger_id, 'fans', at, at, true, 'automation'
     FROM loggers, generate_series(now() - interval '365 days', now(), interval '6 h') AS at`,
)
await db.execute('VACUUM ANALYZE')

const overview = JSON.parse(String(await plant.fetch('/overview')))
if (overview.weather.length !== overview.sensors.length) throw new Error('nodes are missing')
if (overview.strings.length !== inverters * strings) throw new Error('strings are missing')
const read = () => plant.fetch('/overview')
tellLatency(
  `overview of ${inverters} inverters and ${inverters * strings} strings`,
  await timesOf(read, { rounds: requests, warmings: 20 }),
  limit_ms,
)
const rss_mb = process.memoryUsage.rss() / 2 ** 20
tell(rss_mb <= limit_mb, `memory ${rss_mb.toFixed(0)} MB, limit ${limit_mb} MB`)
