/** Watches one sensor node: readings without duplicates, relays, and communication state. */
import type { CommState, DeviceStatus, LinkEvent } from '@heliograph/domain/link'
import { default_report_s, type Node, relayCodePrefix } from '@heliograph/domain/node'
import { ComplaintWatch } from '../complaint-watch.ts'
import { type Conditions, onceEvent } from '../conditions.ts'
import type { Stamps } from '../plant-clock.ts'
import type { Recorder } from '../recorder.ts'
import { RelayTimeline, type Switching } from './relay-timeline.ts'
import { type RelaySeen, readState, type StateSeen } from './state-message.ts'

export interface Delivery {
  /** Retained by the broker: the message may be old. */
  is_retained: boolean
  /** The sender repeats the message until it is acknowledged. */
  is_sent_again: boolean
}

interface NodeWatchNeeds {
  recorder: Pick<Recorder, 'reading' | 'event'>
  conditions: Conditions
  stamps: Stamps
  onCommState(state: CommState): void
}

/** A node is offline after this many missed reports. */
const misses_max = 3
const offline_ms_min = 30_000
/** Instants remembered to detect duplicates; the server knows older ones. */
const remembered_max = 500
const states_per_instant_max = 100

export class NodeWatch {
  readonly node: Node
  readonly #needs: NodeWatchNeeds
  readonly #source: { source_kind: 'node'; source_id: string }
  readonly #complaints: ComplaintWatch
  readonly #recorded = new Map<number, string>()
  readonly #relays = new Map<string, RelayTimeline>()
  #comm_state: CommState = 'unknown'
  #since: number
  #heard_at: number
  #last_ok_at: number | null = null
  #error: string | null = null

  constructor(node: Node, needs: NodeWatchNeeds) {
    this.node = node
    this.#needs = needs
    this.#source = { source_kind: 'node', source_id: node.node_id }
    this.#since = this.#now()
    this.#heard_at = this.#since
    this.#complaints = new ComplaintWatch(this.#source, needs.conditions, this.#since)
  }

