/** Opens gaps of sources without fresh readings, and settles ended gaps by events. */
import { cached } from '@heliograph/domain/cached'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { beginRoundOf, shareRound } from '../../jobs/site-rounds.ts'
import { tryLock } from '../../storage/advisory-lock.ts'
import type { Database, Queries, Transaction } from '../../storage/database.ts'
import { firstOf } from '../stored-readings.ts'
import {
  activeTimes,
  causeOf,
  type EdgeReport,
  type Evidence,
  type EvidenceEvent,
  type Extent,
  evidenceCodes,
  mayStillCome,
} from './evidence.ts'
import { holeUntilNow } from './holes.ts'
import { type Context, expectationOf, gap_lock_class, reconcileHour } from './job.ts'
import { readingsOf, readSources, type Source, type SourceType } from './sources.ts'
import { countBetween, instantsOf, keyOf, walkSource } from './store.ts'

/** An inverter without readings since the evening may have been reported offline then. */
const events_before_ms = day_ms

/** The job that watches. */
const job = 'watch_gaps'

/** Watches every site, with the help of other servers. */
export async function watchGaps(db: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const announced = 'select site_id from sites where inventory is not null order by site_id'
  await beginRoundOf(db, job, announced)
  await shareGaps(db, now, signal)
}

/** Watches sites of a round that are still due and that no other process is watching. */
export function shareGaps(db: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const work = (site_id: string) =>
    db.transaction(async (transaction) => {
      const is_ours = await tryLock(transaction, gap_lock_class, site_id)
      if (is_ours) await watchSite(transaction, site_id, now)
    })
  return shareRound(db, job, { work, signal })
}

async function watchSite(transaction: Transaction, site_id: string, now: Date): Promise<void> {
  const site = await readSources(transaction, site_id)
  const context = { site_id, site, now }
  const unsettled = await readUnsettled(transaction, site_id)
  const due = new Map<string, { start_ms: number; source: Source }>()
  const add = (source: Source | undefined, time_ms: number) => {
    if (!source) return
    const start_ms = Math.floor(time_ms / hour_ms) * hour_ms
    due.set(`${start_ms} ${nameOf(source)}`, { start_ms, source })
  }
  const sources = new Map(site.sources.map((source) => [nameOf(source), source]))
  for (const gap of unsettled) add(sources.get(nameOf(gap)), gap.start_ms)
  for (const source of site.sources) {
    if (isStale(source, context)) add(source, source.latest_at!.getTime())
  }
  for (const [start_ms, some] of Map.groupBy(due.values(), ({ start_ms }) => start_ms)) {
    const hour = { start_ms, sources: some.map(({ source }) => source) }
    await reconcileHour(transaction, context, hour)
  }
  await settle(transaction, context, sources)
}

const nameOf = (source: Pick<Source, 'source_type' | 'device_id' | 'sub_id'>) =>
  `${source.source_type} ${keyOf(source)}`

/** By the latest reading alone; `reconcileHour` applies the usual interval later. */
function isStale(source: Source, context: Context): boolean {
  if (source.latest_at === null || source.retired_at !== null) return false
  const newest_ms = [source.latest_at.getTime()]
  return holeUntilNow(newest_ms, context.now.getTime(), expectationOf(source, context)) !== null
}

interface Unsettled
  extends Pick<Source, 'source_type' | 'device_id' | 'sub_id' | 'source_id'>,
    Pick<Evidence, 'start_ms' | 'end_ms' | 'last_state'> {
  gap_id: number
  was_wider: boolean
}

async function readUnsettled(db: Queries, site_id: string): Promise<Unsettled[]> {
  const gaps = await db.query<Omit<Unsettled, 'last_state'>>(
    `select gap_id, source_type, device_id, sub_id, source_id,
       (extract(epoch from start_at) * 1000)::float8 as start_ms,
       (extract(epoch from end_at) * 1000)::float8 as end_ms,
       widest_start_at <> start_at or widest_end_at is distinct from end_at as was_wider
     from gaps
     where site_id = $1 and status in ('open', 'backfilling') order by gap_id`,
    [site_id],
  )
  const unsettled: Unsettled[] = []
  for (const gap of gaps) {
    const last_state = gap.source_type === 'inverter' ? await lastState(db, site_id, gap) : null
    unsettled.push({ ...gap, last_state })
  }
  return unsettled
}

/** The last state of an inverter before a gap. */
async function lastState(
  db: Queries,
  site_id: string,
  { start_ms: to_ms, ...source }: Omit<Unsettled, 'last_state'>,
): Promise<string | null> {
  const before = { from_ms: Number.NEGATIVE_INFINITY, to_ms: to_ms + 1, newest: true, most: 1 }
  const of = { type: 'inverter', source } as const
  const [last] = await firstOf(walkSource(db, site_id, of, before, ['state']), 1)
  return (last?.['state'] ?? null) as string | null
}

