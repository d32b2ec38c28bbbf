/**
 * The chart of the overview for a day of 28 plants, with readings every ten seconds: bytes of its
 * histories over the wire, and the latency of each.
 */
import { day_ms } from '@heliograph/domain/durations'
import { tell, tellLatency, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 50
const limit_kb = 60
const plants = quickOr(2, 28)
const rounds = quickOr(1, 12)
const start = new Date(Math.floor(Date.now() / day_ms) * day_ms - day_ms)
const end = new Date(start.getTime() + day_ms)

await using plant = await servedPlant({ inverters: 10 * plants, strings: 1 })
const { db } = plant
// 16 hours of daylight with clouds, and the noise of a meter.
const power_kw = `greatest(0, 10000 * sin((extract(epoch from at - $1) / 3600 - 4) / 16 * pi())
  * (0.9 + 0.1 * sin(extract(epoch from at) / 900 + id)) * (1 + random() / 1000))::numeric(9, 2)`
await db.execute(
  `insert into logger_readings (site_id, logger_id, measured_at, quality, ac_power_kw, dc_power_kw,
     reactive_power_kvar, apparent_power_kva, power_factor, frequency_hz, energy_total_kwh,
     available_power_kw, poa_irradiance_w_m2, inverters_online, inverters_total)
   select 'plant', id, at, 'good', kw, kw * 1.02, 10 * random(), kw, 1, 50, 1e6, kw, kw / 10, 10, 10
   from generate_series(1, ${plants}) as id,
     generate_series($1::timestamptz, $2::timestamptz - interval '10 s', '10 s') as at,
     lateral (select ${power_kw} as kw) as power`,
  [start, end],
)
await db.execute('vacuum analyze logger_readings')
const window = `start=${start.toISOString()}&end=${end.toISOString()}`
// As the page requests it with that many plants.
const shown = 'every=900s&fields=ac_power_kw,available_power_kw&limit=2000'
const pathOf = (logger_id: number) => `/loggers/${logger_id}/history?${window}&${shown}`
let bytes = 0
for (let logger_id = 1; logger_id <= plants; logger_id += 1) {
  const body = await plant.open(pathOf(logger_id), { 'accept-encoding': 'br' })
  for await (const chunk of body) bytes += (chunk as Buffer).length
}
tell(
  bytes <= limit_kb * 1000,
  `a day of ${plants} plants: ${(bytes / 1000).toFixed(0)} kB compressed, limit ${limit_kb} kB`,
)
const readNext = (round: number) => plant.fetch(pathOf(1 + ((round + plants) % plants)))
tellLatency(
  'a day of one of them',
  await timesOf(readNext, { rounds: rounds * plants, warmings: plants }),
  limit_ms,
)
