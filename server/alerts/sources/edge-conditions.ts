/** Events of edges and of the server, and wrong clocks of edges. */
import { day_ms } from '@heliograph/domain/durations'
import type { DeviceKind } from '@heliograph/domain/link'
import { readConditions } from '../../batteries/conditions.ts'
import type { Queries } from '../../storage/database.ts'
import { newestEvents } from '../../storage/events.ts'
import type { AlertSource, Finding, SourceContext, SourceType } from '../finding.ts'
import type { AlertCode } from '../rules.ts'
import { type BatteryOutages, readBatteryOutages } from './battery-outages.ts'
import { alertOf, alertsOfEvents, type SourceEvent } from './event-alerts.ts'
import { withoutHandled } from './handled.ts'

/** Older events are not reported. */
const late_ms_max = 7 * day_ms
/** Edges report every few seconds; without a fresh report the clock is unknown. */
const stale_after_s = 60

export const edgeConditionCodes: readonly AlertCode[] = alertsOfEvents

/**
 * Conditions that are set in the last report of the edge, and single events of the last day. An
 * offline edge leaves its last report in force; `edge_offline` reports the outage.
 */
export const findEdgeConditions: AlertSource = async (context) => {
  const { db, site, now } = context
  const { site_id } = site
  const [standing, ofBatteries, once, clocks, outages] = await Promise.all([
    readStanding(db, site_id),
    readConditions(db, { site_id, bess_id: null, only_set: true }),
    readOnce(db, site_id, now),
    findClocks(context),
    readBatteryOutages(context),
  ])
  const retired = new Set(
    standing.filter(({ code }) => code === 'device_retired').map((one) => sourceKey(one)),
  )
  const lasting = [...standing, ...ofBatteries]
    .filter((one) => !retired.has(sourceKey(one)))
    .flatMap((one) => afterOutage(one, outages))
  const past = once.flatMap((event) => {
    const finding = findingOf(event)
    return finding ? { finding, known_at: event.received_at } : []
  })
  const findings = [
    ...lasting.flatMap((event) => findingOf(event) ?? []),
    ...(await withoutHandled(db, site_id, past)),
    ...clocks,
  ]
  return { findings, isUnknown: () => false }
}

/** Conditions that the edge reports of a PCS that does not answer. */
const outageCodes = ['setpoint_not_armed', 'setpoint_not_taken', 'pcs_counts_in_full']

/** Leaves out consequences of an outage. Once the PCS answers, its conditions start anew. */
function afterOutage<Event extends SourceEvent>(event: Event, outages: BatteryOutages): Event[] {
  const { source_kind, source_id, code, at } = event
  if (source_kind !== 'pcs' || !outageCodes.includes(code)) return [event]
  if (outages.isOffline(source_id)) return []
  const back_at = outages.answeringSince(source_id)
  return [{ ...event, at: back_at && back_at > at ? back_at : at }]
}

const sourceKey = ({ source_kind, source_id }: SourceEvent) => `${source_kind} ${source_id}`

function findingOf(event: SourceEvent): Finding | null {
  const alert = alertOf(event)
  if (!alert) return null
  const { code, part, severity, message } = alert
  return {
    code,
    message,
    since: event.at,
    ...(part !== null && { part }),
    ...(severity !== null && { severity }),
    ...concerned(event),
  }
}

/** A part of a battery unit, such as `1.cluster.0`, belongs to its unit. */
function concerned({
  source_kind,
  source_id,
}: SourceEvent): Pick<Finding, 'source_type' | 'source_id'> & Partial<Finding> {
  const [unit = source_id] = source_id.split('.', 1)
  switch (source_kind as DeviceKind | 'site') {
    case 'logger':
      return { source_type: 'logger', source_id, logger_id: Number(source_id) }
    case 'inverter':
      return { source_type: 'inverter', source_id, inverter_id: Number(source_id) }
    case 'node':
      return { source_type: 'node', source_id, node_id: source_id }
    case 'bess':
    case 'pcs':
      return { source_type: source_kind as SourceType, source_id, bess_id: Number(unit) }
    default:
      return { source_type: source_kind as SourceType, source_id }
  }
}

const standing = {
  name: 'alerts_standing_events',
  text: `${newestEvents("site_id = $1 and source_kind not in ('bess', 'pcs') and edge <> 'once'")}
    select source_kind, source_id, code, severity, message, at from newest where edge = 'rising'`,
}

const readStanding = (db: Queries, site_id: string) => db.query<SourceEvent>(standing, [site_id])

/** The newest event of each code and source of the last day. */
const readOnce = (db: Queries, site_id: string, now: Date) =>
  db.query<SourceEvent & { received_at: Date }>(
    `select distinct on (source_kind, source_id, code)
       source_kind, source_id, code, severity, message, at, received_at
     from events
     where site_id = $1 and edge = 'once' and at > $2 and received_at > $3 and code not like 'relay:%'
     order by source_kind, source_id, code, at desc, event_id desc`,
    [site_id, new Date(now.getTime() - late_ms_max), new Date(now.getTime() - day_ms)],
  )

/** Clocks that differ from the server, even where the edge trusts them. */
async function findClocks({ db, site, settings, now }: SourceContext): Promise<Finding[]> {
  const { offset_s: threshold } = settings.rules.clock_untrusted.thresholds
  const edges = await db.query<{ edge_id: string; name: string; offset_s: number; since: Date }>(
    `select edge_id, name, clock_offset_ms / 1000.0::float8 as offset_s, connected_at as since
     from edges
     where site_id = $1 and revoked_at is null and connected_at is not null
       and last_seen_at >= $2 and abs(clock_offset_ms) > 1000 * $3::float8`,
    [site.site_id, new Date(now.getTime() - 1000 * stale_after_s), threshold],
  )
  return edges.map(({ edge_id, name, offset_s, since }) => {
    const way = offset_s > 0 ? 'ahead of' : 'behind'
    return {
      code: 'clock_untrusted' as const,
      source_type: 'edge' as const,
      source_id: edge_id,
      part: 'offset',
      since,
      message: `The clock of edge ${name} is ${Math.abs(offset_s).toFixed(1)} s ${way} the server's.`,
      value: Math.abs(offset_s),
      threshold,
      unit: 's',
    }
  })
}
