import { readingKinds } from '@heliograph/domain/readings'
import type { Queries } from '../../storage/database.ts'
import type { UnitId } from '../earnings.ts'
import type { CellsRow, ClusterRow } from './clusters.ts'
import type { SetupRow } from './setup.ts'

/** Every cluster of the inventory, by index; none for an unknown unit. */
export const readClusters = (db: Queries, { site_id, bess_id }: UnitId): Promise<ClusterRow[]> =>
  db.query<ClusterRow>(clusters, [site_id, bess_id])

/** null for an unknown unit or cluster. */
export const readCells = (
  db: Queries,
  { site_id, bess_id, cluster_idx }: UnitId & { cluster_idx: number },
) => db.queryOne<CellsRow>(cells, [site_id, bess_id, cluster_idx])

/** null for an unknown unit. */
export const readSetup = (db: Queries, { site_id, bess_id }: UnitId) =>
  db.queryOne<SetupRow>(setup, [site_id, bess_id])

const columnsOf = (kind: 'cluster' | 'cells', table: string) =>
  Object.keys(readingKinds[kind].columns)
    .map((name) => `${table}.${name}`)
    .join(', ')

const cluster = `
  index.cluster_idx, b.modules_per_cluster, b.cells_per_module,
  l.measured_at, l.received_at, l.quality, ${columnsOf('cluster', 'l')}`

const newest = (table: string, name: string) => `
  LEFT JOIN ${table} ${name} ON ${name}.site_id = b.site_id AND ${name}.bess_id = b.bess_id
    AND ${name}.cluster_idx = index.cluster_idx`

const clusters = {
  name: 'battery_clusters_latest',
  text: `
    SELECT ${cluster}
    FROM batteries b
    CROSS JOIN generate_series(0, b.cluster_count - 1) AS index (cluster_idx)
    ${newest('cluster_latest', 'l')}
    WHERE b.site_id = $1 AND b.bess_id = $2
    ORDER BY index.cluster_idx`,
}

const cells = {
  name: 'battery_cells_latest',
  text: `
    SELECT ${cluster}, b.temperature_sensors_per_module,
      c.measured_at AS cells_measured_at, c.quality AS cells_quality, ${columnsOf('cells', 'c')}
    FROM batteries b
    CROSS JOIN (SELECT $3::int AS cluster_idx) AS index
    ${newest('cluster_latest', 'l')}
    ${newest('cells_latest', 'c')}
    WHERE b.site_id = $1 AND b.bess_id = $2 AND index.cluster_idx < b.cluster_count`,
}

const setup = `
  SELECT b.bess_id, b.nominal_voltage_v, b.ramp_rate_kw_s, s.read_at, s.changed_at, s.setup,
    bms.connection AS bms_connection, bms.unit_id AS bms_unit_id,
    coalesce(site.inventory ->> 'timezone', 'UTC') AS timezone
  FROM batteries b
  JOIN sites site ON site.site_id = b.site_id
  LEFT JOIN battery_setups s ON s.site_id = b.site_id AND s.bess_id = b.bess_id
  LEFT JOIN LATERAL (
    SELECT unit -> 'bms' ->> 'connection' AS connection,
      (unit -> 'bms' ->> 'unit_id')::int AS unit_id
    FROM jsonb_array_elements(site.inventory -> 'batteries') AS units (unit)
    WHERE (unit ->> 'bess_id')::int = $2
  ) AS bms ON true
  WHERE b.site_id = $1 AND b.bess_id = $2`
