/** Sensor nodes: outages, temperatures, fans and doors; and temperatures of inverters. */
import { type Channel, channelUnits, default_running_above_a } from '@heliograph/domain/node'
import { isStale } from '../../plant/frame.ts'
import type { Queries } from '../../storage/database.ts'
import { lastEvent } from '../../storage/events.ts'
import { type AlertSource, type Finding, ofNode, type SourceContext } from '../finding.ts'
import type { AlertCode } from '../rules.ts'
import type { AlertSettings } from '../settings.ts'
import { findHotInverters } from './inverter-temperatures.ts'
import { isSettled, readPlantNow, settling_s, utc } from './plant-now.ts'

const channelCodes = [
  'temperature_high',
  'fan_failure',
  'door_open',
] as const satisfies readonly AlertCode[]

export const findNodes: AlertSource = async (context) => {
  const { db, site, settings, now } = context
  const [nodes, inverters, is_reachable] = await Promise.all([
    readNodes(db, site.site_id),
    findHotInverters(context),
    areNodesReachable(context),
  ])
  const fresh = nodes.filter((node) => !isStale(node.measured_at, node.report_s, now))
  const judged = fresh.flatMap((node) => judgeNode(node, settings))
  const holding = judged.filter((one) => one.holds === true)
  const since = await readSince(context, holding)
  const unsure = new Set(judged.filter(({ holds }) => holds === null).map(keyOf))
  const fresh_ids = new Set(fresh.map(({ node_id }) => node_id))
  const known = new Set(nodes.map(({ node_id }) => node_id))
  const offline = is_reachable ? nodes.filter(({ node_id }) => !fresh_ids.has(node_id)) : []
  return {
    findings: [
      ...holding.map((one, nth) => findingOf(one, since[nth]!)),
      ...offline.map(nodeOffline),
      ...inverters.findings,
    ],
    isUnknown(open) {
      if (open.source_type === 'inverter') return inverters.isUnknown(open)
      if (!known.has(open.source_id)) return false
      if (open.code === 'node_offline') return !is_reachable && !fresh_ids.has(open.source_id)
      if (!fresh_ids.has(open.source_id)) return true
      return unsure.has(`${open.code} ${open.source_id} ${open.part}`)
    },
  }
}

export interface AlertedNode {
  node_id: string
  node_number: number
  name: string
  report_s: number
  channels: Channel[]
  created_at: Date
  measured_at: Date | null
  channel_values: (number | null)[] | null
}

const readNodes = (db: Queries, site_id: string) =>
  db.query<AlertedNode>(
    `select n.node_id, n.node_number, n.name, n.report_s, n.channels, n.created_at,
       l.measured_at, l.channel_values
     from nodes n
     left join node_latest l on l.site_id = n.site_id and l.node_number = n.node_number
     where n.site_id = $1 and n.retired_at is null
     order by n.node_id`,
    [site_id],
  )

/** Nodes are unknown behind an offline edge or broker, and within the settling time after it. */
async function areNodesReachable(context: SourceContext): Promise<boolean> {
  const { site_id } = context.site
  const broker = { source_kind: 'edge', source_id: site_id, code: 'mqtt_disconnected' } as const
  const last = await lastEvent(context.db, { site_id, ...broker })
  if (!isSettled(await readPlantNow(context)) || last?.edge === 'rising') return false
  return !last || last.at <= new Date(context.now.getTime() - 1000 * settling_s)
}

const nodeOffline = ({ node_id, name, measured_at, created_at }: AlertedNode): Finding => ({
  code: 'node_offline',
  ...ofNode(node_id),
  since: measured_at ?? created_at,
  message:
    measured_at === null
      ? `Sensor node '${name}' has never sent data.`
      : `Sensor node '${name}' has sent no data since ${utc(measured_at)}.`,
})

interface Judged {
  node: AlertedNode
  channel: Channel
  code: (typeof channelCodes)[number]
  /** null: not measured, or within the hysteresis. */
  holds: boolean | null
  message: string
  severity?: 'warning'
  value: number | null
  threshold?: number
  /** The condition holds while the value is in this range and the relay, if any, is on. */
  within: { low?: number; high?: number; relay_position?: number }
}

const keyOf = ({ code, node, channel }: Judged) => `${code} ${node.node_id} ${channel.channel}`

/** Judges every channel that can have an alert; pure. */
export function judgeNode(node: AlertedNode, settings: AlertSettings): Judged[] {
  return node.channels.flatMap((channel, index) => {
    const value = node.channel_values?.[index] ?? null
    const judge = judges[channel.kind]
    return judge?.({ node, channel, value, settings }) ?? []
  })
}

interface Measured {
  node: AlertedNode
  channel: Channel
  value: number | null
  settings: AlertSettings
}

