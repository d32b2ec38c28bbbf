/**
 * Holes in the readings that no other alert tells: of devices that answer, and what is lost for
 * good. What is missing of many devices for one reason is one alert.
 */
import { day_ms } from '@heliograph/domain/utc-day'
import type { Cause } from '../../telemetry/gaps/evidence.ts'
import { readingsOf, type SourceType } from '../../telemetry/gaps/sources.ts'
import {
  type SourceType as AlertedType,
  type AlertSource,
  dedupKey,
  type Finding,
  type Look,
} from '../finding.ts'
import type { AlertCode } from '../rules.ts'
import { heardEdges, type PlantNow, readPlantNow, utc } from './plant-now.ts'
import { readSeenTo, type SeenTo } from './seen-to.ts'

export const dataGapCodes = ['data_gap'] as const satisfies readonly AlertCode[]

/** What is lost is told for so long. */
const told_ms = day_ms
/** So many devices are named. */
const named_max = 3
const inWords = new Intl.ListFormat('en-GB', { type: 'conjunction' })
/** Gaps are looked for that began so long before at most. */
const longest_ms = 30 * day_ms
/** That a device was silent is told as such, and what was planned needs not be told. */
const toldCauses: Partial<Record<Cause, string>> = {
  clock_jump: 'the clock of the edge agent was put forward',
  buffer_overflow: 'the edge agent could not keep them',
  agent_stopped: 'the edge agent was stopped',
  unknown: 'nothing that was noticed explains it',
}

export interface GapNow {
  logger_id: number | null
  source_type: SourceType
  source_id: string
  start_at: Date
  end_at: Date | null
  cause: Cause
  status: 'open' | 'unrecoverable'
  /** When it was over and, where it stays, known to stay; null while it lasts. */
  known_at: Date | null
  /** Whether the edge gets an answer of the device. */
  is_answering: boolean
}

/** An alert of one who did not answer, also one that is resolved. */
export interface Outage {
  source_type: AlertedType
  source_id: string
  /** Of a combiner, its name. */
  part: string | null
  logger_id: number | null
  started_at: Date
  /** null: it lasts. */
  ended_at: Date | null
}

export const findDataGaps: AlertSource = async (context) => {
  const { db, site, settings, now } = context
  const told_since = new Date(now.getTime() - told_ms)
  const [plant, gaps, outages, seenTo] = await Promise.all([
    readPlantNow(context),
    db.query<GapNow>(gapsNow, [
      site.site_id,
      told_since,
      new Date(told_since.getTime() - longest_ms),
      now,
    ]),
    db.query<Outage>(outagesOf, [
      site.site_id,
      outage_codes,
      new Date(told_since.getTime() - longest_ms),
    ]),
    readSeenTo(db, site.site_id, told_since),
  ])
  const is_heard = heardEdges(plant).length > 0
  const length_ms_min = 1000 * settings.rules.data_gap.raise_delay_s
  return {
    findings: judgeGaps(gaps, {
      site_id: site.site_id,
      now,
      length_ms_min,
      is_heard,
      loggers: plant.loggers,
      outages,
      seenTo,
    }),
    // While the edge is silent nobody knows what it still holds.
    cannotTell: () => !is_heard,
  } satisfies Look
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
  select source_type, source_id, part, logger_id, started_at,
    case when status = 'resolved' then coalesce(ended_at, resolved_at) end as ended_at
  from alerts
  where site_id = $1 and code = any ($2)
    and (status <> 'resolved' or coalesce(ended_at, resolved_at) > $3)
  order by started_at`

interface Judging {
  site_id: string
  now: Date
  /** Shorter ones are not told. */
  length_ms_min: number
  is_heard: boolean
  loggers: PlantNow['loggers']
  /** The earliest first. */
  outages: readonly Outage[]
  seenTo: SeenTo
}

/** One finding for each cause, of a plant where all of it is of that, else of the site. */
export function judgeGaps(gaps: readonly GapNow[], judging: Judging): Finding[] {
  const told = gaps.filter((gap) => isTold(gap, judging))
  const kinds = Map.groupBy(told, partOf)
  return [...kinds].map(([part, members]) => findingOf(part, members, judging))
}

function isTold(gap: GapNow, judging: Judging): boolean {
  const { length_ms_min, is_heard } = judging
  const { cause, status, is_answering } = gap
  if (!(cause in toldCauses) || untoldLength(gap, judging) < length_ms_min) return false
  if (isSeenTo(gap, judging)) return false
  return status === 'open' ? is_heard && is_answering : true
}

/** Whether a person resolved what told of it: an alert of its plant, or of the site. */
function isSeenTo({ known_at, logger_id, ...gap }: GapNow, { site_id, seenTo }: Judging): boolean {
  if (known_at === null) return false
  const sources = [
    { source_type: 'logger', source_id: `${logger_id}` },
    { source_type: 'site', source_id: site_id },
  ] as const
  return sources.some((source) => {
    const at = seenTo(dedupKey({ code: 'data_gap', ...source, part: partOf(gap) }))
    return at !== undefined && at > known_at
  })
}

/** What tells the alerts of gaps of one source apart. */
const partOf = ({ status, cause }: Pick<GapNow, 'status' | 'cause'>) => `${status}_${cause}`

/** Milliseconds of a gap that no alert tells of one who did not answer. */
function untoldLength(gap: GapNow, { now, outages }: Judging): number {
  const end_ms = (gap.end_at ?? now).getTime()
  let told_to_ms = gap.start_at.getTime()
  let untold_ms = 0
  for (const outage of outages.filter((one) => isBehind(gap, one))) {
    const from_ms = Math.min(outage.started_at.getTime(), end_ms)
    untold_ms += Math.max(0, from_ms - told_to_ms)
    told_to_ms = Math.max(told_to_ms, Math.min((outage.ended_at ?? now).getTime(), end_ms))
  }
  return untold_ms + Math.max(0, end_ms - told_to_ms)
}

/** What alerts call the source of a gap. */
const alertedTypes: Partial<Record<SourceType, AlertedType>> = {
  inverter: 'inverter',
  meter: 'meter',
  weather_sensor: 'station',
  sensor_node: 'node',
}

/** Whether a gap is of what did not answer. What a plant measures itself comes of its stations. */
function isBehind({ source_type, source_id, logger_id }: GapNow, outage: Outage): boolean {
  const { source_type: type, logger_id: of_plant } = outage
  if (type === 'edge') return true
  const is_same_plant = logger_id !== null && logger_id === of_plant
  if (type === 'logger') return is_same_plant
  if (source_type === 'logger') return type === 'station' && is_same_plant
  if (source_type === 'string') return outage.part === source_id
  return type === alertedTypes[source_type] && outage.source_id === source_id && !outage.part
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
    ? { source_type: 'logger' as const, source_id: `${logger.logger_id}` }
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
  const end = is_lost ? ' They are lost for good.' : ''
  return {
    code: 'data_gap',
    ...source,
    part,
    since: first.start_at,
    ...(logger && { logger_id: logger.logger_id }),
    message: `Readings of ${inWords.format(of)} are missing ${when}: ${toldCauses[first.cause]}.${end}`,
  }
}
