/**
 * Latency of live reads of a battery with 400 clusters of 416 cells each: one cluster with its
 * cells, the list of clusters, and the dashboard of the unit, compared with limits.
 */

import { loadavg } from 'node:os'
import { addBatteryDay } from './fixtures/battery-day.ts'
import { tellLatency, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const clusters = quickOr(8, 400)
const [modules, cells_per_module] = [26, 16]
const cells = modules * cells_per_module
const warmings = quickOr(1, 30)
const requests = quickOr(5, 400)

interface Measured {
  what: string
  path: (request: number) => string
  /** p99, ms; null: no limit is set. */
  limit_ms: number | null
}

const measured: Measured[] = [
  {
    what: 'one cluster with its cells',
    path: (request) => `/bess/1/clusters/${(request * 37) % clusters}`,
    limit_ms: 20,
  },
  { what: 'dashboard', path: () => '/bess/1/dashboard', limit_ms: 50 },
  { what: 'all clusters', path: () => '/bess/1/clusters', limit_ms: null },
  { what: 'current', path: () => '/bess/1/current', limit_ms: null },
  { what: 'envelope', path: () => '/bess/1/envelope', limit_ms: null },
]

await using plant = await servedPlant({ inverters: 20, strings: 24 })
await addUnit()
await addBatteryDay(plant.db, 'plant', new Date())
await plant.db.execute('VACUUM ANALYZE')
const one = JSON.parse(String(await plant.fetch('/bess/1/clusters/7')))
if (one.cell_voltages_mv.length !== cells) throw new Error('cells are missing')
if (!one.cell_voltages_mv.every((value: unknown) => typeof value === 'number')) {
  throw new Error('cells were not read')
}
process.stdout.write(
  `battery of ${clusters} clusters and ${clusters * cells} cells, load ` +
    `${loadavg()[0]!.toFixed(1)}\n`,
)
for (const { what, path, limit_ms } of measured) {
  let bytes = 0
  const ask = async (request: number) => {
    bytes = (await plant.fetch(path(request + warmings))).length
  }
  const times_ms = await timesOf(ask, { rounds: requests, warmings })
  tellLatency(`${what} (${(bytes / 1000).toFixed(0)} kB)`, times_ms, limit_ms)
}

/** A unit with readings of two days. */
async function addUnit(): Promise<void> {
  const { db } = plant
  await db.execute(
    `INSERT INTO batteries (site_id, bess_id, name, logger_id, chemistry, coupling,
       rated_energy_kwh, rated_charge_power_kw, rated_discharge_power_kw, soc_min_pct, soc_max_pct,
       cluster_count, modules_per_cluster, cells_per_module, temperature_sensors_per_module, pcs,
       created_at, updated_at)
     SELECT 'plant', 1, 'Battery', 1, 'lfp', 'ac', 150000, 75000, 75000, 5, 95, $1, $2, $3, 8,
       jsonb_agg(jsonb_build_object('pcs_idx', nth, 'rated_power_kw', 2500, 'driver', 'sunspec')),
       now(), now()
     FROM generate_series(0, 29) AS nth`,
    [clusters, modules, cells_per_module],
  )
  const values = `state, power_kw, soc_pct, soh_pct, dc_voltage_v, max_charge_power_kw,
    max_discharge_power_kw, charged_total_kwh, discharged_total_kwh`
  await db.execute(
    `INSERT INTO bess_readings (site_id, bess_id, measured_at, quality, ${values})
     SELECT 'plant', 1, at, 'good', 'discharging', 1000 * random(), 60, 98, 1300, 70000, 70000,
       1e6 + n, 9e5 + n
     FROM generate_series(0, 86399) AS n,
       LATERAL (SELECT now() - (86399 - n) * interval '2 s' AS at) AS instants`,
  )
  await db.execute(
    `INSERT INTO bess_latest
     SELECT r.*, r.measured_at FROM bess_readings r ORDER BY r.measured_at DESC LIMIT 1`,
  )
  await db.execute(
    `INSERT INTO pcs_latest (site_id, bess_id, pcs_idx, measured_at, quality, state, ac_power_kw,
       dc_power_kw, received_at)
     SELECT 'plant', 1, nth, now(), 'good', 'running', 30, 31, now()
     FROM generate_series(0, 29) AS nth`,
  )
  await db.execute(
    `INSERT INTO cluster_latest (site_id, bess_id, cluster_idx, measured_at, quality, state,
       soc_pct, voltage_v, current_a, cell_voltage_min_mv, cell_voltage_max_mv, received_at)
     SELECT 'plant', 1, nth, now(), 'good', 'discharging', 60, 1300, 20 * random(), 3280, 3310,
       now()
     FROM generate_series(0, $1::int - 1) AS nth`,
    [clusters],
  )
  const noise = (from: string, count: number) =>
    `ARRAY(SELECT (${from})::real FROM generate_series(1, ${count}) WHERE nth >= 0)`
  await db.execute(
    `INSERT INTO cells_latest (site_id, bess_id, cluster_idx, measured_at, quality,
       cell_voltage_mv, cell_temperature_c, cell_balancing, module_voltage_v, received_at)
     SELECT 'plant', 1, nth, now(), 'good', ${noise('3290 + floor(20 * random())', cells)},
       ${noise('24 + round((4 * random())::numeric, 1)', 8 * modules)},
       ${noise('floor(1.05 * random())', cells)}, ${noise('52.5 + random()', modules)}, now()
     FROM generate_series(0, $1::int - 1) AS nth`,
    [clusters],
  )
}
