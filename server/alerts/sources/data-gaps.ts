/**
 * Gaps in the readings that no other alert reports: open gaps of devices that answer, and readings
 * that are lost. Gaps of several devices with one cause share an alert.
 */
import { day_ms } from '@heliograph/domain/durations'
import type { Cause } from '../../telemetry/gaps/evidence.ts'
import { readingsOf, type SourceType } from '../../telemetry/gaps/sources.ts'
import { type AlertSource, type Finding, type OpenAlert, ofLogger, type Scan } from '../finding.ts'
import { type GapAlert, isOfSource } from '../gap-alerts.ts'
import { type HandledAt, readHandled } from './handled.ts'
import { connectedEdges, type PlantNow, readPlantNow, utc } from './plant-now.ts'

/** Lost readings are reported for this long. */
const reported_ms = day_ms
/** More devices are only counted. */
const named_max = 3
const inWords = new Intl.ListFormat('en-GB', { type: 'conjunction' })
/** The longest gap that is found. */
const longest_ms = 30 * day_ms
/** Other causes are planned, or reported by an offline alert. */
const alertedCauses: Partial<Record<Cause, string>> = {
  clock_jump: 'the clock of the edge agent was set forward',
  buffer_overflow: 'the edge agent could not store them',
  agent_stopped: 'the edge agent was stopped',
  unknown: 'the cause is unknown',
}

export interface GapNow {
  logger_id: number | null
  source_type: SourceType
  source_id: string
  start_at: Date
  end_at: Date | null
  cause: Cause
  status: 'open' | 'unrecoverable'
  /** When the gap ended and was known to be permanent; null while it lasts. */
  known_at: Date | null
  /** Whether the device answers the edge. */
  is_answering: boolean
}

/** An offline alert, open or resolved. */
export type Outage = Omit<GapAlert, 'alert_id'> & Pick<OpenAlert, 'logger_id'>

export const findDataGaps: AlertSource = async (context) => {
  const { db, site, settings, now } = context
  const reported_since = new Date(now.getTime() - reported_ms)
  const [plant, gaps, outages, handledAt] = await Promise.all([
    readPlantNow(context),
    db.query<GapNow>(gapsNow, [
      site.site_id,
      reported_since,
      new Date(reported_since.getTime() - longest_ms),
      now,
    ]),
    db.query<Outage>(outagesOf, [
      site.site_id,
      outage_codes,
      new Date(reported_since.getTime() - longest_ms),
    ]),
    readHandled(db, site.site_id, reported_since),
  ])
  const is_connected = connectedEdges(plant).length > 0
  const length_ms_min = 1000 * settings.rules.data_gap.raise_delay_s
  return {
    findings: judgeGaps(gaps, {
      site_id: site.site_id,
      now,
      length_ms_min,
      is_connected,
      loggers: plant.loggers,
      outages,
      handledAt,
    }),
    // The journal of a disconnected edge may still hold the readings.
    isUnknown: () => !is_connected,
  } satisfies Scan
}

const eventKinds = Object.entries(readingsOf).map(([type, { event_kind }]) => [type, event_kind])

const gapsNow = `
  select g.logger_id, g.source_type, g.source_id, g.start_at, g.end_at, g.cause, g.status,
    case when g.end_at is not null
      then greatest(g.end_at, case when g.updated_at <= $4 then g.updated_at end) end as known_at,
    coalesce(d.comm_state = 'connected', false) as is_answering
  from gaps g
    left join device_status d on d.site_id = g.site_id and d.id = g.source_id
      and d.kind = case g.source_type ${eventKinds
        .map(([type, kind]) => `when '${type}' then '${kind}'`)
        .join(' ')} end
  where g.site_id = $1 and g.start_at > $3
    and (g.status = 'open' and g.end_at is null or g.status = 'unrecoverable' and g.end_at > $2)
  order by g.start_at, g.gap_id`

const outage_codes = [
  'edge_offline',
  'logger_offline',
  'inverter_offline',
  'device_offline',
  'node_offline',
] satisfies readonly string[]
const outagesOf = `
  select code, source_type, source_id, part, logger_id, started_at,
    case when status = 'resolved' then coalesce(ended_at, resolved_at) end as ended_at
  from alerts
  where site_id = $1 and code = any ($2)
    and (status <> 'resolved' or coalesce(ended_at, resolved_at) > $3)
  order by started_at`

