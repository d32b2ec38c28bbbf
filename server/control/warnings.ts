/** What a caller has to know about a command beside its rows. */

import type { PlantLimit } from '@heliograph/domain/limit-shares'
import { isBelowLowestLimit } from '@heliograph/domain/lowest-limit'
import type { Site } from '@heliograph/domain/site'
import { edgeCommState } from '../plant/communication.ts'
import { isFromOutside } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'
import { lastEvent } from '../storage/events.ts'

interface Commanded {
  site_id: string
  start_at: Date
  end_at: Date
  now: Date
}

const warned_overlaps_max = 100

/** @param group_id the group of the command; null before it is created */
export async function warningsOf(
  db: Queries,
  command: Commanded,
  { group_id, limits }: { group_id: string | null; limits: readonly PlantLimit[] },
): Promise<string[]> {
  const { site_id } = command
  const logger_ids = limits.map(({ logger_id }) => logger_id)
  const is_connected = await isEdgeConnected(db, command)
  const unlisted = await withoutPermitEntry(db, { site_id, logger_ids })
  const stopped = await belowLowestLimit(db, { site_id, limits })
  const overlaps = await overlapping(db, command, { group_id, logger_ids })
  return [
    ...(is_connected ? [] : ['logger_offline']),
    ...unlisted.map((logger_id) => `no_permit_entry:${logger_id}`),
    ...stopped.map((logger_id) => `below_lowest_limit:${logger_id}`),
    ...overlaps.map((other) => `overlaps_group:${other}`),
  ]
}

/** Plants of which the edge has reported that it has no permit. The permit itself stays there. */
async function withoutPermitEntry(
  db: Queries,
  { site_id, logger_ids }: { site_id: string; logger_ids: readonly number[] },
): Promise<number[]> {
  // Edges up to 0.1.0 report `permit_missing` alone, once an order or a permit file counts.
  const found = await db.query<{ logger_id: number }>(
    `select logger_id from unnest($2::int[]) with ordinality as asked (logger_id, nth)
     where exists (
       select from unnest(array['no_permit_entry', 'permit_missing']) as codes (code)
       cross join lateral (
         select edge from events e
         where e.site_id = $1 and e.source_kind = 'logger' and e.source_id = logger_id::text
           and e.code = codes.code and e.edge <> 'once'
         order by at desc, event_id desc limit 1
       ) as newest
       where newest.edge = 'rising')
     order by nth`,
    [site_id, logger_ids],
  )
  return found.map(({ logger_id }) => logger_id)
}

async function belowLowestLimit(
  db: Queries,
  { site_id, limits }: { site_id: string; limits: readonly PlantLimit[] },
): Promise<number[]> {
  const loggers = await db.query<Site['loggers'][number]>(
    `select l.logger_id, l.controller, l.inverters
     from sites, jsonb_to_recordset(inventory -> 'loggers')
       as l (logger_id int, controller jsonb, inverters jsonb)
     where site_id = $1`,
    [site_id],
  )
  const plants = new Map(loggers.map((logger) => [logger.logger_id, logger]))
  return limits.flatMap(({ logger_id, max_power_kw }) => {
    const plant = plants.get(logger_id)
    return plant && isBelowLowestLimit(plant, max_power_kw) ? [logger_id] : []
  })
}

async function overlapping(
  db: Queries,
  { site_id, start_at, end_at, now }: Commanded,
  { group_id, logger_ids }: { group_id: string | null; logger_ids: readonly number[] },
): Promise<string[]> {
  const groups = await db.query<{ group_id: string }>(
    `select group_id, min(start_at) as start_at
     from curtailment_rows join curtailment_groups g using (site_id, group_id)
     where site_id = $1 and group_id is distinct from $2 and not ${isFromOutside} and logger_id = any($3)
       and released_at is null and end_at > greatest($4::timestamptz, $6) and start_at < $5
     group by group_id order by 2, 1 limit ${warned_overlaps_max}`,
    [site_id, group_id, logger_ids, start_at, end_at, now],
  )
  return groups.map((other) => other.group_id)
}

async function isEdgeConnected(db: Queries, { site_id, now }: Commanded): Promise<boolean> {
  const [edge] = await db.query<Parameters<typeof edgeCommState>[0] & { edge_id: string }>(
    `select edge_id, last_seen_at, journal_oldest_at from edges
     where site_id = $1 and revoked_at is null and last_seen_at is not null
     order by last_seen_at desc limit 1`,
    [site_id],
  )
  if (!edge || edgeCommState(edge, now) === 'disconnected') return false
  const source = { site_id, source_kind: 'edge', source_id: edge.edge_id } as const
  return (await lastEvent(db, { ...source, code: 'edge_offline' }))?.edge !== 'rising'
}
