/** Sources of readings, whose gaps are recorded, and their tables. */
import { type Position, placeOf } from '@heliograph/domain/place'
import { defaultPollIntervals, type PollIntervals } from '@heliograph/domain/site'
import { siteElevation } from '../../plant/site-elevation.ts'
import type { Queries } from '../../storage/database.ts'
import { type Wakefulness, wakefulnessAt } from './wakefulness.ts'

export const sourceTypes = [
  'logger',
  'inverter',
  'string',
  'meter',
  'weather_sensor',
  'sensor_node',
] as const
export type SourceType = (typeof sourceTypes)[number]

export interface Source {
  source_type: SourceType
  device_id: number
  /** The first string of a combiner, else 0. */
  sub_id: number
  /** Null for sources of the site as a whole. */
  logger_id: number | null
  /** The id in the API and in events; for a combiner its name. */
  source_id: string
  /** Own poll interval; null for the interval of its type. */
  poll_s: number | null
  latest_at: Date | null
  /** Since then no readings are expected. */
  retired_at: Date | null
  /** Of a logger: whether all its devices sleep at night. */
  sleeps?: boolean | null
}

export interface SiteSources {
  sources: Source[]
  wakefulness: Wakefulness
  poll: Required<PollIntervals>
}

/** Table, poll interval, sleep at night and event kind of each source type. */
export const readingsOf = {
  logger: {
    table: 'logger_readings',
    key: 'logger_id',
    sub_key: null,
    poll: 'logger_s',
    sleeps: false,
    event_kind: 'logger',
  },
  inverter: {
    table: 'inverter_readings',
    key: 'inverter_id',
    sub_key: null,
    poll: 'inverter_s',
    sleeps: true,
    event_kind: 'inverter',
  },
  // Combiners are powered by their strings.
  string: {
    table: 'string_readings',
    key: 'inverter_id',
    sub_key: 'first_string_index',
    poll: 'inverter_s',
    sleeps: true,
    event_kind: 'combiner',
  },
  meter: {
    table: 'meter_readings',
    key: 'meter_id',
    sub_key: null,
    poll: 'meter_s',
    sleeps: false,
    event_kind: 'meter',
  },
  weather_sensor: {
    table: 'weather_readings',
    key: 'station_id',
    sub_key: null,
    poll: 'weather_s',
    sleeps: false,
    event_kind: 'station',
  },
  // Nodes report at their own intervals.
  sensor_node: {
    table: 'node_readings',
    key: 'node_number',
    sub_key: null,
    poll: null,
    sleeps: false,
    event_kind: 'node',
  },
} as const satisfies Record<
  SourceType,
  {
    table: string
    key: string
    sub_key: string | null
    poll: keyof PollIntervals | null
    sleeps: boolean
    event_kind: string
  }
>

const places = new Map<string, Wakefulness>()

/** The sources of a site; null before the first inventory. */
export async function readSources(db: Queries, site_id: string): Promise<SiteSources | null> {
  const [facts] = await db.query<Position & { poll: PollIntervals | null }>(
    `select (inventory->>'latitude')::float8 as latitude,
            (inventory->>'longitude')::float8 as longitude,
            ${siteElevation('s')} as elevation_m, inventory->'poll' as poll
     from sites s where site_id = $1 and inventory is not null`,
    [site_id],
  )
  if (!facts) return null
  const place = placeOf(facts)
  const known = places.get(JSON.stringify(place))
  const wakefulness = known ?? wakefulnessAt(place)
  places.set(JSON.stringify(place), wakefulness)
  return {
    sources: await db.query<Source>(sourcesOfSite, [site_id]),
    wakefulness,
    poll: { ...defaultPollIntervals, ...facts.poll },
  }
}

const sourcesOfSite = `
  select 'logger' as source_type, logger_id as device_id, 0 as sub_id, logger_id,
         logger_id::text as source_id, null::float8 as poll_s, l.measured_at as latest_at,
         d.retired_at,
         not exists (
           select from stations s where s.site_id = d.site_id and s.logger_id = d.logger_id
             and s.retired_at is null
         ) as sleeps
  from loggers d left join logger_latest l using (site_id, logger_id)
  where site_id = $1
  union all
  select 'inverter', inverter_id, 0, logger_id, inverter_id::text, null, l.measured_at,
         d.retired_at, null
  from inverters d left join inverter_latest l using (site_id, inverter_id)
  where site_id = $1
  union all
  select 'meter', meter_id, 0, logger_id, meter_id::text, null, l.measured_at, d.retired_at, null
  from meters d left join meter_latest l using (site_id, meter_id)
  where site_id = $1
  union all
  select 'weather_sensor', station_id, 0, logger_id, station_id::text, null, l.measured_at,
         d.retired_at, null
  from stations d left join weather_latest l using (site_id, station_id)
  where site_id = $1
  union all
  select 'sensor_node', node_number, 0, logger_id, node_id, report_s, l.measured_at, d.retired_at,
         null
  from nodes d left join node_latest l using (site_id, node_number)
  where site_id = $1
  union all
  select 'string', l.inverter_id, l.first_string_index, i.logger_id, s.combiner_id, null, l.measured_at,
         coalesce(s.retired_at, i.retired_at), null
  from string_latest l
    join strings s on s.site_id = l.site_id and s.inverter_id = l.inverter_id
      and s.string_index = l.first_string_index and s.combiner_id is not null
    join inverters i on i.site_id = l.site_id and i.inverter_id = l.inverter_id
  where l.site_id = $1
  order by source_type, device_id, sub_id`
