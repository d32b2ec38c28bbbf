/** Historical readings of units and their PCS, written as JSON by PostgreSQL. */
import { type ColumnType, readingKinds } from '@heliograph/domain/readings'
import type { TObject } from 'typebox'
import { type ExportColumn, type ExportRows, itemJson } from '../../http/export-rows.ts'
import type { JsonText } from '../../http/json-text.ts'
import { telemetry_rows } from '../../http/params.ts'
import { type SeriesWindow, seriesMeta } from '../../http/time-windows.ts'
import { iso } from '../../plant/frame.ts'
import type { Queries } from '../../storage/database.ts'
import { type DeviceHistory, seriesText } from '../../telemetry/history.ts'
import { BatteryReading } from '../current.ts'
import { PcsReading } from './pcs.ts'

type Column = Omit<ExportColumn, 'name'>

const flag = (sql: string): Column => ({ sql: `(${sql} = 1)`, type: 'boolean' })
// As numeric, the difference of reals has no binary noise.
const less = (a: string, b: string): Column => ({
  sql: `(${a}::numeric - ${b}::numeric)`,
  type: 'number',
})
const place = (of: string): Column => ({
  sql: `(${of}_cluster_idx || coalesce('.' || ${of}_module_idx, ''))`,
  type: 'word',
})

/** Like `energyLeft` of envelope.ts, by the present operating window. */
const energyLeft = (span_pct: string, reported_kwh: string): Column => ({
  sql: `(
    SELECT CASE WHEN soc_pct IS NOT NULL THEN round(greatest(0, least(${reported_kwh}::numeric,
      greatest(0, ${span_pct}) / 100 * coalesce(soh_pct, 100)::numeric
        / (b.soc_max_pct - b.soc_min_pct)::numeric * coalesce(b.usable_energy_kwh,
          b.rated_energy_kwh * (b.soc_max_pct - b.soc_min_pct) / 100)::numeric)), 3) END
    FROM batteries b
    WHERE b.site_id = bess_readings.site_id AND b.bess_id = bess_readings.bess_id)`,
  type: 'number',
})

/** Fields that are no number or word in a column of their name. */
const computed: Readonly<Record<string, Column>> = {
  measured_at: { sql: 'measured_at', type: 'instant' },
  quality: { sql: 'quality', type: 'word' },
  local_remote: { sql: 'control_place', type: 'word' },
  available_energy_kwh: energyLeft(
    'soc_pct::numeric - greatest(b.soc_min_pct, coalesce(b.soc_reserve_pct, 0))::numeric',
    'available_energy_kwh',
  ),
  energy_to_full_kwh: energyLeft('b.soc_max_pct::numeric - soc_pct::numeric', 'energy_to_full_kwh'),
  dod_pct: less('100', 'soc_pct'),
  cell_voltage_spread_mv: less('cell_voltage_max_mv', 'cell_voltage_min_mv'),
  cell_temperature_spread_c: less('cell_temperature_max_c', 'cell_temperature_min_c'),
  cell_voltage_min_id: place('cell_voltage_min'),
  cell_voltage_max_id: place('cell_voltage_max'),
  cell_temperature_min_id: place('cell_temperature_min'),
  cell_temperature_max_id: place('cell_temperature_max'),
  heartbeat_ok: flag('heartbeat_ok'),
  ac_breaker_closed: flag('ac_breaker_closed'),
  dc_contactor_closed: flag('dc_contactor_closed'),
}

function columnsOf(kind: 'bess' | 'pcs', reading: TObject): ExportColumn[] {
  const measured: Readonly<Record<string, ColumnType>> = readingKinds[kind].columns
  return Object.keys(reading.properties).map((name) => {
    const type = measured[name] === 'text' ? 'word' : 'number'
    return { name, ...(computed[name] ?? { sql: name, type }) }
  })
}

export const unitColumns = columnsOf('bess', BatteryReading)
const pcsColumns = columnsOf('pcs', PcsReading)

/**
 * Readings by instant and PCS. A page ends with a complete instant, so that the next page skips
 * nothing. A single instant with more PCS than the limit is cut, without a next page.
 */
export async function readPcsHistory(db: Queries, request: DeviceHistory): Promise<JsonText> {
  const { window } = request
  const limit = request.limit ?? telemetry_rows.by_default
  const bounds = boundsOf(request)
  const [[page], [counted]] = await Promise.all([
    db.query<PcsPage>(
      `SELECT count(*)::int AS returned, coalesce(bool_or(is_cut), false) AS is_cut,
         string_agg(${itemJson(pcsColumns)}, ',' ORDER BY measured_at, pcs_idx) AS items,
         min(measured_at) AS first_at, max(measured_at) AS last_at
       FROM (${pageOf(window)}) AS page`,
      [...bounds, limit],
    ),
    db.query<{ count: number }>(`SELECT count(*) AS count FROM ${readingsIn(window)}`, bounds),
  ])
  const { returned, is_cut, items, first_at, last_at } = page!
  return seriesText(
    items ?? '',
    seriesMeta(window, {
      // A reading may have arrived between the two statements.
      count: Math.max(counted!.count, returned),
      returned,
      first_time: is_cut ? null : iso(first_at),
      last_time: is_cut ? null : iso(last_at),
    }),
  )
}

interface PcsPage {
  returned: number
  /** The page is a part of a single instant. */
  is_cut: boolean
  items: string | null
  first_at: Date | null
  last_at: Date | null
}

export function pcsHistoryRows(request: DeviceHistory): ExportRows {
  const { window, limit = null } = request
  const from = limit === null ? readingsIn(window) : `(${pageOf(window)}) AS page`
  return {
    columns: pcsColumns,
    from: `FROM ${from} ORDER BY measured_at, pcs_idx`,
    values: limit === null ? boundsOf(request) : [...boundsOf(request), limit],
  }
}

const boundsOf = ({ site_id, device_id, window }: DeviceHistory) => [
  site_id,
  device_id,
  window.end,
  window.start,
]

const readingsIn = ({ start }: SeriesWindow) => `pcs_readings
  WHERE site_id = $1 AND bess_id = $2 AND measured_at < $3
    AND ${start === null ? '$4::timestamptz IS NULL' : 'measured_at >= $4'}`

/** Reads one row more than the limit to find whether the last instant is complete. */
function pageOf(window: SeriesWindow): string {
  const nearest = window.newest ? 'DESC' : 'ASC'
  return `
    SELECT *, cut_at IS NOT NULL AND cut_at = near_at AS is_cut
    FROM (
      SELECT *,
        max(measured_at) FILTER (WHERE nth = $5::int + 1) OVER () AS cut_at,
        max(measured_at) FILTER (WHERE nth = 1) OVER () AS near_at
      FROM (
        SELECT *, row_number() OVER (ORDER BY measured_at ${nearest}, pcs_idx) AS nth
        FROM ${readingsIn(window)}
        ORDER BY measured_at ${nearest}, pcs_idx LIMIT $5::int + 1
      ) AS nearest
    ) AS known
    WHERE nth <= $5::int AND (cut_at IS NULL OR measured_at <> cut_at OR cut_at = near_at)`
}
