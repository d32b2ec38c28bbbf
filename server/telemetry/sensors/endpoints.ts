import { type Channel, channelKinds, channelUnits, nodeTypes } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorList, cursorList, List, list } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { exampleOf } from '../../http/example.ts'
import { pageItems } from '../../http/export-items.ts'
import * as field from '../../http/fields.ts'
import {
  LocationId,
  LoggerId,
  limit,
  Metric,
  Named,
  Nullable,
  Timestamp,
} from '../../http/params.ts'
import { nodeNowExample } from '../../plant/device-examples.ts'
import { frame, frameOf, inventoried, isStale } from '../../plant/frame.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import { NodeId, type NodeRow, nodeNow, SensorNow } from '../../plant/sensor-node.ts'
import type { Queries } from '../../storage/database.ts'
import { served } from '../../storage/records.ts'
import { deviceHistory, ReadingSeries, seriesExample } from '../history.ts'
import { RelaySwitching, switchingRecord } from './relays.ts'
import { lastSwitchings, liveNodes, nodeItems, readSwitchings, switchingsExport } from './store.ts'

const Limit = (example: number) => Metric('Limit of a temperature, °C; else null.', example)

const NodeChannel = Named('SensorChannel', {
  channel: Type.String({ examples: ['oil'] }),
  kind: Type.Enum([...channelKinds]),
  label: Type.String({ examples: ['Top oil'] }),
  role: Nullable(Type.Enum(['ambient', 'oil', 'winding', 'busbar'], { examples: ['oil'] })),
  unit: field.TextOrNull('Null for a state: 1 is open or on, else 0.', '°C'),
  value: Metric('Latest value in `unit`; null if not measured. See `quality` of the node.', 61.5),
  warn_high_c: Limit(85),
  alarm_high_c: Limit(95),
  relay: field.TextOrNull('The relay channel of a fan; else null.'),
})

const statusRule =
  '`unknown`: never seen. `offline`: the connection ended, or three reports are missing. ' +
  '`degraded`: a channel was not measured. `online`: otherwise.'

type SensorNode = Static<typeof SensorNode>
const SensorNode = Named('SensorNode', {
  node_id: NodeId,
  name: Type.String({ examples: ['Transformer station 1'] }),
  location_id: Nullable(LocationId),
  logger_id: Nullable(LoggerId),
  type: Type.Enum([...nodeTypes]),
  manufacturer: Nullable(Type.String()),
  model: Nullable(Type.String()),
  serial_number: Nullable(Type.String()),
  status: field.OneOf(['online', 'offline', 'degraded', 'unknown'], statusRule),
  ...frame,
  last_seen_at: field.AtOrNull('When the node was last seen.'),
  report_interval_s: field.Num('Interval of the reports, s.', 30),
  channels: Type.Array(NodeChannel, { description: 'In the order of `channel_values`.' }),
  relay_count: Type.Integer(),
  fan_count: Type.Integer(),
  ...inventoried,
})

const nodeExample = exampleOf(SensorNode, {
  measured_at: '2026-06-21T10:00:00.000Z',
  received_at: '2026-06-21T10:00:00.140Z',
  age_s: 12.4,
  last_seen_at: '2026-06-21T10:00:00.000Z',
})

function nodeRecord(row: NodeRow, now: Date): SensorNode {
  const { channels, measured_at, last_ok_at } = row
  const count = (kind: Channel['kind']) => channels.filter((c) => c.kind === kind).length
  const by_edge = Math.max(measured_at?.getTime() ?? 0, last_ok_at?.getTime() ?? 0)
  // The clock of the edge may be fast.
  const seen = Math.min(by_edge, now.getTime())
  return served(SensorNode, {
    ...row,
    status: statusOf(row, now),
    ...frameOf(row, row.report_s, now),
    last_seen_at: seen === 0 ? null : new Date(seen),
    report_interval_s: row.report_s,
    channels: channels.map((channel, index) => ({
      channel: channel.channel,
      kind: channel.kind,
      label: channel.label,
      role: channel.role ?? null,
      unit: channelUnits[channel.kind],
      value: row.channel_values?.[index] ?? null,
      warn_high_c: channel.warn_high_c ?? null,
      alarm_high_c: channel.alarm_high_c ?? null,
      relay: channel.relay ?? null,
    })),
    relay_count: count('relay'),
    fan_count: count('fan_current'),
  })
}

function statusOf(row: NodeRow, now: Date): SensorNode['status'] {
  const { measured_at, edge_comm_state, report_s, channels, channel_values } = row
  if (measured_at === null && (edge_comm_state ?? 'unknown') === 'unknown') return 'unknown'
  if (edge_comm_state === 'disconnected' || isStale(measured_at, report_s, now)) return 'offline'
  const is_whole = channels.every((_, index) => (channel_values?.[index] ?? null) !== null)
  return is_whole ? 'online' : 'degraded'
}

