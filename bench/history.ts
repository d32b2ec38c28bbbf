/**
 * Time of 10,000 rows of an inverter's history through the API, from rows and from blocks, relative
 * to the driver's own query of the same rows and JSON.stringify, in turns; and the time of 2,500
 * rows of a plant.
 */

import { columnsOf } from '@heliograph/domain/readings'
import { packHours } from '@heliograph/server/telemetry/blocks/store'
import { inTurns, tell, tellLatency, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'
import { storeRows } from './fixtures/stored-rows.ts'

const limits = { rows: 1, blocks: 0.6 } as const
const plant_limit_ms = 10
const plant_rows = quickOr(100, 2500)
const rows = quickOr(100, 10_000)
const rounds = quickOr(1, 31)

await using plant = await servedPlant({ inverters: 1, strings: 24 })
const names = Object.keys(inverterValues)
// The driver reads a table with a column for each value.
await plant.db.execute('CREATE TABLE driver_readings (LIKE inverter_readings)')
await plant.db.execute(
  `INSERT INTO driver_readings (site_id, inverter_id, measured_at, quality, ${names})
     SELECT 'plant', 1, at, 'good', ${Object.values(inverterValues).join(', ')}
     FROM generate_series(1, ${rows}) AS nth,
       LATERAL (SELECT date_trunc('second', now()) - nth * interval '5 s' AS at) AS instants`,
)
await plant.db.execute('CREATE INDEX ON driver_readings (site_id, inverter_id, measured_at)')
await storeRows(plant.db, 'inverter', 'driver_readings')
await plant.db.execute('VACUUM ANALYZE inverter_readings, driver_readings')

const columns = columnsOf('inverter').filter((name) => name !== 'inverter_id')
const statement = `SELECT ${columns} FROM driver_readings
    WHERE site_id = $1 AND inverter_id = $2 AND measured_at >= $3 AND measured_at < $4
    ORDER BY measured_at LIMIT $5`
const start = new Date(Date.now() - 86_400_000)
const end = new Date()
const byDriver = async () => {
  const found = await plant.peer.query(statement, ['plant', 1, start, end, rows])
  return Buffer.from(JSON.stringify(found.rows)).length
}
const window = `start=${start.toISOString()}&end=${end.toISOString()}`
const fetchRows = () => plant.fetch(`/inverters/1/history?${window}&limit=${rows}`)
async function compare(from: keyof typeof limits): Promise<void> {
  const answer = JSON.parse(String(await fetchRows()))
  if (answer.data.length !== rows) throw new Error(`${answer.data.length} rows came back`)
  for (let warming = 0; warming < 5; warming += 1) {
    await byDriver()
    await fetchRows()
  }
  const { ours_ms, peer_ms, ratio } = await inTurns({ ours: fetchRows, peer: byDriver, rounds })
  tell(
    ratio <= limits[from],
    `history of ${rows} rows from ${from}: API ${ours_ms.toFixed(0)} ms, driver and ` +
      `JSON.stringify ${peer_ms.toFixed(0)} ms; ratio ${ratio.toFixed(2)} (median of ${rounds}), ` +
      `limit ${limits[from]}`,
  )
}

await compare('rows')
const hours = await plant.db.query<{ device_id: number; hour_at: Date }>(
  `SELECT DISTINCT inverter_id AS device_id, date_bin('1 hour', measured_at, 'epoch') AS hour_at
     FROM inverter_readings`,
)
await plant.db.transaction((transaction) => packHours(transaction, 'plant', 'inverter', hours))
await plant.db.execute('TRUNCATE inverter_readings')
await plant.db.execute(
  `INSERT INTO packed_before (kind, before_at, announced_at) VALUES ('inverter', now(), now())`,
)
await compare('blocks')

await plant.db.execute(
  `INSERT INTO logger_readings (site_id, logger_id, measured_at, quality, ac_power_kw, dc_power_kw,
       reactive_power_kvar, apparent_power_kva, power_factor, frequency_hz, energy_total_kwh,
       available_power_kw, poa_irradiance_w_m2, module_temperature_c, ambient_temperature_c,
       inverters_online, inverters_total)
     SELECT 'plant', 1, now() - nth * interval '10 s', 'good', 900 * random(), 920 * random(),
       random(), 900 * random(), 1, 50 + random() / 10, 81000 + random(), 900 * random(),
       900 * random(), 50 * random(), 30 * random(), 10, 10
     FROM generate_series(1, ${plant_rows}) AS nth`,
)
await plant.db.execute('VACUUM ANALYZE logger_readings')
const fetchPlant = () => plant.fetch(`/loggers/1/history?${window}&limit=${plant_rows}`)
tellLatency(
  `history of ${plant_rows} rows of 15 values`,
  await timesOf(fetchPlant, { rounds: quickOr(1, 100), warmings: 10 }),
  plant_limit_ms,
)
