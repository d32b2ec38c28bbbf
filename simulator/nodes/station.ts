/**
 * A simulated transformer station: the measurements of its sensor node, and its fan control. Pure.
 *
 * The oil follows IEC 60076-7 in its simplest form: by one time constant towards a rise over the
 * surrounding air of `oil_rise_k · ((1 + R·K²) / (1 + R))^x` at a load of K times the rating, with
 * exponent and time constant of the standard for a distribution transformer.
 */
import { hour_ms } from '@heliograph/domain/durations'
import type { Node, NodeState, RelayCause } from '@heliograph/domain/node'
import { hash01, spread } from '../noise.ts'

export interface Surroundings {
  time_ms: number
  ambient_temperature_c: number
  relative_humidity_pct: number
  /** Load relative to the rated power of its plant, 0 to 1. */
  load_ratio: number
}

export interface StationState {
  time_ms: number
  room_temperature_c: number
  oil_temperature_c: number
  relative_humidity_pct: number
  door_open: boolean
  /** `changed_ms` is null if unknown: the fan was off at the start. */
  fan: { on: boolean; cause: RelayCause; reason: string | null; changed_ms: number | null }
}

/** Losses at full load relative to those without load. */
const loss_ratio = 5
const oil_exponent = 0.8
const oil_rise_k = 55
const oil_constant_ms = 180 * 60_000
const room_rise_k = { idle: 3, load: 14, fan: 0.45 } as const
const room_constant_ms = 20 * 60_000
const fans_on_c = 35
const fans_off_c = 30
const fan_current_a = 1.9
const idle_current_a = 0.02
const visit_ms = 20 * 60_000
const visits_per_hour = 0.01

const channel = { visit: 6000, sensor: 6100 } as const

/** The station after the conditions held since the state before; null: steady state. */
export function stationAt(
  { node_number }: Pick<Node, 'node_number'>,
  around: Surroundings,
  { before, seed }: { before: StationState | null; seed: number },
): StationState {
  const { time_ms, ambient_temperature_c, relative_humidity_pct, load_ratio } = around
  const fan_before = before?.fan ?? {
    on: false,
    cause: 'unknown' as const,
    reason: null,
    changed_ms: null,
  }
  const rise_k = room_rise_k.idle + room_rise_k.load * load_ratio ** 2
  const warmed_c = ambient_temperature_c + rise_k * (fan_before.on ? room_rise_k.fan : 1)
  const passed_ms = before === null ? Number.POSITIVE_INFINITY : time_ms - before.time_ms
  const towards = (from: number | undefined, to: number, constant_ms: number) =>
    from === undefined ? to : to + (from - to) * Math.exp(-Math.max(0, passed_ms) / constant_ms)
  const room_temperature_c = towards(before?.room_temperature_c, warmed_c, room_constant_ms)
  const share = (1 + loss_ratio * load_ratio ** 2) / (1 + loss_ratio)
  const oil_c = room_temperature_c + oil_rise_k * share ** oil_exponent
  const door_open = isVisited(seed, node_number, time_ms)
  return {
    time_ms,
    room_temperature_c,
    oil_temperature_c: towards(before?.oil_temperature_c, oil_c, oil_constant_ms),
    // Warmer air with the same moisture: about half the relative humidity per 11 K.
    relative_humidity_pct:
      relative_humidity_pct * 2 ** ((ambient_temperature_c - room_temperature_c) / 11),
    door_open,
    fan: switched(fan_before, { time_ms, room_temperature_c, door_open }),
  }
}

/** During occasional visits by day, the fans run while the door is open. */
function isVisited(seed: number, node_number: number, time_ms: number): boolean {
  const hour = Math.floor(time_ms / hour_ms)
  const is_day = hour % 24 >= 7 && hour % 24 < 16
  const is_chosen = hash01(seed, channel.visit + node_number, hour) < visits_per_hour
  return is_day && is_chosen && time_ms - hour * hour_ms < visit_ms
}

function switched(
  fan: StationState['fan'],
  now: { time_ms: number; room_temperature_c: number; door_open: boolean },
): StationState['fan'] {
  const to = (on: boolean, cause: RelayCause, reason: string) =>
    on === fan.on ? fan : { on, cause, reason, changed_ms: now.time_ms }
  if (now.door_open) return to(true, 'manual', 'switched on at the panel')
  if (fan.cause === 'manual' && fan.on) return to(false, 'manual', 'switched off at the panel')
  if (now.room_temperature_c >= fans_on_c) return to(true, 'automation', `above ${fans_on_c} °C`)
  if (now.room_temperature_c <= fans_off_c) {
    return to(false, 'automation', `below ${fans_off_c} °C`)
  }
  return fan
}

/** State message of the node, at the resolution of its sensors. */
export function stateMessage(
  { node_number, channels }: Pick<Node, 'node_number' | 'channels'>,
  state: StationState,
  seed: number,
): NodeState {
  const message = {
    measured_at: new Date(state.time_ms).toISOString(),
    temperatures_c: {} as Record<string, number>,
    humidity_pct: {} as Record<string, number>,
    fan_currents_a: {} as Record<string, number>,
    doors_open: {} as Record<string, boolean>,
    relays: {} as NonNullable<NodeState['relays']>,
  }
  for (const [nth, { channel: name, kind, role }] of channels.entries()) {
    const error = spread(seed, channel.sensor + node_number, nth, 0.01)
    if (kind === 'temperature') {
      const is_oil = role === 'oil' || role === 'winding'
      const temperature_c = is_oil ? state.oil_temperature_c : state.room_temperature_c
      message.temperatures_c[name] = tenths(temperature_c + 20 * error)
    } else if (kind === 'humidity') {
      message.humidity_pct[name] = tenths(Math.min(100, state.relative_humidity_pct))
    } else if (kind === 'fan_current') {
      const current_a = state.fan.on ? fan_current_a * (1 + 3 * error) : idle_current_a
      message.fan_currents_a[name] = Math.round(current_a * 100) / 100
    } else if (kind === 'door') message.doors_open[name] = state.door_open
    else {
      const { on, cause, reason, changed_ms } = state.fan
      const changed_at = changed_ms === null ? null : new Date(changed_ms).toISOString()
      message.relays[name] = { on, cause, reason, changed_at }
    }
  }
  return message
}

const tenths = (value: number) => Math.round(value * 10) / 10
