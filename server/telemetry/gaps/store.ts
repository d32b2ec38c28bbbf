/** Gaps in the database, and the instants of the readings they are derived from. */
import { ahead_ms_max } from '@heliograph/domain/link'
import type { Queries, Transaction } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import type { Span } from '../energy.ts'
import { readings_aside } from './holes.ts'
import type { Changes, LivingGap } from './reconcile.ts'
import { readingsOf, type Source, type SourceType } from './sources.ts'

type SourceKey = Pick<Source, 'device_id' | 'sub_id'>
export const keyOf = ({ device_id, sub_id }: SourceKey): string => `${device_id}/${sub_id}`

const ids = (sources: readonly SourceKey[]) => [
  sources.map(({ device_id }) => device_id),
  sources.map(({ sub_id }) => sub_id),
]
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`

/** The instants of readings around a span of time. */
export interface Instants {
  /** Ascending: all within the span, and up to `readings_aside` on either side. */
  times_ms: number[]
  before_count: number
  after_count: number
}

/** The instants of sources of one type, by `keyOf`. */
export async function readInstants(
  db: Queries,
  site_id: string,
  { type, sources }: { type: SourceType; sources: readonly SourceKey[] },
  { start_ms, end_ms }: Span,
): Promise<Map<string, Instants>> {
  const { table, key, sub_key } = readingsOf[type]
  const from = `from ${table} where site_id = $1 and ${key} = d.device_id
    ${sub_key ? `and ${sub_key} = d.sub_id` : ''} and measured_at`
  const rows = await db.query<SourceKey & Instants>(
    `select d.device_id, d.sub_id, t.*
     from unnest($2::int[], $3::int[]) as d (device_id, sub_id)
     cross join lateral (
       select array_agg(${ms('measured_at')} order by measured_at) as times_ms,
         count(*) filter (where measured_at < $4) as before_count,
         count(*) filter (where measured_at >= $5) as after_count
       from (
         (select measured_at ${from} < $4 order by measured_at desc limit ${readings_aside})
         union all (select measured_at ${from} >= $4 and measured_at < $5)
         union all (select measured_at ${from} >= $5 order by measured_at limit ${readings_aside})
       ) as read
     ) as t
     where t.times_ms is not null`,
    [site_id, ...ids(sources), isoTime(start_ms), isoTime(end_ms)],
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** States of inverters at some instants, by `inverter_id/time_ms`. */
export async function readStates(
  db: Queries,
  site_id: string,
  instants: readonly { device_id: number; time_ms: number }[],
): Promise<Map<string, string | null>> {
  if (instants.length === 0) return new Map()
  const rows = await db.query<{ inverter_id: number; time_ms: number; state: string | null }>(
    `select r.inverter_id, ${ms('r.measured_at')} as time_ms, r.state
     from unnest($2::int[], $3::timestamptz[]) as d (inverter_id, measured_at)
       join inverter_readings r on r.site_id = $1 and r.inverter_id = d.inverter_id
         and r.measured_at = d.measured_at`,
    [
      site_id,
      instants.map((each) => each.device_id),
      instants.map((each) => isoTime(each.time_ms)),
    ],
  )
  return new Map(rows.map((row) => [`${row.inverter_id}/${row.time_ms}`, row.state]))
}

/** Instants directly before lost readings, Unix ms, from `from_ms` on. */
export async function readLosses(db: Queries, site_id: string, from_ms: number): Promise<number[]> {
  const rows = await db.query<{ lost_after: unknown }>(
    `select details->'lost_after' as lost_after from events
     where site_id = $1 and code = 'frames_missing' and at >= $2`,
    [site_id, isoTime(from_ms - ahead_ms_max)],
  )
  return rows.flatMap(({ lost_after }) => instantsOf(lost_after))
}

/** Instants in the details of an event; other values are ignored. */
export const instantsOf = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((each) => Number.isFinite(each)) : []

const living = `gap_id, coalesce(root_gap_id, gap_id) as root_gap_id,
  ${ms('start_at')} as start_ms, ${ms('end_at')} as end_ms,
  ${ms('widest_start_at')} as widest_start_ms, ${ms('widest_end_at')} as widest_end_ms,
  step_s, expected_count, widest_expected_count`

/** Gaps of sources that are still holes near a span, with all gaps of the same root. */
export async function readLiving(
  db: Queries,
  site_id: string,
  { type, sources }: { type: SourceType; sources: readonly SourceKey[] },
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<Map<string, LivingGap[]>> {
  const rows = await db.query<SourceKey & LivingGap>(
    `with roots as (
       select coalesce(root_gap_id, gap_id) as root
       from gaps join unnest($3::int[], $4::int[]) as d (device_id, sub_id)
         using (device_id, sub_id)
       where site_id = $1 and source_type = $2 and status <> 'backfilled'
         and start_at < $6 and coalesce(end_at, 'infinity') > $5
     )
     select device_id, sub_id, ${living} from gaps
     where site_id = $1 and status <> 'backfilled'
       and (gap_id in (select root from roots) or root_gap_id in (select root from roots))
     order by start_at, gap_id`,
    [site_id, type, ...ids(sources), bound(from_ms), bound(to_ms)],
  )
  return Map.groupBy(rows, keyOf)
}

const bound = (time_ms: number) => (Number.isFinite(time_ms) ? isoTime(time_ms) : `${time_ms}`)

interface Writing {
  site_id: string
  source: Source
  now: Date
  hasDaylight(start_ms: number, end_ms: number): boolean
}

const extent_columns = [
  'start_at',
  'end_at',
  'widest_start_at',
  'widest_end_at',
  'step_s',
  'expected_count',
  'widest_expected_count',
  'during_daylight',
  'status',
  'updated_at',
]
const opened_columns = [
  'site_id',
  'root_gap_id',
  'logger_id',
  'source_type',
  'device_id',
  'sub_id',
  'source_id',
  'detected_at',
  ...extent_columns,
]

export async function storeChanges(
  transaction: Transaction,
  changes: Changes,
  { site_id, source, now, hasDaylight }: Writing,
): Promise<void> {
  const extentOf = (gap: Omit<LivingGap, 'gap_id' | 'root_gap_id'>) => ({
    ...gap,
    start_at: new Date(gap.start_ms),
    end_at: dateOf(gap.end_ms),
    widest_start_at: new Date(gap.widest_start_ms),
    widest_end_at: dateOf(gap.widest_end_ms),
    during_daylight: hasDaylight(gap.start_ms, gap.end_ms ?? now.getTime()),
    status: gap.end_ms === null ? 'open' : 'backfilling',
    updated_at: now,
  })
  for (const { gap_id } of changes.absorbed) await deleteGap(transaction, site_id, gap_id)
  for (const gap of changes.moved) {
    await transaction.execute(
      `update gaps g set ${extent_columns.map((name) => `${name} = n.${name}`)}
       from jsonb_populate_record(null::gaps, $2) as n
       where g.site_id = $1 and g.gap_id = n.gap_id`,
      [site_id, JSON.stringify(extentOf(gap))],
    )
  }
  for (const hole of changes.opened) {
    const widest = {
      widest_start_ms: hole.start_ms,
      widest_end_ms: hole.end_ms,
      widest_expected_count: hole.expected_count,
    }
    await transaction.execute(
      `insert into gaps (${opened_columns})
       select ${opened_columns} from jsonb_populate_record(null::gaps, $1)`,
      [
        JSON.stringify({
          ...source,
          ...extentOf({ ...hole, ...widest }),
          site_id,
          detected_at: now,
        }),
      ],
    )
  }
  for (const gap of changes.vanished) await closeGap(transaction, gap, { site_id, source, now })
}

const dateOf = (time_ms: number | null) => (time_ms === null ? null : new Date(time_ms))

const deleteGap = (transaction: Transaction, site_id: string, gap_id: number) =>
  transaction.execute('delete from gaps where site_id = $1 and gap_id = $2', [site_id, gap_id])

/**
 * A gap without a hole is back-filled. A gap without an end ended at its last update. A gap without
 * readings is deleted: the usual interval there has changed.
 */
async function closeGap(
  transaction: Transaction,
  gap: LivingGap,
  { site_id, source, now }: Omit<Writing, 'hasDaylight'>,
): Promise<void> {
  const { table, key, sub_key } = readingsOf[source.source_type]
  const [counted] = await transaction.query<{ count: number }>(
    `select count(r.*) as count from gaps g left join ${table} r on r.site_id = $1
       and r.${key} = g.device_id ${sub_key ? `and r.${sub_key} = g.sub_id` : ''}
       and r.measured_at > g.widest_start_at
       and r.measured_at < coalesce(g.widest_end_at, g.updated_at)
     where g.site_id = $1 and g.gap_id = $2`,
    [site_id, gap.gap_id],
  )
  if (counted!.count === 0) {
    await deleteGap(transaction, site_id, gap.gap_id)
    return
  }
  await transaction.execute(
    `update gaps set status = 'backfilled', start_at = widest_start_at,
       end_at = coalesce(widest_end_at, greatest(updated_at, widest_start_at)),
       received_count = $3, backfilled_count = $3, backfilled_at = $4, updated_at = $4,
       expected_count = greatest($3, widest_expected_count)
     where site_id = $1 and gap_id = $2`,
    [site_id, gap.gap_id, counted!.count, now],
  )
}