interface Judging {
  site_id: string
  now: Date
  /** Shorter gaps are not reported. */
  length_ms_min: number
  is_connected: boolean
  loggers: PlantNow['loggers']
  /** Oldest first. */
  outages: readonly Outage[]
  handledAt: HandledAt
}

/** One finding per status and cause: of the plant of all its gaps, else of the site. */
export function judgeGaps(gaps: readonly GapNow[], judging: Judging): Finding[] {
  const reported = gaps.filter((gap) => isReported(gap, judging))
  const kinds = Map.groupBy(reported, partOf)
  return [...kinds].map(([part, members]) => findingOf(part, members, judging))
}

const isReported = (gap: GapNow, judging: Judging): boolean =>
  gap.cause in alertedCauses &&
  unreportedLength(gap, judging) >= judging.length_ms_min &&
  !isHandled(gap, judging) &&
  (gap.status !== 'open' || (judging.is_connected && gap.is_answering))

/** Whether a person resolved the alert of the gap, of its plant or of the site. */
function isHandled(
  { known_at, logger_id, ...gap }: GapNow,
  { site_id, handledAt }: Judging,
): boolean {
  if (known_at === null) return false
  return [`logger:${logger_id}`, `site:${site_id}`].some((source) => {
    const at = handledAt(`data_gap:${source}:${partOf(gap)}`)
    return at !== undefined && at > known_at
  })
}

const partOf = ({ status, cause }: Pick<GapNow, 'status' | 'cause'>) => `${status}_${cause}`

/** Milliseconds of a gap that no offline alert covers. */
function unreportedLength(gap: GapNow, { now, outages }: Judging): number {
  const end_ms = (gap.end_at ?? now).getTime()
  let reported_to_ms = gap.start_at.getTime()
  let unreported_ms = 0
  for (const outage of outages.filter((one) => isCausedBy(gap, one))) {
    const from_ms = Math.min(outage.started_at.getTime(), end_ms)
    unreported_ms += Math.max(0, from_ms - reported_to_ms)
    reported_to_ms = Math.max(reported_to_ms, Math.min((outage.ended_at ?? now).getTime(), end_ms))
  }
  return unreported_ms + Math.max(0, end_ms - reported_to_ms)
}

/** Whether an outage covers the device of a gap. Plant readings come from the met stations. */
function isCausedBy(gap: GapNow, outage: Outage): boolean {
  const { source_type: type, logger_id } = outage
  if (type === 'edge') return true
  const is_same_plant = gap.logger_id !== null && gap.logger_id === logger_id
  if (type === 'logger') return is_same_plant
  if (gap.source_type === 'logger') return type === 'station' && is_same_plant
  return isOfSource(outage, gap)
}

function findingOf(
  part: string,
  members: readonly GapNow[],
  { site_id, loggers }: Judging,
): Finding {
  const first = members[0]!
  const plants = new Set(members.map(({ logger_id }) => logger_id))
  const logger = plants.size === 1 ? loggers.get(first.logger_id ?? Number.NaN) : undefined
  const source = logger
    ? ofLogger(logger.logger_id)
    : { source_type: 'site' as const, source_id: site_id }
  const named = members.map(({ source_type: type, source_id: id }) => `${type} ${id}`)
  const devices = [...new Set(named)].map((name) => name.replaceAll('_', ' '))
  const more = devices.length - named_max
  const of = [...devices.slice(0, named_max), ...(more > 0 ? [`${more} more`] : [])]
  const ends = members.flatMap(({ end_at }) => end_at?.getTime() ?? [])
  const is_lost = first.status === 'unrecoverable'
  const when = is_lost
    ? `between ${utc(first.start_at)} and ${utc(new Date(Math.max(...ends)))}`
    : `since ${utc(first.start_at)}`
  const end = is_lost ? ' They cannot be recovered.' : ''
  return {
    code: 'data_gap',
    ...source,
    part,
    since: first.start_at,
    message: `Readings of ${inWords.format(of)} are missing ${when}: ${alertedCauses[first.cause]}.${end}`,
  }
}
