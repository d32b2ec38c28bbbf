/** A sensor node as it stands in the inventory, and what it measured last, by rules. */
import {
  type Channel,
  channelKinds,
  channelUnits,
  default_running_above_a,
  nodeIdPattern,
  nodeTypes,
  relayCauses,
} from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import { LocationId, LoggerId, Nullable } from '../../http/params.ts'
import { At, frame, frameOf, inventoried, iso, isStale } from '../../records/frame.ts'
import type { NodeRow, SwitchingRow } from './store.ts'

export const NodeId = Type.String({
  pattern: nodeIdPattern,
  description: 'A sensor node of the site.',
  examples: ['ts-1'],
})

const closed = { additionalProperties: false } as const
const Limit = Nullable(Type.Number({ description: 'Of a temperature: its bound, °C.' }))

const NodeChannel = Type.Object(
  {
    channel: Type.String(),
    kind: Type.Enum([...channelKinds]),
    label: Type.String(),
    role: Nullable(Type.Enum(['ambient', 'oil', 'winding', 'busbar'])),
    unit: Nullable(Type.String({ description: 'null: a state, 1 for open or on, else 0.' })),
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
    last_seen_at: Nullable(At('When it was heard of last.')),
    report_interval_s: Type.Number({ description: 'How often it reports, s.' }),
    channels: Type.Array(NodeChannel, { description: 'In the order of `channel_values`.' }),
    relay_count: Type.Integer(),
    fan_count: Type.Integer(),
    controllable: Type.Boolean({
      description: 'Whether the API switches its relays: it does not.',
    }),
    ...inventoried,
  },
  { ...closed, $id: 'SensorNode' },
)

