/** What edges and the server itself reported as events, and clocks of edges that are off. */
import type { DeviceKind } from '@heliograph/domain/link'
import { readConditions } from '../../batteries/conditions.ts'
import type { Queries } from '../../storage/database.ts'
import { newestEvents } from '../../storage/events.ts'
import type { AlertSource, Finding, SourceContext, SourceType } from '../finding.ts'
import type { AlertCode } from '../rules.ts'
import { alertOf, alertsOfEvents, type ToldEvent } from './event-alerts.ts'
import { withoutSeenTo } from './seen-to.ts'
import { readSilence, type Silence } from './silent-batteries.ts'

const day_ms = 86_400_000
/** Events that came later than this are history. */
const late_ms_max = 7 * day_ms
/** An edge tells how it is every few seconds; of one that does not nobody knows its clock. */
const silent_s_max = 60

export const edgeConditionCodes: readonly AlertCode[] = alertsOfEvents

/**
 * What rose and did not fall, by the last word of the edge, and what happened once within a day. An
 * edge that is silent leaves its last word standing: `edge_offline` says that it is.
 */
export const findEdgeConditions: AlertSource = async (context) => {
  const { db, site, now } = context
  const { site_id } = site
  const [standing, ofBatteries, once, clocks, silence] = await Promise.all([
    readStanding(db, site_id),
    readConditions(db, { site_id, bess_id: null, only_set: true }),
    readOnce(db, site_id, now),
    findClocks(context),
    readSilence(context),
  ])
  const retired = new Set(
    standing.filter(({ code }) => code === 'device_retired').map((one) => sourceKey(one)),
  )
  const lasting = [...standing, ...ofBatteries]
    .filter((one) => !retired.has(sourceKey(one)))
    .flatMap((one) => asItself(one, silence))
  const past = once.flatMap((event) => {
    const finding = findingOf(event)
    return finding ? { finding, known_at: event.received_at } : []
  })
  const findings = [
    ...lasting.flatMap((event) => findingOf(event) ?? []),
    ...(await withoutSeenTo(db, site_id, past)),
    ...clocks,
  ]
  return { findings, cannotTell: () => false }
}

/** What the edge says of a PCS only because that does not answer. */
const ofSilence = ['setpoint_not_armed', 'setpoint_not_taken', 'pcs_counts_in_full']

/** Without what follows of a silence, which is told as such; of what is back, from then on. */
function asItself<Event extends ToldEvent>(event: Event, silence: Silence): Event[] {
  const { source_kind, source_id, code, at } = event
  if (source_kind !== 'pcs' || !ofSilence.includes(code)) return [event]
  if (silence.isBehind(source_id)) return []
  const back_at = silence.answeringSince(source_id)
  return [{ ...event, at: back_at && back_at > at ? back_at : at }]
}

const sourceKey = ({ source_kind, source_id }: ToldEvent) => `${source_kind} ${source_id}`

function findingOf(event: ToldEvent): Finding | null {
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

/** Of a part of a unit that is read by itself, such as `1.cluster.0`, the unit. */
function concerned({
  source_kind,
  source_id,
}: ToldEvent): Pick<Finding, 'source_type' | 'source_id'> & Partial<Finding> {
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

const readStanding = (db: Queries, site_id: string) => db.query<ToldEvent>(standing, [site_id])

/** The newest of each code and source that came within a day. */
const readOnce = (db: Queries, site_id: string, now: Date) =>
  db.query<ToldEvent & { received_at: Date }>(
    `select distinct on (source_kind, source_id, code)
       source_kind, source_id, code, severity, message, at, received_at
     from events
     where site_id = $1 and edge = 'once' and at > $2 and received_at > $3 and code not like 'relay:%'
     order by source_kind, source_id, code, at desc, event_id desc`,
    [site_id, new Date(now.getTime() - late_ms_max), new Date(now.getTime() - day_ms)],
  )

/** Clocks that the server finds off, also where their edge trusts them. */
async function findClocks({ db, site, settings, now }: SourceContext): Promise<Finding[]> {
  const { offset_s: threshold } = settings.rules.clock_untrusted.thresholds
  const edges = await db.query<{ edge_id: string; name: string; offset_s: number; since: Date }>(
    `select edge_id, name, clock_offset_ms / 1000.0::float8 as offset_s, connected_at as since
     from edges
     where site_id = $1 and revoked_at is null and connected_at is not null
       and last_seen_at >= $2 and abs(clock_offset_ms) > 1000 * $3::float8`,
    [site.site_id, new Date(now.getTime() - 1000 * silent_s_max), threshold],
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
