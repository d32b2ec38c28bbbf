import type { Channel } from '@heliograph/domain/node'
import { type Paged, pageOf } from '../../http/cursor.ts'
import type { ExportColumn, ExportRows } from '../../http/export-rows.ts'
import type { LastSwitching, NodeRow } from '../../plant/sensor-node.ts'
import type { Queries } from '../../storage/database.ts'
import {
  type HistoryExport,
  type HistoryRequest,
  historyRows,
  readHistory,
  readingColumns,
} from '../history.ts'
import type { RelaySwitching } from './relays.ts'

export interface SwitchingRow extends Omit<RelaySwitching, 'switched_at' | 'received_at'> {
  at: Date
  received_at: Date
}

/** The channels of the node, in the order of `channel_values`. */
interface NodeChannels {
  channels: readonly Channel[]
}

/** Names of channels hold nothing that SQL or JSON would quote: see `nodeIdPattern`. */
function columnsOf({ channels }: NodeChannels): ExportColumn[] {
  const fields = channels.map(({ channel }, index) => {
    const comma = index === 0 ? '' : ','
    return `'${comma}"${channel}":' || coalesce(channel_values[${index + 1}]::text, 'null')`
  })
  const values: ExportColumn = {
    name: 'values',
    sql: ["'{'", ...fields, "'}'"].join(' || '),
    type: 'json',
  }
  return [...readingColumns('node'), values]
}

/** Nodes by id, with their last values; one of them when `node_id` is given. */
export const liveNodes = (db: Queries, site_id: string, node_id?: string): Promise<NodeRow[]> =>
  db.query<NodeRow>(live, [site_id, node_id ?? null])

/** The number under which the readings of a node are stored; null for an unknown node. */
export async function nodeNumber(
  db: Queries,
  site_id: string,
  node_id: string,
): Promise<number | null> {
  const [node] = await db.query<{ node_number: number }>(
    'SELECT node_number FROM nodes WHERE site_id = $1 AND node_id = $2',
    [site_id, node_id],
  )
  return node?.node_number ?? null
}

export const nodeHistory = (db: Queries, request: HistoryRequest & NodeChannels) =>
  readHistory(db, 'node', request, columnsOf(request))

export const nodeHistoryRows = (request: HistoryExport & NodeChannels): ExportRows =>
  historyRows('node', request, columnsOf(request))

/** The newest switching of each relay, of one node or of all. */
export const lastSwitchings = (
  db: Queries,
  site_id: string,
  node_id?: string,
): Promise<LastSwitching[]> => db.query<LastSwitching>(newestByRelay, [site_id, node_id ?? null])

interface SwitchingPage {
  node_id: string | null
  after: { switched_at: string; command_id: number } | null
  limit: number
}

/** Switchings, newest first, of one node or of all; `count` covers all pages. */
export async function readSwitchings(
  db: Queries,
  site_id: string,
  { node_id, after, limit }: SwitchingPage,
): Promise<Paged<SwitchingRow> & { count: number }> {
  const where = 'e.site_id = $1 AND ($2::text IS NULL OR e.node_id = $2)'
  const place = after === null ? [] : [after.switched_at, after.command_id]
  const before =
    after === null ? '' : 'AND (e.at, e.relay_event_id) < ($4::timestamptz, $5::bigint)'
  const [rows, [counted]] = await Promise.all([
    db.query<SwitchingRow>(
      `SELECT ${switching} WHERE ${where} ${before}
       ORDER BY e.at DESC, e.relay_event_id DESC LIMIT $3`,
      [site_id, node_id, limit + 1, ...place],
    ),
    db.query<{ count: number }>(`SELECT count(*) AS count FROM relay_events e WHERE ${where}`, [
      site_id,
      node_id,
    ]),
  ])
  const placeOf = ({ at, command_id }: SwitchingRow) => ({ switched_at: at, command_id })
  return { ...pageOf(rows, limit, placeOf), count: counted!.count }
}

const live = `
  SELECT n.node_id, n.name, n.type, n.location_id, n.logger_id, n.manufacturer, n.model,
         n.serial_number, n.report_s, n.channels, n.created_at, n.updated_at, n.retired_at,
         l.measured_at, l.received_at, l.quality, l.channel_values,
         d.comm_state AS edge_comm_state, d.last_ok_at
  FROM nodes n
  LEFT JOIN node_latest l ON l.site_id = n.site_id AND l.node_number = n.node_number
  LEFT JOIN device_status d ON d.site_id = n.site_id AND d.kind = 'node' AND d.id = n.node_id
  WHERE n.site_id = $1 AND ($2::text IS NULL OR n.node_id = $2)
  ORDER BY n.node_id`

// One index look-up for each relay: the history of all of them is long.
const newestByRelay = `
  SELECT n.node_id, c.channel ->> 'channel' AS channel, e.at, e.cause AS source, e.reason
  FROM nodes n
  CROSS JOIN LATERAL jsonb_array_elements(n.channels) AS c (channel)
  CROSS JOIN LATERAL (
    SELECT at, cause, reason FROM relay_events
    WHERE site_id = n.site_id AND node_id = n.node_id AND channel = c.channel ->> 'channel'
    ORDER BY at DESC LIMIT 1
  ) e
  WHERE n.site_id = $1 AND ($2::text IS NULL OR n.node_id = $2)
    AND c.channel ->> 'kind' = 'relay'`

/** Columns and tables of a relay switching. */
export const switching = `
  e.relay_event_id AS command_id, e.node_id, n.location_id, e.channel,
  (SELECT c ->> 'label' FROM jsonb_array_elements(n.channels) c
   WHERE c ->> 'channel' = e.channel) AS label,
  CASE WHEN e.to_state THEN 'on' ELSE 'off' END AS command,
  e.from_state AS previous_state, e.to_state AS resulting_state, e.cause AS source, e.reason,
  e.at, e.received_at
  FROM relay_events e
  LEFT JOIN nodes n ON n.site_id = e.site_id AND n.node_id = e.node_id`
