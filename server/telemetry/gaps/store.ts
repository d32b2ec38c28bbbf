/** Gaps in the database, and the instants of the readings they are derived from. */
import { ahead_ms_max } from '@heliograph/domain/link'
import type { InverterReading } from '@heliograph/domain/readings'
import type { Queries, Transaction } from '../../storage/database.ts'
import { takeId } from '../../storage/site-ids.ts'
import { isoTime } from '../../storage/values.ts'
import type { StoredReading } from '../blocks/store.ts'
import type { Span } from '../energy.ts'
import { firstOf, readReadings, rowsSince, walkReadings } from '../stored-readings.ts'
import { readings_aside } from './holes.ts'
import { publishGaps, readOpenGaps } from './published.ts'
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
  const { kind, table, key, sub_key } = readingsOf[type]
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
  const found = new Map(rows.map((row) => [keyOf(row), row]))
  const since_ms = await rowsSince(db, kind)
  for (const source of sources) {
    const row = found.get(keyOf(source))
    // All instants before the span, or as many as are needed, are in rows.
    const is_whole = row?.before_count === readings_aside && row.times_ms[0]! >= since_ms
    if (since_ms === Number.NEGATIVE_INFINITY || is_whole) continue
    const whole = await walkInstants(db, site_id, { type, source }, { start_ms, end_ms })
    if (whole) found.set(keyOf(source), { ...source, ...whole })
  }
  return found
}

/** The same instants of one source, from rows and blocks; null without any. */
async function walkInstants(
  db: Queries,
  site_id: string,
  of: { type: SourceType; source: SourceKey },
  { start_ms, end_ms }: Span,
): Promise<Instants | null> {
  const timesOf = async (from_ms: number, to_ms: number, aside?: 'before' | 'after') => {
    const most = aside && readings_aside
    const walk = { from_ms, to_ms, newest: aside === 'before', most }
    const readings = await firstOf(walkSource(db, site_id, of, walk), most ?? Infinity)
    return readings.map(({ measured_at }) => measured_at)
  }
  const before = await timesOf(Number.NEGATIVE_INFINITY, start_ms, 'before')
  const within = await timesOf(start_ms, end_ms)
  const after = await timesOf(end_ms, Number.POSITIVE_INFINITY, 'after')
  const times_ms = [...before.reverse(), ...within, ...after]
  if (times_ms.length === 0) return null
  return { times_ms, before_count: before.length, after_count: after.length }
}

type SourceWalk = Pick<Parameters<typeof walkReadings>[2], 'from_ms' | 'to_ms' | 'newest' | 'most'>

/** The readings of a source in a span, from rows and blocks. */
export async function* walkSource(
  db: Queries,
  site_id: string,
  { type, source }: { type: SourceType; source: SourceKey },
  span: SourceWalk,
  columns: readonly string[] = [],
): AsyncGenerator<StoredReading[]> {
  const { kind, sub_key } = readingsOf[type]
  const walk = { ...span, site_id, device_id: source.device_id }
  for await (const readings of walkReadings(db, kind, walk, columns)) {
    yield sub_key ? readings.filter((reading) => reading[sub_key] === source.sub_id) : readings
  }
}

/** Counts the readings of a source between two instants, both exclusive. */
export async function countBetween(
  db: Queries,
  site_id: string,
  of: { type: SourceType; source: SourceKey },
  after_ms: number,
  before_ms: number,
): Promise<number> {
  let count = 0
  const span = { from_ms: after_ms + 1, to_ms: before_ms, newest: false }
  for await (const readings of walkSource(db, site_id, of, span)) count += readings.length
  return count
}

/** States of inverters at some instants, by `inverter_id/time_ms`. */
export async function readStates(
  db: Queries,
  site_id: string,
  instants: readonly { device_id: number; time_ms: number }[],
): Promise<Map<string, string | null>> {
  const states = new Map<string, string | null>()
  for (const [time_ms, devices] of Map.groupBy(instants, (each) => each.time_ms)) {
    const device_ids = devices.map(({ device_id }) => device_id)
    const at = { site_id, device_ids, from_ms: time_ms, to_ms: time_ms + 1 }
    const readings = await readReadings<InverterReading>(db, 'inverter', at, ['state'])
    for (const { inverter_id, state } of readings) states.set(`${inverter_id}/${time_ms}`, state)
  }
  return states
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
  const ended = [
    ...changes.absorbed,
    ...changes.vanished,
    ...changes.moved.filter(({ end_ms }) => end_ms !== null),
  ].map(({ gap_id }) => gap_id)
  const lasting = await readOpenGaps(transaction, { site_id, now }, ended)
  for (const { gap_id } of changes.absorbed) await deleteGap(transaction, site_id, gap_id)
  for (const gap of changes.moved) {
    await transaction.execute(
      `update gaps g set ${extent_columns.map((name) => `${name} = n.${name}`)}
       from jsonb_populate_record(null::gaps, $2) as n
       where g.site_id = $1 and g.gap_id = n.gap_id`,
      [site_id, JSON.stringify(extentOf(gap))],
    )
  }
  const opened: number[] = []
  for (const hole of changes.opened) {
    const widest = {
      widest_start_ms: hole.start_ms,
      widest_end_ms: hole.end_ms,
      widest_expected_count: hole.expected_count,
    }
    const gap_id = await takeId(transaction, site_id, 'gap_id')
    await transaction.execute(
      `insert into gaps (gap_id, ${opened_columns})
       select gap_id, ${opened_columns} from jsonb_populate_record(null::gaps, $1)`,
      [
        JSON.stringify({
          ...source,
          ...extentOf({ ...hole, ...widest }),
          site_id,
          gap_id,
          detected_at: now,
        }),
      ],
    )
    opened.push(gap_id)
  }
  for (const gap of changes.vanished) await closeGap(transaction, gap, { site_id, source, now })
  await publishGaps(transaction, { site_id, now }, { opened, ended: lasting })
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
  const [widest] = await transaction.query<{ start_ms: number; end_ms: number }>(
    `select ${ms('widest_start_at')} as start_ms,
       ${ms('coalesce(widest_end_at, updated_at)')} as end_ms
     from gaps where site_id = $1 and gap_id = $2`,
    [site_id, gap.gap_id],
  )
  const of = { type: source.source_type, source }
  const count = await countBetween(transaction, site_id, of, widest!.start_ms, widest!.end_ms)
  if (count === 0) {
    await deleteGap(transaction, site_id, gap.gap_id)
    return
  }
  await transaction.execute(
    `update gaps set status = 'backfilled', start_at = widest_start_at,
       end_at = coalesce(widest_end_at, greatest(updated_at, widest_start_at)),
       received_count = $3, backfilled_count = $3, backfilled_at = $4, updated_at = $4,
       expected_count = greatest($3, widest_expected_count)
     where site_id = $1 and gap_id = $2`,
    [site_id, gap.gap_id, count, now],
  )
}
