/** The latest measurements of a sensor node, evaluated by rules. */

import type { CommState } from '@heliograph/domain/link'
import {
  type Channel,
  default_running_above_a,
  type Node,
  nodeIdPattern,
  type RelayCause,
  relayCauses,
} from '@heliograph/domain/node'
import { rounded } from '@heliograph/domain/significant'
import { dewPoint } from '@heliograph/physics/turbidity'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import { frame, frameOf, iso, type Measurement } from './frame.ts'

/** A node with its latest reading. */
export interface NodeRow extends Measurement {
  node_id: string
  name: string
  type: Node['type']
  location_id: number | null
  logger_id: number | null
  manufacturer: string | null
  model: string | null
  serial_number: string | null
  report_s: number
  channels: Channel[]
  created_at: Date
  updated_at: Date
  retired_at: Date | null
  channel_values: (number | null)[] | null
  edge_comm_state: CommState | null
  last_ok_at: Date | null
}

/** The latest switching of a relay. */
export interface LastSwitching {
  node_id: string
  channel: string
  at: Date
  source: RelayCause
  reason: string | null
}

export const NodeId = field.Text('A sensor node of the site.', {
  pattern: nodeIdPattern,
  examples: ['ts-1'],
})

/** The name of a channel and its label, with examples. */
const named = (channel: string, label: string) => ({
  channel: Type.String({ examples: [channel] }),
  label: Type.String({ examples: [label] }),
})

const Temperature = Named('SensorTemperature', {
  ...named('oil', 'Top oil'),
  temperature_c: field.NumOrNull('°C.', 61.5),
  status: field.OneOfOrNull(
    ['normal', 'warning', 'alarm'],
    'By `warn_high_c` and `alarm_high_c`; null if not measured.',
    'normal',
  ),
})

const Fan = Named('SensorFan', {
  fan_index: Type.Integer({ minimum: 0 }),
  ...named('fan-1', 'Exhaust fan'),
  current_a: field.NumOrNull('A.', 1.9),
  running: field.FlagOrNull('Derived from the current.', true),
  commanded: field.FlagOrNull('Whether the relay of the fan is on; null if unknown.', true),
  fault: field.FlagOrNull('The relay is on but the fan does not run.', false),
})

const Door = Named('SensorDoor', {
  door_index: Type.Integer({ minimum: 0 }),
  ...named('door', 'Door'),
  open: field.FlagOrNull('Whether the door is open.', false),
})

const Relay = Named('SensorRelay', {
  relay_index: Type.Integer({ minimum: 0 }),
  ...named('fan-relay', 'Fan contactor'),
  state: field.FlagOrNull('Whether the relay is on.', true),
  changed_at: field.AtOrNull(
    'When the relay was last switched; null if unknown.',
    '2026-06-21T09:12:30.000Z',
  ),
  source: field.OneOfOrNull(relayCauses, 'Who last switched the relay.', 'automation'),
  reason: field.TextOrNull('The reason that the node reports.', 'oil above 60 °C'),
})

const ofRole = (what: string, example?: number) =>
  field.NumOrNull(`The highest temperature of ${what}, °C.`, {
    ...(example && { examples: [example] }),
  })

export type SensorNow = Static<typeof SensorNow>
export const SensorNow = Named('SensorNow', {
  node_id: NodeId,
  ...frame,
  ambient_temperature_c: ofRole('the air'),
  oil_temperature_c: ofRole('the oil', 61.5),
  winding_temperature_c: ofRole('the windings'),
  busbar_temperature_c: ofRole('the busbars'),
  relative_humidity_pct: field.NumOrNull('The highest measured relative humidity, %.', 40),
  dew_point_c: field.NumOrNull(
    'Dew point of the air, °C, from air temperature and humidity (Magnus formula); null unless ' +
      'the node has exactly one sensor of each.',
  ),
  temperatures: Type.Array(Temperature),
  fans: Type.Array(Fan),
  doors: Type.Array(Door),
  relays: Type.Array(Relay),
})

interface Valued {
  is: Channel
  value: number | null
}

export function nodeNow(row: NodeRow, switchings: readonly LastSwitching[], now: Date): SensorNow {
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
    dew_point_c: dewPointOf(
      of('temperature').filter(({ is }) => is.role === 'ambient'),
      of('humidity'),
    ),
    temperatures: of('temperature').map(temperatureNow),
    fans: of('fan_current').map((fan, fan_index) => fanNow(fan, fan_index, relayOf)),
    doors: of('door').map(({ is: { channel, label }, value }, door_index) => {
      return { door_index, channel, label, open: stateOf(value) }
    }),
    relays: of('relay').map(({ is: { channel, label }, value }, relay_index) => {
      const { at = null, source = null, reason = null } = last.get(channel) ?? {}
      const changed_at = iso(at)
      return { relay_index, channel, label, state: stateOf(value), changed_at, source, reason }
    }),
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

/** Null for several sensors, whose pairing is unknown, and for 0 % humidity, which is a fault. */
function dewPointOf(air: readonly Valued[], humidity: readonly Valued[]): number | null {
  if (air.length !== 1 || humidity.length !== 1) return null
  const [temperature_c, relative_humidity_pct] = [air[0]!.value, humidity[0]!.value]
  if (temperature_c === null || relative_humidity_pct === null) return null
  return relative_humidity_pct > 0
    ? rounded(dewPoint(temperature_c, relative_humidity_pct), 1)
    : null
}

function highest(measured: readonly Valued[]): number | null {
  const values = measured.flatMap(({ value }) => value ?? [])
  return values.length === 0 ? null : Math.max(...values)
}