/** Sets the cause of every gap, and `unrecoverable` if its readings cannot arrive any more. */
async function settle(
  transaction: Transaction,
  { site_id, now }: Context,
  sources: ReadonlyMap<string, Source>,
): Promise<void> {
  const gaps = await readUnsettled(transaction, site_id)
  if (gaps.length === 0) return
  const edges = await readEdges(transaction, site_id)
  const since_ms = Math.min(...gaps.map(({ start_ms }) => start_ms)) - events_before_ms
  const events = await readEvents(transaction, site_id, new Date(since_ms))
  const offlineTimesOf = await readOfflineTimes(transaction, site_id, events)
  const judged = gaps.map((gap) => {
    const { end_ms } = gap
    const may_come = end_ms === null || mayStillCome(end_ms, edges)
    const device = `${readingsOf[gap.source_type].event_kind} ${gap.source_id}`
    const evidence = {
      ...gap,
      retired_ms: sources.get(nameOf(gap))?.retired_at?.getTime() ?? null,
      events: [...(events.get('edge') ?? []), ...(events.get(device) ?? [])],
      ...offlineTimesOf(device),
    }
    return { ...gap, may_come, cause: causeOf(evidence, may_come) }
  })
  await transaction.execute(
    `update gaps g
     set cause = t.cause, updated_at = $3,
       status = case when t.may_come then g.status else 'unrecoverable' end
     from jsonb_to_recordset($2::jsonb) as t (gap_id bigint, cause text, may_come boolean)
     where g.site_id = $1 and g.gap_id = t.gap_id`,
    [site_id, JSON.stringify(judged), now],
  )
  for (const { gap_id, source_type, may_come, was_wider } of judged) {
    if (!may_come && was_wider) await countBackfilled(transaction, site_id, gap_id, source_type)
  }
}

/**
 * Counts the readings that arrived in a gap that was wider before. The count is not updated in a
 * final week, whose readings are thinned.
 */
async function countBackfilled(
  transaction: Transaction,
  site_id: string,
  gap_id: number,
  type: SourceType,
): Promise<void> {
  const [gap] = await transaction.query<WidestGap>(
    `select device_id, sub_id, (extract(epoch from widest_start_at) * 1000)::float8 as start_ms,
       (extract(epoch from widest_end_at) * 1000)::float8 as end_ms
     from gaps g
     where site_id = $1 and gap_id = $2 and widest_end_at is not null
       and not exists (
         select from final_weeks
         where week_at < g.widest_end_at and week_at + interval '7 days' > g.widest_start_at)`,
    [site_id, gap_id],
  )
  if (!gap) return
  const of = { type, source: gap }
  const count = await countBetween(transaction, site_id, of, gap.start_ms, gap.end_ms)
  await transaction.execute(
    'update gaps set backfilled_count = $3 where site_id = $1 and gap_id = $2',
    [site_id, gap_id, count],
  )
}

interface WidestGap {
  device_id: number
  sub_id: number
  start_ms: number
  end_ms: number
}

function readEdges(db: Queries, site_id: string): Promise<EdgeReport[]> {
  return db.query<EdgeReport>(
    `select (extract(epoch from last_seen_at) * 1000)::float8 as last_seen_ms,
            (extract(epoch from journal_oldest_at) * 1000)::float8 as journal_oldest_ms
     from edges where site_id = $1 and last_seen_at is not null and revoked_at is null`,
    [site_id],
  )
}

/** Ascending events by device (`kind id`); those of all edges under `edge`. */
async function readEvents(db: Queries, site_id: string, since: Date) {
  const rows = await db.query<EventRow>(
    `select (extract(epoch from at) * 1000)::float8 as at_ms, code, edge, source_kind, source_id,
       details
     from events where site_id = $1 and at >= $2 and code = any($3) order by at, event_id`,
    [site_id, since, evidenceCodes],
  )
  const events = Map.groupBy(rows, ({ source_kind, source_id }) =>
    source_kind === 'edge' ? 'edge' : `${source_kind} ${source_id}`,
  )
  return new Map([...events].map(([source, some]) => [source, some.map(evidenceOf)]))
}

/** Offline times of the devices on the bus and on the site of a device (`kind id`). */
async function readOfflineTimes(
  db: Queries,
  site_id: string,
  events: ReadonlyMap<string, readonly EvidenceEvent[]>,
): Promise<(device: string) => { bus: Extent[][]; site: Extent[][] }> {
  const rows = await db.query<{ device: string; bus: string }>(
    `select kind || ' ' || (device->>id) as device,
       coalesce('wire ' || (device->>'connection'), 'mqtt') as bus
     from sites, (values
         ('inverter', 'inverter_id', '$.loggers[*].inverters[*]'::jsonpath),
         ('combiner', 'combiner_id', '$.loggers[*].inverters[*].combiners[*]'),
         ('station', 'station_id', '$.loggers[*].stations[*]'),
         ('meter', 'meter_id', '$.meters[*]'),
         ('node', 'node_id', '$.nodes[*]')) as kinds (kind, id, path),
       jsonb_path_query(inventory, path) as device
     where site_id = $1`,
    [site_id],
  )
  const devices = rows.map(({ device, bus }) => {
    return { device, bus, offline: activeTimes('device_offline', events.get(device) ?? []) }
  })
  const offlineOn = cached((bus: string | undefined) =>
    devices.filter((each) => each.bus === bus).map(({ offline }) => offline),
  )
  const busOf = new Map(rows.map(({ device, bus }) => [device, bus]))
  const site = devices.map(({ offline }) => offline)
  return (device) => ({ bus: offlineOn(busOf.get(device)), site })
}

interface EventRow extends Pick<EvidenceEvent, 'at_ms' | 'code' | 'edge'> {
  source_kind: string
  source_id: string
  details: Readonly<Record<string, unknown>> | null
}

/** Details of an edge may have any form: values that are not numbers are ignored. */
function evidenceOf({ at_ms, code, edge, details }: EventRow): EvidenceEvent {
  const number = (value: unknown) => (typeof value === 'number' ? value : null)
  const since_ms = Date.parse(String(details?.['last_seen_at']))
  return {
    at_ms,
    code,
    edge,
    jump_ms: number(details?.['jump_ms']),
    lost_from_ms: number(details?.['from_at']) ?? (Number.isNaN(since_ms) ? null : since_ms),
    lost_to_ms: number(details?.['to_at']),
    lost_after_ms: details?.['lost_after'] === undefined ? null : instantsOf(details['lost_after']),
    down_from_ms: number(details?.['down_from_at']),
    lost_power: details?.['unclean'] === true && details['rebooted'] === true,
  }
}
