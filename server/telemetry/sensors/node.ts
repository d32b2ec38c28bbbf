/** A sensor node of the inventory with its status. */
import { type Channel, channelKinds, channelUnits, nodeTypes } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import { LocationId, LoggerId, Nullable } from '../../http/params.ts'
import { At, frame, frameOf, inventoried, iso, isStale } from '../../plant/frame.ts'
import { NodeId, type NodeRow } from '../../plant/sensor-node.ts'

const closed = { additionalProperties: false } as const
const Limit = Nullable(Type.Number({ description: 'Limit of a temperature, °C; else null.' }))

const NodeChannel = Type.Object(
  {
    channel: Type.String(),
    kind: Type.Enum([...channelKinds]),
    label: Type.String(),
    role: Nullable(Type.Enum(['ambient', 'oil', 'winding', 'busbar'])),
    unit: Nullable(Type.String({ description: 'Null for a state: 1 is open or on, else 0.' })),
    value: Nullable(
      Type.Number({
        description: 'Latest value in `unit`; null if not measured. See `quality` of the node.',
      }),
    ),
    warn_high_c: Limit,
    alarm_high_c: Limit,
    relay: Nullable(Type.String({ description: 'The relay channel of a fan; else null.' })),
  },
  { ...closed, $id: 'SensorChannel' },
)

const statusRule =
  '`unknown`: never seen. `offline`: the connection ended, or three reports are missing. ' +
  '`degraded`: a channel was not measured. `online`: otherwise.'

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
    last_seen_at: Nullable(At('When the node was last seen.')),
    report_interval_s: Type.Number({ description: 'Interval of the reports, s.' }),
    channels: Type.Array(NodeChannel, { description: 'In the order of `channel_values`.' }),
    relay_count: Type.Integer(),
    fan_count: Type.Integer(),
    ...inventoried,
  },
  { ...closed, $id: 'SensorNode' },
)

const none = { role: null, warn_high_c: null, alarm_high_c: null, relay: null }

export const nodeExample: SensorNode = {
  node_id: 'ts-1',
  name: 'Transformer station 1',
  location_id: 6,
  logger_id: 1,
  type: 'transformer_station',
  manufacturer: null,
  model: null,
  serial_number: null,
  status: 'online',
  measured_at: '2026-06-21T10:00:00.000Z',
  received_at: '2026-06-21T10:00:00.140Z',
  age_s: 12.4,
  quality: 'good',
  last_seen_at: '2026-06-21T10:00:00.000Z',
  report_interval_s: 30,
  channels: [
    {
      ...none,
      channel: 'oil',
      kind: 'temperature',
      label: 'Top oil',
      role: 'oil',
      unit: '°C',
      value: 61.5,
      warn_high_c: 85,
      alarm_high_c: 95,
    },
    { ...none, channel: 'air', kind: 'humidity', label: 'Air', unit: '%', value: 40 },
    {
      ...none,
      channel: 'fan-1',
      kind: 'fan_current',
      label: 'Exhaust fan',
      unit: 'A',
      value: 1.9,
      relay: 'fan-relay',
    },
    { ...none, channel: 'door', kind: 'door', label: 'Door', unit: null, value: 0 },
    { ...none, channel: 'fan-relay', kind: 'relay', label: 'Fan contactor', unit: null, value: 1 },
  ],
  relay_count: 1,
  fan_count: 1,
  created_at: '2026-01-05T08:00:00.000Z',
  updated_at: '2026-05-11T14:30:00.000Z',
  retired_at: null,
}

export function nodeRecord(row: NodeRow, now: Date): SensorNode {
  const { channels, measured_at, last_ok_at } = row
  const count = (kind: Channel['kind']) => channels.filter((c) => c.kind === kind).length
  const by_edge = Math.max(measured_at?.getTime() ?? 0, last_ok_at?.getTime() ?? 0)
  // The clock of the edge may be fast.
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
