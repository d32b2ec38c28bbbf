/** One sensor node: its readings once each, its relays, and whether it is there. */
import type { CommState, DeviceStatus, LinkEvent } from '@heliograph/domain/link'
import { default_report_s, type Node, relayCodePrefix } from '@heliograph/domain/node'
import { ComplaintWatch } from '../complaint-watch.ts'
import { type Conditions, onceEvent } from '../conditions.ts'
import type { Stamps } from '../plant-clock.ts'
import type { Recorder } from '../recorder.ts'
import { type RelaySeen, readState, type StateSeen } from './state-message.ts'

export interface NodeWatchNeeds {
  recorder: Pick<Recorder, 'reading' | 'event'>
  conditions: Conditions
  stamps: Stamps
  onCommState(state: CommState): void
}

/** A node is offline when so many reports in a row did not come, and never sooner than this. */
const misses_max = 3
const offline_ms_min = 30_000
/** Instants that are remembered to know a reading that comes twice; older ones the server knows. */
const remembered_max = 500

export class NodeWatch {
  readonly node: Node
  readonly #needs: NodeWatchNeeds
  readonly #source: { source_kind: 'node'; source_id: string }
  readonly #complaints: ComplaintWatch
  readonly #recorded = new Set<number>()
  #newest_at = Number.NEGATIVE_INFINITY
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

  /** Takes a message of the topic `state`. */
  state(payload: Buffer, is_retained: boolean): void {
    const at = this.#now()
    const { state, complaints } = readState(this.node, payload, at)
    for (const event of this.#complaints.poll(complaints, at)) this.#needs.recorder.event(event)
    if (state) this.#record(state, is_retained)
    // What a broker kept says nothing of now.
    if (!is_retained) this.#online(at)
  }

  /** Takes a message of the topic `status`: what the node says, or its last will. */
  status(payload: Buffer): void {
    const at = this.#now()
    const text = payload.subarray(0, 20).toString('utf8')
    const is_known = text === 'online' || text === 'offline'
    const complaint = { point: 'status', reason: 'neither online nor offline' }
    const events = this.#complaints.poll(is_known ? [] : [complaint], at)
    for (const event of events) this.#needs.recorder.event(event)
    if (text === 'online') this.#online(at)
    if (text === 'offline') this.#offline(at, 'the broker says that its connection ended')
  }

  /** Notices silence; to be called every second or so. */
  tick(): void {
    const at = this.#now()
    // The clock may step back: then silence is counted from now.
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

  #record(state: StateSeen, is_retained: boolean): void {
    // Nobody knows when a node without a clock measured what a broker kept.
    if (state.measured_at === null && is_retained) return
    const stamp = this.#needs.stamps.stamp()
    const measured_at = state.measured_at ?? stamp.measured_at
    const quality = state.measured_at === null ? stamp.quality : 'good'
    if (this.#recorded.has(measured_at)) return
    this.#recorded.add(measured_at)
    const [oldest] = this.#recorded
    if (oldest !== undefined && this.#recorded.size > remembered_max) this.#recorded.delete(oldest)
    this.#needs.recorder.reading('node', {
      node_number: this.node.node_number,
      measured_at,
      quality: state.is_clock_wrong ? 'suspect' : quality,
      channel_values: state.channel_values,
    })
    // A message that comes late tells of what is over.
    if (measured_at < this.#newest_at) return
    this.#newest_at = measured_at
    for (const relay of state.relays) {
      this.#needs.recorder.event(this.#relayEvent(relay, measured_at))
    }
  }

  /** The event of a relay that was switched; null when it was not, or that was told before. */
  #relayEvent(relay: RelaySeen, measured_at: number): LinkEvent | null {
    const { conditions } = this.#needs
    const { node_id } = this.node
    const { channel, on, cause, reason } = relay
    const at = relay.changed_at ?? measured_at
    const known = conditions.relayOf(node_id, channel)
    if (known && (at < known.at || measured_at < known.at)) return null
    const is_later = relay.changed_at !== null && known !== null && at > known.at
    const is_other = known === null ? relay.changed_at !== null : known.on !== on
    if (known === null || is_other || is_later)
      conditions.rememberRelay(node_id, channel, { on, at })
    if (!is_other && !is_later) return null
    const from = known === null ? null : !on
    const condition = {
      ...this.#source,
      code: relayCodePrefix + channel,
      severity: 'info',
    } as const
    const said = reason === null ? cause : `${cause}, ${reason}`
    const message = `Relay ${channel} of node ${node_id} is ${on ? 'on' : 'off'}: ${said}`
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
