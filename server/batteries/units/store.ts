import type { Clock } from '@heliograph/domain/clock'
import { dayStart } from '@heliograph/domain/local-day'
import { readingKinds } from '@heliograph/domain/readings'
import type { ExportRows } from '../../http/export-rows.ts'
import type { JsonText } from '../../http/json-text.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import type { Database } from '../../storage/database.ts'
import type { HistoryExport, HistoryRequest } from '../../telemetry/history.ts'
import {
  type LiveUnit,
  type PcsRow,
  readPcs,
  readUnits,
  type UnitFacts,
  type UnitsAsked,
} from '../unit-store.ts'
import type { CellsRow, ClusterRow } from './clusters.ts'
import { createFleetReads, type FleetReads } from './fleet-facts.ts'
import {
  type Columns,
  pcsHistoryRows,
  readPcsHistory,
  readUnitHistory,
  unitHistoryRows,
} from './history.ts'
import type { SetupRow } from './setup.ts'

export interface BessStore {
  /** Units by id, with what they measured last. */
  units(asked: UnitsAsked): Promise<LiveUnit[]>
  /** Of the inventory; null where there is no such unit. */
  unit(site_id: string, bess_id: number): Promise<UnitFacts | null>
  pcs(site_id: string, bess_id: number): Promise<PcsRow[]>
  /** Every cluster of the inventory, by index. */
  clusters(site_id: string, bess_id: number): Promise<ClusterRow[]>
  /** Null where the inventory has no such unit or cluster. */
  cells(site_id: string, bess_id: number, cluster_idx: number): Promise<CellsRow | null>
  setup(site_id: string, bess_id: number): Promise<SetupRow>
  history(request: HistoryRequest, columns: Columns): Promise<JsonText>
  historyRows(request: HistoryExport, columns: Columns): ExportRows
  pcsHistory(request: HistoryRequest, columns: Columns): Promise<JsonText>
  pcsHistoryRows(request: HistoryExport, columns: Columns): ExportRows
  fleet: FleetReads
}

export function createBessStore(
  db: Database,
  { clock, sites }: { clock: Clock; sites: { facts(site_id: string): Promise<SiteFacts> } },
): BessStore {
  return {
    units: (asked) => readUnits(db, asked),
    async unit(site_id, bess_id) {
      const [row] = await db.query<UnitFacts>(
        'SELECT * FROM batteries WHERE site_id = $1 AND bess_id = $2',
        [site_id, bess_id],
      )
      return row ?? null
    },
    pcs: (site_id, bess_id) => readPcs(db, site_id, bess_id),
    clusters: (site_id, bess_id) => db.query<ClusterRow>(clusters, [site_id, bess_id]),
    async cells(site_id, bess_id, cluster_idx) {
      const [row] = await db.query<CellsRow>(cells, [site_id, bess_id, cluster_idx])
      return row ?? null
    },
    async setup(site_id, bess_id) {
      const [row] = await db.query<SetupRow>(setup, [site_id, bess_id])
      return row!
    },
    history: (request, columns) => readUnitHistory(db, request, columns),
    historyRows: unitHistoryRows,
    pcsHistory: (request, columns) => readPcsHistory(db, request, columns),
    pcsHistoryRows,
    fleet: createFleetReads(db, {
      clock,
      async dayStartOf(site_id, now) {
        const { timezone } = await sites.facts(site_id)
        return dayStart(now, timezone)
      },
    }),
  }
}

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
  SELECT s.read_at, s.changed_at, s.setup, bms.connection AS bms_connection,
    bms.unit_id AS bms_unit_id, coalesce(site.inventory ->> 'timezone', 'UTC') AS timezone
  FROM sites site
  LEFT JOIN battery_setups s ON s.site_id = site.site_id AND s.bess_id = $2
  LEFT JOIN LATERAL (
    SELECT unit -> 'bms' ->> 'connection' AS connection,
      (unit -> 'bms' ->> 'unit_id')::int AS unit_id
    FROM jsonb_array_elements(site.inventory -> 'batteries') AS units (unit)
    WHERE (unit ->> 'bess_id')::int = $2
  ) AS bms ON true
  WHERE site.site_id = $1`
