/** How long the overview of a great plant takes: 500 inverters of 24 strings each. */
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 100
const limit_mb = 300
const inverters = 500
const strings = 24
const requests = 300

const plant = await servedPlant({ inverters, strings })
try {
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
    `INSERT INTO inverter_latest
     SELECT DISTINCT ON (inverter_id) r.*, r.measured_at FROM inverter_readings r
     ORDER BY inverter_id, r.measured_at DESC`,
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
  await db.execute('VACUUM ANALYZE')

  const overview = JSON.parse(String(await plant.fetch('/overview')))
  if (overview.strings.length !== inverters * strings) throw new Error('strings are missing')
  for (let warming = 0; warming < 20; warming += 1) await plant.fetch('/overview')
  const elapsed_ms: number[] = []
  for (let request = 0; request < requests; request += 1) {
    const began = performance.now()
    await plant.fetch('/overview')
    elapsed_ms.push(performance.now() - began)
  }
  elapsed_ms.sort((a, b) => a - b)
  const at = (share: number) => elapsed_ms[Math.ceil(share * requests) - 1]!
  const rss_mb = process.memoryUsage().rss / 2 ** 20
  process.stdout.write(
    `overview of ${inverters} inverters and ${inverters * strings} strings: p50 ` +
      `${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, limit ${limit_ms} ms; ` +
      `memory ${rss_mb.toFixed(0)} MB, limit ${limit_mb} MB\n`,
  )
  process.exitCode = at(0.99) <= limit_ms && rss_mb <= limit_mb ? 0 : 1
} finally {
  await plant.close()
}
