/**
 * Time of 10,000 rows of an inverter's history through the API, relative to the driver's own query
 * of the same rows and JSON.stringify, in turns.
 */

import { columnsOf } from '@heliograph/domain/readings'
import { inTurns, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'

const limit = 1
const rows = quickOr(100, 10_000)
const rounds = quickOr(1, 31)

await using plant = await servedPlant({ inverters: 1, strings: 24 })
const names = Object.keys(inverterValues)
await plant.db.execute(
  `INSERT INTO inverter_readings (site_id, inverter_id, measured_at, quality, ${names})
     SELECT 'plant', 1, at, 'good', ${Object.values(inverterValues).join(', ')}
     FROM generate_series(1, ${rows}) AS nth,
       LATERAL (SELECT date_trunc('second', now()) - nth * interval '5 s' AS at) AS instants`,
)
await plant.db.execute('VACUUM ANALYZE inverter_readings')

const columns = columnsOf('inverter').filter((name) => name !== 'inverter_id')
const statement = `SELECT ${columns} FROM inverter_readings
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
const answer = JSON.parse(String(await fetchRows()))
if (answer.data.length !== rows) throw new Error(`${answer.data.length} rows came back`)
for (let warming = 0; warming < 5; warming += 1) {
  await byDriver()
  await fetchRows()
}
const { ours_ms, peer_ms, ratio } = await inTurns({ ours: fetchRows, peer: byDriver, rounds })
tell(
  ratio <= limit,
  `history of ${rows} rows: API ${ours_ms.toFixed(0)} ms, driver and JSON.stringify ` +
    `${peer_ms.toFixed(0)} ms; ratio ${ratio.toFixed(2)} (median of ${rounds}), limit ${limit}`,
)