export function nodeRecord(row: NodeRow, now: Date): SensorNode {
  const { channels, measured_at, last_ok_at } = row
  const count = (kind: Channel['kind']) => channels.filter((c) => c.kind === kind).length
  const seen = Math.max(measured_at?.getTime() ?? 0, last_ok_at?.getTime() ?? 0)
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
    last_seen_at: seen === 0 ? null : new Date(seen).toISOString(),
    report_interval_s: row.report_s,
    channels: channels.map((channel) => ({
      channel: channel.channel,
      kind: channel.kind,
      label: channel.label,
      role: channel.role ?? null,
      unit: channelUnits[channel.kind],
      warn_high_c: channel.warn_high_c ?? null,
      alarm_high_c: channel.alarm_high_c ?? null,
      relay: channel.relay ?? null,
    })),
    relay_count: count('relay'),
    fan_count: count('fan_current'),
    controllable: false,
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

const Temperature = Type.Object(
  {
    channel: Type.String(),
    label: Type.String(),
    temperature_c: Nullable(Type.Number({ description: '°C.' })),
    status: Nullable(
      Type.Enum(['normal', 'warning', 'alarm'], {
        description: 'By `warn_high_c` and `alarm_high_c`; null where it was not measured.',
      }),
    ),
  },
  { ...closed, $id: 'SensorTemperature' },
)

const Fan = Type.Object(
  {
    fan_index: Type.Integer({ minimum: 0 }),
    channel: Type.String(),
    label: Type.String(),
    current_a: Nullable(Type.Number({ description: 'A.' })),
    running: Nullable(Type.Boolean({ description: 'By its current.' })),
    commanded: Nullable(
      Type.Boolean({ description: 'Whether its relay is on; null where none is known.' }),
    ),
    fault: Nullable(Type.Boolean({ description: 'Its relay is on, and it does not run.' })),
  },
  { ...closed, $id: 'SensorFan' },
)

const Door = Type.Object(
  {
    door_index: Type.Integer({ minimum: 0 }),
    channel: Type.String(),
    label: Type.String(),
    open: Nullable(Type.Boolean()),
  },
  { ...closed, $id: 'SensorDoor' },
)

const Relay = Type.Object(
  {
    relay_index: Type.Integer({ minimum: 0 }),
    channel: Type.String(),
    label: Type.String(),
    state: Nullable(Type.Boolean({ description: 'Whether it is on.' })),
    changed_at: Nullable(At('When it was switched last, if that is known.')),
    source: Nullable(Type.Enum([...relayCauses], { description: 'Who switched it last.' })),
    reason: Nullable(Type.String({ description: 'What the node says of that.' })),
  },
  { ...closed, $id: 'SensorRelay' },
)

const ofRole = (what: string) =>
  Nullable(Type.Number({ description: `The warmest temperature of ${what}, °C.` }))

export type SensorNow = Static<typeof SensorNow>
export const SensorNow = Type.Object(
  {
    node_id: NodeId,
    ...frame,
    ambient_temperature_c: ofRole('the air'),
    oil_temperature_c: ofRole('the oil'),
    winding_temperature_c: ofRole('the windings'),
    busbar_temperature_c: ofRole('the busbars'),
    relative_humidity_pct: Nullable(
      Type.Number({ description: 'The highest that was measured, %.' }),
    ),
    temperatures: Type.Array(Temperature),
    fans: Type.Array(Fan),
    doors: Type.Array(Door),
    relays: Type.Array(Relay),
  },
  { ...closed, $id: 'SensorNow' },
)

interface Valued {
  is: Channel
  value: number | null
}

export function nodeNow(row: NodeRow, switchings: readonly SwitchingRow[], now: Date): SensorNow {
  const all = row.channels.map(
    (is, index): Valued => ({ is, value: row.channel_values?.[index] ?? null }),
  )
  const of = (kind: Channel['kind']) => all.filter(({ is }) => is.kind === kind)
  const warmest = (role: Channel['role']) =>
    highest(of('temperature').filter(({ is }) => is.role === role))
  const relayOf = new Map(of('relay').map(({ is, value }) => [is.channel, stateOf(value)]))
  const last = new Map(switchings.map((one) => [one.channel, one]))
  return {
    node_id: row.node_id,
    ...frameOf(row, row.report_s, now),
    ambient_temperature_c: warmest('ambient'),
    oil_temperature_c: warmest('oil'),
    winding_temperature_c: warmest('winding'),
    busbar_temperature_c: warmest('busbar'),
    relative_humidity_pct: highest(of('humidity')),
    temperatures: of('temperature').map(temperatureNow),
    fans: of('fan_current').map((fan, fan_index) => fanNow(fan, fan_index, relayOf)),
    doors: of('door').map(({ is, value }, door_index) => ({
      door_index,
      channel: is.channel,
      label: is.label,
      open: stateOf(value),
    })),
    relays: of('relay').map(({ is, value }, relay_index) => ({
      relay_index,
      channel: is.channel,
      label: is.label,
      state: stateOf(value),
      changed_at: iso(last.get(is.channel)?.at ?? null),
      source: last.get(is.channel)?.source ?? null,
      reason: last.get(is.channel)?.reason ?? null,
    })),
  }
}

function temperatureNow({ is, value }: Valued): Static<typeof Temperature> {
  const isAbove = (limit: number | undefined) =>
    value !== null && limit !== undefined && value >= limit
  const status = isAbove(is.alarm_high_c) ? 'alarm' : isAbove(is.warn_high_c) ? 'warning' : 'normal'
  return {
    channel: is.channel,
    label: is.label,
    temperature_c: value,
    status: value === null ? null : status,
  }
}

function fanNow(
  { is, value }: Valued,
  fan_index: number,
  relayOf: ReadonlyMap<string, boolean | null>,
): Static<typeof Fan> {
  const running = value === null ? null : value > (is.running_above_a ?? default_running_above_a)
  const commanded = relayOf.get(is.relay ?? '') ?? null
  return {
    fan_index,
    channel: is.channel,
    label: is.label,
    current_a: value,
    running,
    commanded,
    fault: commanded === null || running === null ? null : commanded && !running,
  }
}

const stateOf = (value: number | null) => (value === null ? null : value === 1)

function highest(measured: readonly Valued[]): number | null {
  const values = measured.flatMap(({ value }) => value ?? [])
  return values.length === 0 ? null : Math.max(...values)
}
