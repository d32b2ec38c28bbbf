/** Sources of readings, whose gaps are recorded, and their tables. */
import { cached } from '@heliograph/domain/cached'
import { placeOf } from '@heliograph/domain/place'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { defaultPollIntervals, type PollIntervals } from '@heliograph/domain/site'
import { siteFacts } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import { wakefulnessAt } from './wakefulness.ts'

/** Readings of one kind: their table, the poll interval, sleep at night, and the kind in events. */
function readings(
  kind: ReadingKind,
  poll: keyof PollIntervals | null,
  sleeps: boolean,
  event_kind: string,
) {
  const { table, keys } = readingKinds[kind]
  const [key, sub_key = null] = keys as readonly [string, string?]
  return { kind, table, key, sub_key, poll, sleeps, event_kind }
}

export const readingsOf = {
  logger: readings('logger', 'logger_s', false, 'logger'),
  inverter: readings('inverter', 'inverter_s', true, 'inverter'),
  // Combiners are powered by their strings.
  string: readings('string', 'inverter_s', true, 'combiner'),
  meter: readings('meter', 'meter_s', false, 'meter'),
  weather_sensor: readings('weather', 'weather_s', false, 'station'),
  // Nodes report at their own intervals.
  sensor_node: readings('node', null, false, 'node'),
}
export type SourceType = keyof typeof readingsOf
export const sourceTypes = Object.keys(readingsOf) as SourceType[]

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

export type SiteSources = Awaited<ReturnType<typeof readSources>>

const wakefulnessOf = cached(wakefulnessAt, JSON.stringify)

export async function readSources(db: Queries, site_id: string) {
  const facts = await siteFacts(db, site_id)
  return {
    sources: await db.query<Source>(sourcesOfSite, [site_id]),
    wakefulness: wakefulnessOf(placeOf(facts)),
    poll: { ...defaultPollIntervals, ...facts.poll },
  }
}

const devices = (type: SourceType, table: string, latest: string, changes: object = {}) => {
  const { key } = readingsOf[type]
  const columns = { source_id: `${key}::text`, poll_s: 'null', sleeps: 'null', ...changes }
  return `
  select '${type}' as source_type, ${key} as device_id, 0 as sub_id, logger_id,
         ${columns.source_id} as source_id, ${columns.poll_s}::float8 as poll_s,
         l.measured_at as latest_at, d.retired_at, ${columns.sleeps}::boolean as sleeps
  from ${table} d left join ${latest} l using (site_id, ${key})
  where site_id = $1
  union all`
}

const has_no_station = `(not exists (
  select from stations s
  where s.site_id = $1 and s.logger_id = d.logger_id and s.retired_at is null))`

const sourcesOfSite = `
  ${devices('logger', 'loggers', 'logger_latest', { sleeps: has_no_station })}
  ${devices('inverter', 'inverters', 'inverter_latest')}
  ${devices('meter', 'meters', 'meter_latest')}
  ${devices('weather_sensor', 'stations', 'weather_latest')}
  ${devices('sensor_node', 'nodes', 'node_latest', { source_id: 'node_id', poll_s: 'report_s' })}
  select 'string', l.inverter_id, l.first_string_index, i.logger_id, s.combiner_id, null,
         l.measured_at, coalesce(s.retired_at, i.retired_at), null
  from string_latest l
    join strings s on s.site_id = l.site_id and s.inverter_id = l.inverter_id
      and s.string_index = l.first_string_index and s.combiner_id is not null
    join inverters i on i.site_id = l.site_id and i.inverter_id = l.inverter_id
  where l.site_id = $1
  order by source_type, device_id, sub_id`
