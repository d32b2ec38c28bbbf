/**
 * Sensor nodes of transformer stations: their part of `site.yaml`, and what they send by MQTT.
 *
 * A node publishes under `<prefix>/<node_id>/`:
 * - `state`: a `NodeState` as JSON, retained or not;
 * - `status`: the text `online` when it connects and, as its last will, `offline`; retained.
 */
import { type Static, Type } from 'typebox'
import { Closed, Id, Name, Nullable, Positive } from './schema.ts'

export const nodeIdPattern = '^[a-z0-9][a-z0-9_-]{0,39}$'

export const channelKinds = ['temperature', 'humidity', 'fan_current', 'door', 'relay'] as const
export type ChannelKind = (typeof channelKinds)[number]

/** Unit of the values of a channel; null for states, which are 0 or 1. */
export const channelUnits = {
  temperature: '°C',
  humidity: '%',
  fan_current: 'A',
  door: null,
  relay: null,
} as const satisfies Record<ChannelKind, string | null>

export type Channel = Static<typeof Channel>
export const Channel = Closed({
  /** Name of the channel in the messages of the node. */
  channel: Type.String({ pattern: nodeIdPattern }),
  kind: Type.Enum([...channelKinds]),
  label: Name,
  /** Measured part, of a temperature. */
  role: Type.Optional(Type.Enum(['ambient', 'oil', 'winding', 'busbar'])),
  /** Temperature from which an alert is a warning. */
  warn_high_c: Type.Optional(Type.Number()),
  alarm_high_c: Type.Optional(Type.Number()),
  /** Channel of the relay that switches the fan. */
  relay: Type.Optional(Type.String()),
  /** Current above which the fan runs, A. Defaults to 0.1. */
  running_above_a: Type.Optional(Positive),
})

export const default_running_above_a = 0.1

export const nodeTypes = [
  'transformer_station',
  'inverter_room',
  'switchgear',
  'container',
  'cabinet',
  'other',
] as const

export type Node = Static<typeof Node>
export const Node = Closed({
  node_id: Type.String({ pattern: nodeIdPattern }),
  /** Number under which its readings are stored. Unique within the site, never reused. */
  node_number: Id,
  name: Name,
  type: Type.Enum([...nodeTypes]),
  location_id: Type.Optional(Id),
  logger_id: Type.Optional(Id),
  manufacturer: Type.Optional(Name),
  model: Type.Optional(Name),
  serial_number: Type.Optional(Name),
  /** Interval at which it sends its state, in seconds. Defaults to 60. */
  report_s: Type.Optional(Type.Number({ minimum: 1, maximum: 3600 })),
  /** Readings are kept in this order: add new ones at the end, and leave dead ones in place. */
  channels: Type.Array(Channel, { minItems: 1, maxItems: 100 }),
})

export const default_report_s = 60

/** The broker: `listen` starts one within the edge, `url` names an existing one. */
export type Mqtt = Static<typeof Mqtt>
export const Mqtt = Closed({
  listen: Type.Optional(
    Closed({
      host: Type.Optional(Type.String({ minLength: 1 })),
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    }),
  ),
  /** Address of an existing broker, without user and password. */
  url: Type.Optional(Type.String({ pattern: '^mqtts?://[^/@?#]+/?$' })),
  prefix: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$' })),
})

export const default_prefix = 'heliograph'

export interface MqttCredentials {
  username: string
  password: string
}

/** Parses a line `user:password`; null if it has another form. */
export function parseMqttCredentials(text: string): MqttCredentials | null {
  const [, username, password] = /^([^:\s]+):(\S+)\s*$/.exec(text) ?? []
  return username === undefined || password === undefined ? null : { username, password }
}

export const relayCauses = ['automation', 'manual', 'command', 'unknown'] as const
export type RelayCause = (typeof relayCauses)[number]

/** RFC 3339 with an offset, or Unix milliseconds. */
export type NodeInstant = string | number

/**
 * Measurements of a node by the names of its channels; a channel that is absent or null was not
 * measured. A node without a clock leaves `measured_at` out.
 */
export interface NodeState {
  measured_at?: NodeInstant | null
  temperatures_c?: Record<string, number | null>
  humidity_pct?: Record<string, number | null>
  fan_currents_a?: Record<string, number | null>
  doors_open?: Record<string, boolean | null>
  relays?: Record<string, NodeRelay | null>
}

/** `changed_at` and `cause` belong to the last change; `reason` is a text for people. */
export interface NodeRelay {
  on: boolean
  cause?: RelayCause
  reason?: string | null
  changed_at?: NodeInstant | null
}

export const stateFields = {
  temperature: 'temperatures_c',
  humidity: 'humidity_pct',
  fan_current: 'fan_currents_a',
  door: 'doors_open',
  relay: 'relays',
} as const satisfies Record<ChannelKind, keyof NodeState>

export const nodeTopic = (prefix: string, node_id: string, leaf: 'state' | 'status') =>
  `${prefix}/${node_id}/${leaf}`

/** Details of an event with the code `relay:<channel>`: a relay that was switched. */
export type RelayChange = Static<typeof RelayChange>
export const RelayChange = Closed({
  channel: Type.String({ pattern: nodeIdPattern }),
  /** The state before; null if unknown. */
  from: Nullable(Type.Boolean()),
  to: Type.Boolean(),
  cause: Type.Enum([...relayCauses]),
  reason: Nullable(Type.String({ maxLength: 200 })),
})

export const relayCodePrefix = 'relay:'
