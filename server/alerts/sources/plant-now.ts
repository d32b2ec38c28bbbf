/** The present state of the plants of a site, read once per round for all sources. */
import { day_ms } from '@heliograph/domain/durations'
import type { CommState } from '@heliograph/domain/link'
import { asleep_below_deg, drowsy_ms, type Place, placeOf } from '@heliograph/domain/place'
import { solarPosition } from '@heliograph/physics/solar-position'
import {
  edgeCommState,
  type InverterCommState,
  type InverterVitals,
  inverterCommState,
} from '../../plant/communication.ts'
import { isStale } from '../../plant/frame.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import { type Situation, situationOf } from '../../plant/situation.ts'
import type { SourceContext } from '../finding.ts'

export interface EdgeNow {
  edge_id: string
  name: string
  connected_at: Date | null
  last_seen_at: Date | null
  journal_oldest_at: Date | null
  clock_offset_ms: number | null
}

export interface LoggerNow {
  logger_id: number
  name: string
  created_at: Date
  /** The newest reading of any device of the plant. */
  data_at: Date | null
  /** null where not measured or stale. */
  poa_irradiance_w_m2: number | null
}

export interface InverterNow extends InverterVitals {
  name: string
  driver: string
  rated_ac_power_kw: number
  nominal_efficiency_pct: number | null
  created_at: Date
  ac_power_kw: number | null
  limited_by: string | null
  /** `alarm_1` to `alarm_5`. */
  alarm_words: (number | null)[]
  /** The last change of `edge_comm_state`. */
  edge_since_at: Date | null
  comm_state: InverterCommState
}

/** Another device, with its connection to the edge. */
export interface DeviceNow {
  kind: 'station' | 'meter' | 'combiner'
  id: string
  name: string
  logger_id: number | null
  /** The inverter whose strings a combiner measures. */
  inverter_id: number | null
  comm_state: CommState
  since_at: Date
  error: string | null
}

export interface PlantNow {
  situation: Situation
  place: Place | null
  /** Since when there is enough daylight for inverters to run; null while they may sleep. */
  awake_since_at: Date | null
  edges: EdgeNow[]
  loggers: Map<number, LoggerNow>
  inverters: Map<number, InverterNow>
  devices: DeviceNow[]
  /** Start of the open alerts by key, so that sources need not search for it again. */
  known_since: Map<string, Date>
}

const read = new WeakMap<SourceContext, Promise<PlantNow>>()

/** All devices in service. Sources of one round share the result. */
export function readPlantNow(context: SourceContext): Promise<PlantNow> {
  const known = read.get(context) ?? readAll(context)
  read.set(context, known)
  return known
}

async function readAll({ db, site: { site_id }, now }: SourceContext): Promise<PlantNow> {
  const [facts, edges, loggers, inverters, devices, open] = await Promise.all([
    siteFacts(db, site_id),
    db.query<EdgeNow>(edgesNow, [site_id]),
    db.query<LoggerNow>(loggersNow, [site_id]),
    db.query<Omit<InverterNow, 'comm_state' | 'logger_data_at'>>(invertersNow, [site_id]),
    db.query<DeviceNow>(devicesNow, [site_id]),
    db.query<{ dedup_key: string; started_at: Date }>(
      "select dedup_key, started_at from alerts where site_id = $1 and status <> 'resolved'",
      [site_id],
    ),
  ])
  const edge_seen_at = latest(edges.map(({ last_seen_at }) => last_seen_at))
  const situation = situationOf({ ...facts, edge_seen_at }, now)
  const place = placeOf(facts)
  const invertersOf = Map.groupBy(inverters, ({ logger_id }) => logger_id)
  const data_at = new Map(
    loggers.map(({ logger_id, data_at: own_at }) => {
      const of_inverters = invertersOf.get(logger_id)?.map(({ measured_at }) => measured_at) ?? []
      return [logger_id, latest([own_at, ...of_inverters])]
    }),
  )
  return {
    situation,
    place,
    edges,
    devices,
    awake_since_at: awakeSince(place, now),
    loggers: new Map(
      loggers.map((row) => {
        const is_stale = isStale(row.data_at, situation.poll.logger_s, now)
        const poa_irradiance_w_m2 = is_stale ? null : row.poa_irradiance_w_m2
        return [
          row.logger_id,
          { ...row, poa_irradiance_w_m2, data_at: data_at.get(row.logger_id)! },
        ]
      }),
    ),
    inverters: new Map(
      inverters.map((row) => {
        const inverter = { ...row, logger_data_at: data_at.get(row.logger_id) ?? null }
        const comm_state = inverterCommState(inverter, situation)
        return [row.inverter_id, { ...inverter, comm_state }]
      }),
    ),
    known_since: new Map(open.map(({ dedup_key, started_at }) => [dedup_key, started_at])),
  }
}

