import { type Paged, pageOf } from '../../http/cursor.ts'
import { type ExportItems, fetched } from '../../http/export-items.ts'
import type { LastSwitching, NodeRow } from '../../plant/sensor-node.ts'
import type { Queries } from '../../storage/database.ts'
import type { Stored } from '../../storage/records.ts'
import type { StoredReading } from '../blocks/store.ts'
import { type RelaySwitching, switchingRecord } from './relays.ts'

/** A node as the source of a history, whose items have the values by channel name as well. */
export function nodeItems({
  node_number,
  channels,
}: Pick<NodeRow, 'channels'> & { node_number: number }) {
  const valuesIn = ({ channel_values }: StoredReading) =>
    (channel_values ?? []) as readonly (number | null)[]
  return {
    device_id: node_number,
    channels,
    names: ['quality', 'channel_values', 'values'],
    itemOf: (reading: StoredReading) => ({
      measured_at: new Date(reading.measured_at).toISOString(),
      quality: reading['quality'],
      channel_values: reading['channel_values'],
      values: Object.fromEntries(
        channels.map(({ channel }, nth) => [channel, valuesIn(reading)[nth] ?? null]),
      ),
    }),
    split: (reading: StoredReading) => [{ ...reading, values: valuesIn(reading) }],
  }
}

/** Nodes by id with their latest values; all or one. */
export const liveNodes = (db: Queries, site_id: string, node_id?: string) =>
  db.query<NodeRow & { node_number: number }>(live, [site_id, node_id ?? null])

/** The latest switching of each relay, of one node or of all. */
export const lastSwitchings = (db: Queries, site_id: string, node_id?: string) =>
  db.query<LastSwitching>(newestByRelay, [site_id, node_id ?? null])

interface SwitchingPage {
  node_id: string | null
  after: { switched_at: string; command_id: number } | null
  page_size: number
}

/** Switchings, newest first, of one node or of all; `count` covers all pages. */
export async function readSwitchings(
  db: Queries,
  site_id: string,
  { node_id, after, page_size }: SwitchingPage,
): Promise<Paged<Stored<RelaySwitching>> & { count: number }> {
  const where = 'e.site_id = $1 AND ($2::text IS NULL OR e.node_id = $2)'
  const place = after === null ? [] : [after.switched_at, after.command_id]
  const before =
    after === null ? '' : 'AND (e.at, e.relay_event_id) < ($4::timestamptz, $5::bigint)'
  const [rows, [counted]] = await Promise.all([
    db.query<Stored<RelaySwitching>>(
      `SELECT ${switching} WHERE ${where} ${before}
       ORDER BY e.at DESC, e.relay_event_id DESC LIMIT $3`,
      [site_id, node_id, page_size + 1, ...place],
    ),
    db.query<{ count: number }>(`SELECT count(*) AS count FROM relay_events e WHERE ${where}`, [
      site_id,
      node_id,
    ]),
  ])
  const placeOf = ({ switched_at, command_id }: Stored<RelaySwitching>) => ({
    switched_at,
    command_id,
  })
  return { ...pageOf(rows, page_size, placeOf), count: counted!.count }
}

/** All switchings, newest first, of one node or of all. */
export const switchingsExport = (site_id: string, node_id: string | null): ExportItems => ({
  async *items(queries) {
    const newestFirst = `SELECT ${switching}
      WHERE e.site_id = $1 AND ($2::text IS NULL OR e.node_id = $2)
      ORDER BY e.at DESC, e.relay_event_id DESC`
    const rows = fetched<Stored<RelaySwitching>>(queries, newestFirst, [site_id, node_id])
    for await (const batch of rows) yield batch.map(switchingRecord)
  },
})

const live = `
  SELECT n.node_number, n.node_id, n.name, n.type, n.location_id, n.logger_id, n.manufacturer, n.model,
         n.serial_number, n.report_s, n.channels, n.created_at, n.updated_at, n.retired_at,
         l.measured_at, l.received_at, l.quality, l.channel_values,
         d.comm_state AS edge_comm_state, d.last_ok_at
  FROM nodes n
  LEFT JOIN node_latest l ON l.site_id = n.site_id AND l.node_number = n.node_number
  LEFT JOIN device_status d ON d.site_id = n.site_id AND d.kind = 'node' AND d.id = n.node_id
  WHERE n.site_id = $1 AND ($2::text IS NULL OR n.node_id = $2)
  ORDER BY n.node_id`

// One index look-up for each relay, since the history of all relays is long.
const newestByRelay = `
  SELECT n.node_id, c.channel ->> 'channel' AS channel, e.at, e.cause AS source, e.reason
  FROM nodes n
  CROSS JOIN LATERAL jsonb_array_elements(n.channels) AS c (channel)
  CROSS JOIN LATERAL (
    SELECT at, cause, reason FROM relay_events
    WHERE site_id = $1 AND node_id = n.node_id AND channel = c.channel ->> 'channel'
    ORDER BY at DESC LIMIT 1
  ) e
  WHERE n.site_id = $1 AND ($2::text IS NULL OR n.node_id = $2)
    AND c.channel ->> 'kind' = 'relay'`

/** Columns and tables of a relay switching. */
const switching = `
  e.relay_event_id AS command_id, e.node_id, n.location_id, e.channel,
  (SELECT c ->> 'label' FROM jsonb_array_elements(n.channels) c
   WHERE c ->> 'channel' = e.channel) AS label,
  CASE WHEN e.to_state THEN 'on' ELSE 'off' END AS command,
  e.from_state AS previous_state, e.to_state AS resulting_state, e.cause AS source, e.reason,
  e.at AS switched_at, e.received_at
  FROM relay_events e
  LEFT JOIN nodes n ON n.site_id = e.site_id AND n.node_id = e.node_id`