  /**
   * Handles a message of the topic `state`. Returns a function that forgets the reading if it could
   * not be written, so that it counts when sent again; its switchings are kept.
   */
  state(payload: Buffer, delivery: Delivery): () => void {
    const at = this.#now()
    const { state, complaints } = readState(this.node, payload, at)
    for (const event of this.#complaints.poll(complaints, at)) this.#needs.recorder.event(event)
    const recorded_at = state && this.#record(state, delivery)
    // A retained message does not prove that the node is online.
    if (!delivery.is_retained) this.#online(at)
    return () => void (recorded_at !== null && this.#recorded.delete(recorded_at))
  }

  /** Handles a message of the topic `status`: from the node, or its last will. */
  status(payload: Buffer, { is_retained }: Pick<Delivery, 'is_retained'>): void {
    const at = this.#now()
    const text = payload.subarray(0, 20).toString('utf8')
    const is_known = text === 'online' || text === 'offline'
    const complaint = { point: 'status', reason: 'neither online nor offline' }
    const events = this.#complaints.poll(is_known ? [] : [complaint], at)
    for (const event of events) this.#needs.recorder.event(event)
    // A broker retains it for an offline node without a last will.
    if (text === 'online' && !is_retained) this.#online(at)
    if (text === 'offline') this.#offline(at, 'the broker says that its connection ended')
  }

  /** Detects communication loss; to be called about every second. */
  tick(): void {
    const at = this.#now()
    // After a step back of the clock, silence counts from now.
    if (at < this.#heard_at) this.#heard_at = at
    const silence_ms_max = Math.max(misses_max * this.#report_ms(), offline_ms_min)
    if (at - this.#heard_at <= silence_ms_max || this.#comm_state === 'disconnected') return
    this.#offline(at, `no message for ${Math.round((at - this.#heard_at) / 1000)} s`)
  }

  deviceStatus(): DeviceStatus {
    return {
      kind: 'node',
      id: this.node.node_id,
      comm_state: this.#comm_state,
      since: this.#since,
      last_ok_at: this.#last_ok_at,
      error: this.#error,
      identity: null,
    }
  }

  /** The instant of the recorded reading; null for a duplicate or an impossible one. */
  #record(state: StateSeen, { is_retained, is_sent_again }: Delivery): number | null {
    // The time of a retained message from a node without a clock is unknown.
    if (state.measured_at === null && is_retained) return null
    const stamp = this.#needs.stamps.stamp()
    const content = JSON.stringify([state.channel_values, state.relays])
    const measured_at = this.#freeInstant(state.measured_at ?? stamp.measured_at, content)
    if (measured_at === null) return null
    this.#recorded.set(measured_at, content)
    const [oldest] = this.#recorded.keys()
    if (oldest !== undefined && this.#recorded.size > remembered_max) this.#recorded.delete(oldest)
    const quality = state.measured_at === null ? stamp.quality : 'good'
    const reading = {
      node_number: this.node.node_number,
      measured_at,
      quality: state.is_clock_wrong ? 'suspect' : quality,
      channel_values: state.channel_values,
    }
    this.#needs.recorder.reading('node', reading, { is_sent_again })
    for (const relay of state.relays) this.#see(relay, measured_at)
    return measured_at
  }

  /** Nodes whose clocks count seconds may send different states of one instant. */
  #freeInstant(measured_at: number, content: string): number | null {
    for (let at = measured_at; at < measured_at + states_per_instant_max; at += 1) {
      const recorded = this.#recorded.get(at)
      if (recorded === undefined) return at
      if (recorded === content) return null
    }
    return null
  }

  #see(relay: RelaySeen, measured_at: number): void {
    const { recorder, conditions } = this.#needs
    const { node_id } = this.node
    const { channel } = relay
    const known = conditions.relayOf(node_id, channel)
    const timeline = this.#relays.get(channel) ?? new RelayTimeline(known)
    this.#relays.set(channel, timeline)
    const switchings = timeline.see(measured_at, relay)
    const newest = timeline.newest()
    if (newest && (known === null || switchings.length > 0)) {
      conditions.rememberRelay(node_id, channel, newest)
    }
    for (const switching of switchings) recorder.event(this.#relayEvent(switching))
  }

  #relayEvent({ at, from, relay }: Switching): LinkEvent {
    const { channel, on, cause, reason } = relay
    const code = relayCodePrefix + channel
    const condition = { ...this.#source, code, severity: 'info' } as const
    const said = reason === null ? cause : `${cause}, ${reason}`
    const name = `Relay ${channel} of node ${this.node.node_id}`
    const message = `${name} is ${on ? 'on' : 'off'}: ${said}`
    return onceEvent(condition, { at, message, details: { channel, from, to: on, cause, reason } })
  }

  #online(at: number): void {
    const { recorder, conditions } = this.#needs
    this.#heard_at = at
    this.#last_ok_at = at
    this.#error = null
    const message = `node ${this.node.node_id} sends again`
    recorder.event(conditions.fall(this.#source, 'device_offline', { at, message }))
    this.#turn('connected', at)
  }

  #offline(at: number, error: string): void {
    const { recorder, conditions } = this.#needs
    this.#error = error
    const condition = { ...this.#source, code: 'device_offline', severity: 'major' } as const
    const message = `node ${this.node.node_id} is silent: ${error}`
    const details = { error, last_ok_at: this.#last_ok_at }
    recorder.event(conditions.rise(condition, { at, message, details }))
    this.#turn('disconnected', at)
  }

  #turn(comm_state: CommState, at: number): void {
    if (this.#comm_state === comm_state) return
    this.#comm_state = comm_state
    this.#since = at
    this.#needs.onCommState(comm_state)
  }

  #report_ms(): number {
    return (this.node.report_s ?? default_report_s) * 1000
  }

  #now(): number {
    return this.#needs.stamps.stamp().measured_at
  }
}