export function latest(instants: readonly (Date | null | undefined)[]): Date | null {
  const known = instants.flatMap((instant) => instant?.getTime() ?? [])
  return known.length === 0 ? null : new Date(Math.max(...known))
}

const edgesNow = `
  select edge_id, name, connected_at, last_seen_at, journal_oldest_at, clock_offset_ms from edges
  where site_id = $1 and revoked_at is null order by edge_id`

const loggersNow = `
  select g.logger_id, g.name, g.created_at, l.measured_at as data_at, l.poa_irradiance_w_m2
  from loggers g left join logger_latest l using (site_id, logger_id)
  where g.site_id = $1 and g.retired_at is null order by g.logger_id`

const invertersNow = `
  select i.inverter_id, i.logger_id, i.name, i.driver, i.rated_ac_power_kw,
    i.nominal_efficiency_pct, i.created_at, l.measured_at, l.state, l.ac_power_kw, l.limited_by,
    array[l.alarm_1, l.alarm_2, l.alarm_3, l.alarm_4, l.alarm_5]::float8[] as alarm_words,
    d.comm_state as edge_comm_state, d.since_at as edge_since_at
  from inverters i
    left join inverter_latest l using (site_id, inverter_id)
    left join device_status d
      on d.site_id = i.site_id and d.kind = 'inverter' and d.id = i.inverter_id::text
  where i.site_id = $1 and i.retired_at is null order by i.inverter_id`

const devicesNow = `
  select d.kind, d.id, o.name, o.logger_id, o.inverter_id, d.comm_state, d.since_at, d.error
  from device_status d
    join (
      select 'station' as kind, station_id::text as id, name, logger_id, null::int as inverter_id
      from stations where site_id = $1 and retired_at is null
      union all
      select 'meter', meter_id::text, name, logger_id, null from meters
      where site_id = $1 and retired_at is null
      union all
      select 'combiner', s.combiner_id, s.combiner_id, min(i.logger_id), min(i.inverter_id)
      from strings s join inverters i using (site_id, inverter_id)
      where s.site_id = $1 and s.combiner_id is not null and s.retired_at is null
        and i.retired_at is null
      group by s.combiner_id
    ) as o using (kind, id)
  where d.site_id = $1
  order by 1, 2`

const step_ms = 300_000

/**
 * Since when, to five minutes, inverters must be running: from `drowsy_ms` after sunrise to
 * `drowsy_ms` before sunset. Without coordinates: since a day ago.
 */
export function awakeSince(place: Place | null, now: Date): Date | null {
  const now_ms = now.getTime()
  if (place === null) return new Date(now_ms - day_ms)
  const { latitude, longitude, elevation_m } = place
  const isUp = (time_ms: number) =>
    solarPosition(time_ms, latitude, longitude, { elevation_m }).apparent_elevation_deg >=
    asleep_below_deg
  if (!isUp(now_ms) || !isUp(now_ms + drowsy_ms) || !isUp(now_ms - drowsy_ms)) return null
  let risen_ms = now_ms - drowsy_ms
  while (now_ms - risen_ms < day_ms && isUp(risen_ms - step_ms)) risen_ms -= step_ms
  return new Date(risen_ms + drowsy_ms)
}

export const connectedEdges = ({ edges, situation }: Pick<PlantNow, 'edges' | 'situation'>) =>
  edges.filter((edge) => ['connected', 'backfilling'].includes(edgeCommState(edge, situation.now)))

/** After an edge reconnects, its devices get this long to answer before they are judged. */
export const settling_s = 120

/** Whether an edge has been connected for longer than the settling time. */
export const isSettled = (plant: PlantNow) =>
  connectedEdges(plant).some(
    ({ connected_at }) =>
      connected_at !== null &&
      plant.situation.now.getTime() - connected_at.getTime() >= 1000 * settling_s,
  )

/** Whether the last reading shows the present state. */
export const isLive = (inverter: InverterNow | undefined): inverter is InverterNow =>
  inverter?.comm_state === 'connected'

export const isFaulted = (inverter: InverterNow): boolean =>
  isLive(inverter) && inverter.state === 'fault'

export const isRunning = (inverter: InverterNow | undefined): inverter is InverterNow =>
  isLive(inverter) && inverter.state !== 'fault'

/** `2026-06-21 10:04 UTC` */
export const utc = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
