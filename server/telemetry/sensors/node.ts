/** A sensor node as it stands in the inventory, and whether it answers. */
import { type Channel, channelKinds, channelUnits, nodeTypes } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import { LocationId, LoggerId, Nullable } from '../../http/params.ts'
import { At, frame, frameOf, inventoried, iso, isStale } from '../../plant/frame.ts'
import { NodeId, type NodeRow } from '../../plant/sensor-node.ts'

const closed = { additionalProperties: false } as const
const Limit = Nullable(Type.Number({ description: 'Of a temperature: its bound, °C.' }))

const NodeChannel = Type.Object(
  {
    channel: Type.String(),
    kind: Type.Enum([...channelKinds]),
    label: Type.String(),
    role: Nullable(Type.Enum(['ambient', 'oil', 'winding', 'busbar'])),
    unit: Nullable(Type.String({ description: 'null: a state, 1 for open or on, else 0.' })),
    value: Nullable(
      Type.Number({
        description: 'Measured last, in `unit`; null where it was not. See `quality` of the node.',
      }),
    ),
    warn_high_c: Limit,
    alarm_high_c: Limit,
    relay: Nullable(Type.String({ description: 'Of a fan: the channel of its relay.' })),
  },
  { ...closed, $id: 'SensorChannel' },
)

const statusRule =
  '`unknown`: nothing was ever heard of it. `offline`: its connection ended, or three reports ' +
  'did not come. `degraded`: a channel was not measured. `online`: all else.'

export type SensorNode = Static<typeof SensorNode>
export const SensorNode = Type.Object(
  {
    node_id: NodeId,
    name: Type.String(),
    location_id: Nullable(LocationId),
    logger_id: Nullable(LoggerId),
    type: Type.Enum([...nodeTypes]),
    manufacturer: Nullable(Type.String()),
    model: Nullable(Type.String()),
    serial_number: Nullable(Type.String()),
    status: Type.Enum(['online', 'offline', 'degraded', 'unknown'], { description: statusRule }),
    ...frame,
    last_seen_at: Nullable(At('When it was heard of last.')),
    report_interval_s: Type.Number({ description: 'How often it reports, s.' }),
    channels: Type.Array(NodeChannel, { description: 'In the order of `channel_values`.' }),
    relay_count: Type.Integer(),
    fan_count: Type.Integer(),
    ...inventoried,
  },
  { ...closed, $id: 'SensorNode' },
)

export function nodeRecord(row: NodeRow, now: Date): SensorNode {
  const { channels, measured_at, last_ok_at } = row
  const count = (kind: Channel['kind']) => channels.filter((c) => c.kind === kind).length
  const by_edge = Math.max(measured_at?.getTime() ?? 0, last_ok_at?.getTime() ?? 0)
  // The clock of the edge may be ahead.
  const seen = Math.min(by_edge, now.getTime())
  return {
    node_id: row.node_id,
    name: row.name,
    location_id: row.location_id,
    logger_id: row.logger_id,
    type: row.type,
    manufacturer: row.manufacturer,
    model: row.model,
    serial_number: row.serial_number,
    status: statusOf(row, now),
    ...frameOf(row, row.report_s, now),
    last_seen_at: seen === 0 ? null : new Date(seen).toISOString(),
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
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    retired_at: iso(row.retired_at),
  }
}

function statusOf(row: NodeRow, now: Date): SensorNode['status'] {
  const { measured_at, edge_comm_state, report_s, channels, channel_values } = row
  if (measured_at === null && (edge_comm_state ?? 'unknown') === 'unknown') return 'unknown'
  if (edge_comm_state === 'disconnected' || isStale(measured_at, report_s, now)) return 'offline'
  const is_whole = channels.every((_, index) => (channel_values?.[index] ?? null) !== null)
  return is_whole ? 'online' : 'degraded'
}
