/** A sensor node of the inventory with its status. */
import { type Channel, channelKinds, channelUnits, nodeTypes } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import { exampleOf } from '../../http/example.ts'
import { LocationId, LoggerId, Metric, Nullable } from '../../http/params.ts'
import { At, frame, frameOf, inventoried, isStale } from '../../plant/frame.ts'
import { NodeId, type NodeRow } from '../../plant/sensor-node.ts'
import { served } from '../../storage/records.ts'

const closed = { additionalProperties: false } as const
const Limit = (example: number) => Metric('Limit of a temperature, °C; else null.', example)

const NodeChannel = Type.Object(
  {
    channel: Type.String({ examples: ['oil'] }),
    kind: Type.Enum([...channelKinds]),
    label: Type.String({ examples: ['Top oil'] }),
    role: Nullable(Type.Enum(['ambient', 'oil', 'winding', 'busbar'], { examples: ['oil'] })),
    unit: Nullable(
      Type.String({
        description: 'Null for a state: 1 is open or on, else 0.',
        examples: ['°C'],
      }),
    ),
    value: Metric('Latest value in `unit`; null if not measured. See `quality` of the node.', 61.5),
    warn_high_c: Limit(85),
    alarm_high_c: Limit(95),
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
    name: Type.String({ examples: ['Transformer station 1'] }),
    location_id: Nullable(LocationId),
    logger_id: Nullable(LoggerId),
    type: Type.Enum([...nodeTypes]),
    manufacturer: Nullable(Type.String()),
    model: Nullable(Type.String()),
    serial_number: Nullable(Type.String()),
    status: Type.Enum(['online', 'offline', 'degraded', 'unknown'], { description: statusRule }),
    ...frame,
    last_seen_at: Nullable(At('When the node was last seen.')),
    report_interval_s: Type.Number({ description: 'Interval of the reports, s.', examples: [30] }),
    channels: Type.Array(NodeChannel, { description: 'In the order of `channel_values`.' }),
    relay_count: Type.Integer(),
    fan_count: Type.Integer(),
    ...inventoried,
  },
  { ...closed, $id: 'SensorNode' },
)

export const nodeExample = exampleOf(SensorNode, {
  measured_at: '2026-06-21T10:00:00.000Z',
  received_at: '2026-06-21T10:00:00.140Z',
  age_s: 12.4,
  last_seen_at: '2026-06-21T10:00:00.000Z',
})

const names = Object.keys(SensorNode.properties)

export function nodeRecord(row: NodeRow, now: Date): SensorNode {
  const { channels, measured_at, last_ok_at } = row
  const count = (kind: Channel['kind']) => channels.filter((c) => c.kind === kind).length
  const by_edge = Math.max(measured_at?.getTime() ?? 0, last_ok_at?.getTime() ?? 0)
  // The clock of the edge may be fast.
  const seen = Math.min(by_edge, now.getTime())
  return served(names, {
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
  }) as SensorNode
}

function statusOf(row: NodeRow, now: Date): SensorNode['status'] {
  const { measured_at, edge_comm_state, report_s, channels, channel_values } = row
  if (measured_at === null && (edge_comm_state ?? 'unknown') === 'unknown') return 'unknown'
  if (edge_comm_state === 'disconnected' || isStale(measured_at, report_s, now)) return 'offline'
  const is_whole = channels.every((_, index) => (channel_values?.[index] ?? null) !== null)
  return is_whole ? 'online' : 'degraded'
}