const sensors = {
  method: 'GET',
  tag: 'Sensors',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

export const listSensors = endpoint({
  ...sensors,
  path: '/sensors',
  operation_id: 'sensors_list',
  summary: 'The sensor and fan nodes of the transformer stations',
  description:
    'Returns the nodes by id, with their channels and latest values. Retired nodes carry ' +
    '`retired_at`. The API is read-only: it switches no relay.',
  returns: List(SensorNode),
  example: { answer: list([nodeExample]) },
  async handle({ site: { site_id } }, { db, clock }: Context) {
    const now = clock.now()
    return list((await liveNodes(db, site_id)).map((row) => nodeRecord(row, now)))
  },
})

export const getSensorNow = endpoint({
  ...sensors,
  path: '/sensors/{node_id}/current',
  operation_id: 'sensors_current_get',
  summary: 'The latest measurements of a sensor node',
  params: { node_id: NodeId },
  returns: SensorNow,
  example: { answer: nodeNowExample },
  async handle({ site: { site_id }, params: { node_id } }, { db, clock }: Context) {
    const [row, switchings] = await Promise.all([
      requireNode(db, site_id, node_id),
      lastSwitchings(db, site_id, node_id),
    ])
    return nodeNow(row, switchings, clock.now())
  },
})

/** @throws ApiError not_found */
async function requireNode(db: Queries, site_id: string, node_id: string) {
  const [node] = await liveNodes(db, site_id, node_id)
  if (!node) throw new ApiError('not_found', { node_id })
  return node
}

const SensorReading = Named('SensorReading', {
  ...readingFrame,
  ...measured('node'),
  values: Type.Record(Type.String(), Nullable(Type.Number()), {
    description:
      'The values by channel name; null if the channel was not measured or did not exist yet.',
  }),
})

export const sensorHistory = endpoint({
  ...sensors,
  ...deviceHistory<{ node_id: string }>('node', async (db, { site_id, node_id }) => {
    return nodeItems(await requireNode(db, site_id, node_id))
  }),
  path: '/sensors/{node_id}/history',
  operation_id: 'sensors_history_list',
  summary: 'The readings of a sensor node over time',
  description:
    'Returns readings in ascending order. Defaults to the last 24 hours. `values` holds the value ' +
    'of each channel by name, in the units of /sensors; 1 is an open door or a relay that is on, ' +
    'else 0. `channel_values` holds the values in the order of `channels`, without channels that ' +
    'were added later.',
  params: { node_id: NodeId },
  returns: ReadingSeries(SensorReading),
  example: seriesExample({
    measured_at: '2026-06-21T10:00:00Z',
    quality: 'good' as const,
    channel_values: [61.5, 40, 1.9, 0, 1],
    values: { oil: 61.5, air: 40, 'fan-1': 1.9, door: 0, 'fan-relay': 1 },
  }),
})

const switching_rows = { max: 500, by_default: 100 } as const

const switchingExample = exampleOf(RelaySwitching, {
  location_id: 6,
  source: 'automation',
  switched_at: '2026-06-21T09:12:30.000Z',
  received_at: '2026-06-21T09:12:31.120Z',
})

export const relayHistory = endpoint({
  method: 'GET',
  path: '/commands/relay-history',
  operation_id: 'commands_relay_history_list',
  tag: 'Curtailment',
  scope: 'curtailment:read',
  module: 'basic_scada',
  summary: 'The switchings of the relays of sensor nodes',
  description:
    'Returns each switching once, newest first, with the cause that the node reports. Relays ' +
    'switch devices such as fans by rules of the node, by hand or by remote command.',
  query: {
    node_id: Type.Optional(NodeId),
    limit: limit(switching_rows.max, switching_rows.by_default),
  },
  cursor: { switched_at: Timestamp, command_id: RowId },
  returns: CursorList(RelaySwitching),
  example: { answer: cursorList({ rows: [switchingExample], next_cursor: null }) },
  async handle({ site: { site_id }, query, after }, { db }: Context) {
    const { node_id = null, limit: page_size = switching_rows.by_default } = query
    if (node_id !== null) await requireNode(db, site_id, node_id)
    const found = await readSwitchings(db, site_id, { node_id, after, page_size })
    const { rows, next_cursor, count } = found
    return cursorList({ rows: rows.map(switchingRecord), next_cursor }, count)
  },
  async exports({ site: { site_id }, query, after }, { db }: Context) {
    const { node_id = null, limit } = query
    if (node_id !== null) await requireNode(db, site_id, node_id)
    if (limit === undefined && after === null) return switchingsExport(site_id, node_id)
    const page = { node_id, after, page_size: limit ?? switching_rows.by_default }
    return pageItems((await readSwitchings(db, site_id, page)).rows.map(switchingRecord))
  },
})
