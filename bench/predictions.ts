/**
 * Latency of the forecast of a day from cache: a site of 50 plants with a forecast for every hour
 * of the last days.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { tellLatency, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 20
const plants = quickOr(3, 50)
const requests = quickOr(3, 300)

await using plant = await servedPlant({ inverters: plants * 10, strings: 1 })
const { db } = plant
const random = seededRandom(1)
const power = Array.from({ length: 24 }, () => Math.round(900_000 * random()) / 1000)
const today = Math.floor(Date.now() / day_ms) * day_ms
await db.execute(
  `insert into forecast_models (site_id, target, version, trained_at, state, facts, scores)
     select 'plant', target, 1, now() - interval '10 days', 'in_use', '{}', '{}'
     from (select 'site' as target union all select 'logger:' || logger_id from loggers) as t`,
)
await db.execute(
  `insert into forecast_runs (site_id, target, target_date, issued_at, model, model_version,
       weather_source, weather_issued_at, resolution_minutes, p10_kw, p50_kw, p90_kw,
       poa_irradiance_w_m2, ambient_temperature_c, cloud_cover_pct, is_night, total_p10_kwh,
       total_p50_kwh, total_p90_kwh, confidence)
     select 'plant', target, day::date, issued_at, 'blend', 1, 'bench', issued_at, 60, $1::float8[],
       $1::float8[], $1::float8[], $1::float8[]::real[], $1::float8[]::real[],
       $1::float8[]::real[], array_fill(false, array[24]), 1000, 1000, 1000, 'high'
     from (select 'site' as target union all select 'logger:' || logger_id from loggers) as t,
       generate_series($2::timestamptz - interval '7 days', $2::timestamptz + interval '2 days',
         interval '1 day') as day,
       generate_series(day - interval '2 days', least(day + interval '1 day', now()),
         interval '1 hour') as issued_at`,
  [power, new Date(today).toISOString()],
)
const held = Math.min(10, plants)
await db.execute(
  `insert into curtailment_groups (site_id, group_id, source, created_at)
     values ('plant', 'bench', 'api', now())`,
)
await db.execute(
  `insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
     select 'plant', 'bench', id, $1, $2, 300 from generate_series(1, ${held}) as id`,
  [new Date(today + 10 * hour_ms).toISOString(), new Date(today + 14 * hour_ms).toISOString()],
)
await db.execute('vacuum analyze')

const path = '/predictions/forecast'
const first = JSON.parse(String(await plant.fetch(path)))
if (first.data.length !== plants || !first.data[0].cached) throw new Error('nothing was cached')
const times_ms = await timesOf(() => plant.fetch(path), { rounds: requests, warmings: 30 })
tellLatency(`forecast of ${plants} plants from cache`, times_ms, limit_ms)
