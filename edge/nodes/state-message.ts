/** Parses a state message of a node; invalid parts are left out and reported. Pure. */
import {
  type Channel,
  type ChannelKind,
  type Node,
  type RelayCause,
  relayCauses,
  stateFields,
} from '@heliograph/domain/node'
import { isDate } from '@heliograph/domain/utc-day'
import type { Complaint } from '../drivers/driver.ts'

export interface RelaySeen {
  channel: string
  on: boolean
  cause: RelayCause
  reason: string | null
  /** Unix ms; null if not reported. */
  changed_at: number | null
}

export interface StateSeen {
  /** Unix ms by the node's clock; null if it has none, or a wrong one. */
  measured_at: number | null
  /** The node reported an impossible time. */
  is_clock_wrong: boolean
  /** In the order of the node's channels. */
  channel_values: (number | null)[]
  relays: RelaySeen[]
}

export const payload_bytes_max = 65_536
const reason_length_max = 200
const complaints_max = 10

/** Allowed lead of a clock; a time older than a year is that of a clock that was never set. */
const ahead_ms_max = 5000
const age_ms_max = 366 * 86_400_000

const ranges: Readonly<Record<'temperature' | 'humidity' | 'fan_current', [number, number]>> = {
  temperature: [-60, 250],
  humidity: [0, 110],
  fan_current: [0, 1000],
}

type Fields = Readonly<Record<string, unknown>>

/** `state` is null if it is no state message, or has no valid value. */
export function readState(
  node: Pick<Node, 'channels'>,
  payload: Buffer,
  now: number,
): { state: StateSeen | null; complaints: Complaint[] } {
  const complaints: Complaint[] = []
  const message = objectIn(payload)
  if (typeof message === 'string') {
    return { state: null, complaints: [{ point: 'state', reason: message }] }
  }
  const time = instantOf(message['measured_at'], now)
  if (time === 'wrong') {
    complaints.push({ point: 'measured_at', reason: 'the clock of the node is wrong or not UTC' })
  }
  const parts = partsOf(message, node.channels, complaints)
  const relays = node.channels.flatMap((channel) =>
    channel.kind === 'relay' ? (relayOf(channel, parts.relay, now, complaints) ?? []) : [],
  )
  // Relays have the same clock.
  if (time === 'wrong') for (const relay of relays) relay.changed_at = null
  const on = new Map(relays.map((relay) => [relay.channel, relay.on]))
  const state: StateSeen = {
    measured_at: typeof time === 'number' ? time : null,
    is_clock_wrong: time === 'wrong',
    channel_values: node.channels.map((channel) =>
      channel.kind === 'relay'
        ? bit(on.get(channel.channel))
        : measuredOf(channel, parts[channel.kind], complaints),
    ),
    relays,
  }
  const is_empty = state.channel_values.every((value) => value === null)
  if (is_empty) complaints.unshift({ point: 'state', reason: 'it has no valid value' })
  return { state: is_empty ? null : state, complaints: complaints.slice(0, complaints_max) }
}

function objectIn(payload: Buffer): Fields | string {
  if (payload.length > payload_bytes_max) return `${payload.length} bytes are too many`
  try {
    const message: unknown = JSON.parse(payload.toString('utf8'))
    return isFields(message) ? message : 'not a JSON object'
  } catch {
    return 'not JSON'
  }
}

/** Parts of a message by kind of channel; unknown channel names are complaints. */
function partsOf(
  message: Fields,
  channels: readonly Channel[],
  complaints: Complaint[],
): Record<ChannelKind, Fields> {
  const entries = Object.entries(stateFields).map(([kind, field]) => {
    const part = message[field] ?? {}
    if (!isFields(part)) {
      complaints.push({ point: field, reason: 'not a JSON object' })
      return [kind, {}]
    }
    const known = new Set(channels.filter((c) => c.kind === kind).map((c) => c.channel))
    const strange = Object.keys(part).filter((name) => !known.has(name))
    if (strange.length > 0) {
      const reason = `${strange.length} channels that site.yaml does not name`
      complaints.push({ point: field, reason })
    }
    return [kind, part]
  })
  return Object.fromEntries(entries)
}

function measuredOf(
  { channel, kind }: Channel,
  part: Fields,
  complaints: Complaint[],
): number | null {
  const value = ownValue(part, channel)
  if (value === null) return null
  const complain = (reason: string) => {
    complaints.push({ point: `${stateFields[kind]}.${channel}`, reason })
    return null
  }
  if (kind === 'door') {
    return typeof value === 'boolean' ? bit(value) : complain('neither true nor false')
  }
  if (typeof value !== 'number' || kind === 'relay') return complain('not a number')
  const [least, most] = ranges[kind]
  if (value >= least && value <= most) return value
  return complain(`${value} is outside ${least} to ${most}`)
}

function relayOf(
  { channel }: Channel,
  part: Fields,
  now: number,
  complaints: Complaint[],
): RelaySeen | null {
  const relay = ownValue(part, channel)
  if (relay === null) return null
  const complain = (reason: string) => {
    complaints.push({ point: `relays.${channel}`, reason })
    return null
  }
  if (!isFields(relay) || typeof relay['on'] !== 'boolean') return complain('says not if it is on')
  const { cause = 'unknown', reason } = relay
  const known = relayCauses.find((one) => one === cause)
  if (known === undefined) complain('its cause is none that is known')
  const changed_at = instantOf(relay['changed_at'], now)
  if (changed_at === 'wrong') complain('changed_at is no time that can be')
  return {
    channel,
    on: relay['on'],
    cause: known ?? 'unknown',
    reason: typeof reason === 'string' ? plainText(reason) : null,
    changed_at: changed_at === 'wrong' ? null : changed_at,
  }
}

const with_offset = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i

function instantOf(value: unknown, now: number): number | null | 'wrong' {
  if (value === undefined || value === null) return null
  const at = typeof value === 'string' ? parsed(value) : value
  if (typeof at !== 'number' || !(at >= now - age_ms_max && at <= now + ahead_ms_max)) {
    return 'wrong'
  }
  return Math.round(at)
}

/** NaN for an invalid time. */
function parsed(text: string): number {
  const day = with_offset.exec(text)?.[1]
  return day !== undefined && isDate(day) ? Date.parse(text) : Number.NaN
}

/** Text without control characters and with complete surrogates, for database and people. */
function plainText(text: string): string | null {
  const plain = text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
  return plain === '' ? null : plain.slice(0, reason_length_max).toWellFormed()
}

const ownValue = (part: Fields, name: string) =>
  Object.hasOwn(part, name) ? (part[name] ?? null) : null

const bit = (value: boolean | undefined) => (value === undefined ? null : Number(value))

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