const judges: Partial<Record<Channel['kind'], (measured: Measured) => Judged | null>> = {
  temperature: judgeTemperature,
  fan_current: judgeFan,
  door: judgeDoor,
}

function judgeTemperature({ node, channel, value, settings }: Measured): Judged | null {
  const { thresholds } = settings.rules.temperature_high
  const { role, warn_high_c, alarm_high_c } = channel
  const usual_c = role && thresholds[`${role}_c`]
  const has_own = warn_high_c !== undefined || alarm_high_c !== undefined
  const alarm_c = has_own ? alarm_high_c : usual_c
  const lowest_c = Math.min(warn_high_c ?? Infinity, alarm_c ?? Infinity)
  if (lowest_c === Infinity) return null
  const is_alarm = value !== null && alarm_c !== undefined && value >= alarm_c
  const threshold = is_alarm ? alarm_c : lowest_c
  const is_below = value !== null && value < lowest_c - thresholds.hysteresis_k
  return {
    node,
    channel,
    code: 'temperature_high',
    value,
    threshold,
    holds: value !== null && value >= lowest_c ? true : is_below ? false : null,
    message: `${channel.label} of ${node.name}: ${value} °C, the limit is ${threshold} °C.`,
    ...(!is_alarm && { severity: 'warning' }),
    within: { low: lowest_c },
  }
}

/** Unknown when the relay that drives the fan is unknown. */
function judgeFan({ node, channel, value }: Measured): Judged | null {
  const relay_index = node.channels.findIndex(
    (one) => one.kind === 'relay' && one.channel === channel.relay,
  )
  if (relay_index === -1) return null
  const commanded = node.channel_values?.[relay_index] ?? null
  const threshold = channel.running_above_a ?? default_running_above_a
  const runs = value !== null && value > threshold
  const is_known = commanded !== null && value !== null
  return {
    node,
    channel,
    code: 'fan_failure',
    value,
    threshold,
    holds: commanded === 0 || runs ? false : is_known ? true : null,
    message: `${channel.label} of ${node.name} is switched on and draws ${value} A.`,
    within: { high: threshold, relay_position: relay_index + 1 },
  }
}

function judgeDoor({ node, channel, value }: Measured): Judged {
  return {
    node,
    channel,
    code: 'door_open',
    value: null,
    holds: value === null ? null : value === 1,
    message: `${channel.label} of ${node.name} is open.`,
    within: { low: 1, high: 1 },
  }
}

function findingOf(judged: Judged, since: Date): Finding {
  const { node, channel, code, message, severity, value, threshold } = judged
  const unit = channelUnits[channel.kind]
  return {
    code,
    ...ofNode(node.node_id),
    part: channel.channel,
    since,
    message,
    ...(severity && { severity }),
    ...(value !== null && { value }),
    ...(threshold !== undefined && { threshold }),
    ...(unit !== null && { unit }),
  }
}

const looked_back_s_min = 3600

/** Since when each condition holds without a break, within the searched time. */
async function readSince(
  { db, site, settings, now }: SourceContext,
  holding: readonly Judged[],
): Promise<Date[]> {
  if (holding.length === 0) return []
  const delays_s = channelCodes.map((code) => settings.rules[code].raise_delay_s)
  const looked_back_s = 2 * Math.max(looked_back_s_min, ...delays_s)
  const asked = holding.map(({ node, channel, within }, nth) => ({
    nth,
    node_number: node.node_number,
    position: node.channels.indexOf(channel) + 1,
    ...within,
  }))
  const rows = await db.query<{ nth: number; since: Date | null }>(since, [
    site.site_id,
    JSON.stringify(asked),
    new Date(now.getTime() - 1000 * looked_back_s),
    now,
  ])
  const found = new Map(rows.map((row) => [row.nth, row.since]))
  return holding.map(({ node }, nth) => found.get(nth) ?? node.measured_at ?? now)
}

// Values are stored as `real`, so limits are compared as `real`.
const since = `
  select a.nth, (
    select min(r.measured_at) from node_readings r
    where r.site_id = $1 and r.node_number = a.node_number
      and r.measured_at > coalesce(broken.at, $3::timestamptz) and r.measured_at <= $4
  ) as since
  from jsonb_to_recordset($2::jsonb)
    as a (nth int, node_number int, position int, low real, high real, relay_position int)
  left join lateral (
    select r.measured_at as at from node_readings r
    where r.site_id = $1 and r.node_number = a.node_number
      and r.measured_at > $3 and r.measured_at <= $4
      and (r.channel_values[a.position] < a.low or r.channel_values[a.position] > a.high
        or r.channel_values[a.relay_position] = 0)
    order by r.measured_at desc limit 1
  ) as broken on true`
