/** How long the energy of a month takes: 28 loggers of 50 inverters, hour by hour. */
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 50
const loggers = 28
const inverters_of_each = 50
const days = 30
const requests = 200
const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

const today = Math.floor(Date.now() / day_ms) * day_ms
const start = new Date(today - days * day_ms).toISOString()
const end = new Date(today).toISOString()

const plant = await servedPlant({ inverters: loggers * 10, strings: 1 })
try {
  const { db } = plant
  await db.execute(
    `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
       estimated_energy_kwh, energy_source, sample_count, awake_covered_s, sun_covered_s,
       expected_energy_kwh, curtailment_loss_kwh, insolation_kwh_m2, peak_power_kw, peak_power_at,
       first_production_at, last_production_at)
     SELECT 'plant', id, at, $2, $2, sun * (2000 + 100 * random()), 0, 'inverter_counter', $2 * 180,
       $2 * 3600 * sign(sun), $2 * 3600 * sign(sun), sun * (2100 + 100 * random()), random(), sun,
       sun * 2500 * random(), at, at, at
     FROM generate_series(1, $1::int) AS id,
       generate_series($3::timestamptz, now(), interval '1 hour') AS at,
       LATERAL (SELECT greatest(0, sin((extract(hour FROM at AT TIME ZONE 'UTC') - 5) / 14 * pi()))
         AS sun) AS light`,
    [loggers, inverters_of_each, start],
  )
  await db.execute('VACUUM ANALYZE')
  const paths = {
    'hourly energy of a month': `/energy/hourly?start=${start}&end=${end}`,
    'summary of a day': `/plant/summary?date=${end.slice(0, 10)}`,
    'hourly energy of a logger': '/loggers/1/hourly-energy',
  }
  for (const [name, path] of Object.entries(paths)) {
    const answer = JSON.parse(String(await plant.fetch(path)))
    const known = path.startsWith('/energy') ? days * loggers : null
    if (known !== null && answer.data.length !== known) throw new Error('days are missing')
    for (let warming = 0; warming < 20; warming += 1) await plant.fetch(path)
    const elapsed_ms: number[] = []
    for (let request = 0; request < requests; request += 1) {
      const began = performance.now()
      await plant.fetch(path)
      elapsed_ms.push(performance.now() - began)
    }
    elapsed_ms.sort((a, b) => a - b)
    const at = (share: number) => elapsed_ms[Math.ceil(share * requests) - 1]!
    process.stdout.write(
      `${name}, ${loggers} loggers of ${inverters_of_each} inverters: p50 ` +
        `${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, limit ${limit_ms} ms\n`,
    )
    if (at(0.99) >= limit_ms) process.exitCode = 1
  }
} finally {
  await plant.close()
}
