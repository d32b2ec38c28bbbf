/** History of the simulated sensor nodes: readings and switchings. */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import type { LinkEvent } from '@heliograph/domain/link'
import { type Node, type NodeState, relayCodePrefix, stateFields } from '@heliograph/domain/node'
import type { NodeReading } from '@heliograph/domain/readings'
import type { Simulation } from '../site.ts'
import { type StationState, stateMessage } from './station.ts'
import { type NodeSpan, stationMinutes } from './surroundings.ts'

interface NodeDay {
  readings: NodeReading[]
  /** One for each switching of a relay. */
  events: LinkEvent[]
}

/**
 * The days up to `end_ms`, newest first, with a reading a minute of every node, without a gap to
 * the live readings.
 */
export function* nodeDays(
  simulation: Simulation,
  { days, end_ms, ...span }: { days: number } & Omit<NodeSpan, 'start_ms'>,
): Generator<NodeDay> {
  if ((simulation.site.nodes ?? []).length === 0) return
  for (let day = 0; day < days; day += 1) {
    const is_first = day === days - 1
    yield nodeDay(simulation, { end_ms: end_ms - day * day_ms, ...span }, is_first)
  }
}

/** Switchings in the first minute of all are unknown. */
function nodeDay(
  simulation: Simulation,
  span: Omit<NodeSpan, 'start_ms'>,
  is_first: boolean,
): NodeDay {
  const nodes = simulation.site.nodes ?? []
  const start_ms = span.end_ms - day_ms
  const day: NodeDay = { readings: [], events: [] }
  let before: StationState[] = []
  const from_ms = is_first ? start_ms : start_ms - minute_ms
  for (const states of stationMinutes(simulation, { ...span, start_ms: from_ms })) {
    const { time_ms } = states[0]!
    for (const [nth, node] of nodes.entries()) {
      if (time_ms < start_ms) continue
      const message = stateMessage(node, states[nth]!, simulation.seed)
      day.readings.push(readingOf(node, message, time_ms))
      const was = before[nth]
      if (was) day.events.push(...switchings(node, was, states[nth]!))
    }
    before = states
  }
  return day
}

function readingOf(node: Node, message: NodeState, measured_at: number): NodeReading {
  const channel_values = node.channels.map(({ channel, kind }) => {
    const field = kind === 'relay' ? null : stateFields[kind]
    const value = field ? message[field]?.[channel] : message.relays?.[channel]?.on
    return value === undefined || value === null ? null : Number(value)
  })
  return { node_number: node.node_number, measured_at, quality: 'good', channel_values }
}

function switchings(
  { node_id, channels }: Node,
  { fan: was }: StationState,
  { fan: { on, cause, reason, changed_ms } }: StationState,
): LinkEvent[] {
  if (on === was.on || changed_ms === null) return []
  return channels
    .filter(({ kind }) => kind === 'relay')
    .map(({ channel }) => ({
      at: changed_ms,
      source_kind: 'node',
      source_id: node_id,
      code: relayCodePrefix + channel,
      edge: 'once',
      severity: 'info',
      message: `Relay ${channel} of node ${node_id} is ${on ? 'on' : 'off'}: ${cause}, ${reason}`,
      details: { channel, from: was.on, to: on, cause, reason },
    }))
}
