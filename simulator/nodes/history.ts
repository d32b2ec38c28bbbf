/** What the simulated sensor nodes measured and switched in the past. */
import type { LinkEvent } from '@heliograph/domain/link'
import { type Node, type NodeState, relayCodePrefix, stateFields } from '@heliograph/domain/node'
import type { NodeReading } from '@heliograph/domain/readings'
import type { Simulation } from '../site.ts'
import { type StationState, stateMessage } from './station.ts'
import { type NodeSpan, stationMinutes } from './surroundings.ts'

export interface NodeDay {
  readings: NodeReading[]
  /** One for each relay that was switched. */
  events: LinkEvent[]
}

const day_ms = 86_400_000

/** The days up to `end_ms`, the oldest first, with a reading a minute of every node. */
export function* nodeDays(
  simulation: Simulation,
  { days, ...span }: { days: number } & Omit<NodeSpan, 'start_ms'>,
): Generator<NodeDay> {
  const nodes = simulation.site.nodes ?? []
  const start_ms = span.end_ms - days * day_ms
  let day: NodeDay = { readings: [], events: [] }
  let before: StationState[] = []
  for (const states of stationMinutes(simulation, { start_ms, ...span })) {
    const { time_ms } = states[0]!
    if (before.length > 0 && (time_ms - start_ms) % day_ms === 0) {
      yield day
      day = { readings: [], events: [] }
    }
    for (const [nth, node] of nodes.entries()) {
      const message = stateMessage(node, states[nth]!, simulation.seed)
      day.readings.push(readingOf(node, message, time_ms))
      const was = before[nth]
      if (was) day.events.push(...switchings(node, was, states[nth]!))
    }
    before = states
  }
  if (day.readings.length > 0) yield day
}

function readingOf(node: Node, message: NodeState, measured_at: number): NodeReading {
  const channel_values = node.channels.map(({ channel, kind }) => {
    const field = kind === 'relay' ? null : stateFields[kind]
    const value = field ? message[field]?.[channel] : message.relays?.[channel]?.on
    return value === undefined || value === null ? null : Number(value)
  })
  return { node_number: node.node_number, measured_at, quality: 'good', channel_values }
}

/** As the edge tells them. */
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
