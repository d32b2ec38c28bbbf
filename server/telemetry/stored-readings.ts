/**
 * The readings of devices, from rows and blocks alike. Rows are read before blocks and each reading
 * counts once, so that readings which become part of a block meanwhile are found in any case.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Queries } from '../storage/database.ts'
import {
  type BlockRow,
  block_columns,
  isPacked,
  merged,
  type StoredReading,
  selected,
  unpacked,
} from './blocks/store.ts'

/** Half open, Unix ms; bounds may be infinite. */
interface ReadingSpan {
  site_id: string
  from_ms: number
  to_ms: number
}

/** Readings from this instant on, Unix ms, are all in rows. */
export async function rowsSince(db: Queries, kind: ReadingKind): Promise<number> {
  if (!isPacked(kind)) return Number.NEGATIVE_INFINITY
  const [bound] = await db.query<{ before_at: Date | null }>(
    'select max(before_at) as before_at from packed_before',
  )
  return bound!.before_at?.getTime() ?? Number.NEGATIVE_INFINITY
}

/** An instant for SQL, infinite ones too. */
export const instant = (at_ms: number) =>
  Number.isFinite(at_ms) ? new Date(at_ms).toISOString() : at_ms > 0 ? 'infinity' : '-infinity'

const keysOf = (kind: ReadingKind) => readingKinds[kind].keys as readonly [string, string?]
const rowColumns = (kind: ReadingKind, columns: readonly string[]) =>
  selected([...readingKinds[kind].keys, 'measured_at', ...columns])
const blockColumns = (kind: ReadingKind, columns: readonly string[]) => [
  ...readingKinds[kind].keys.slice(1),
  'measured_at',
  ...columns,
]

/** By device, instant and range of strings. */
const inOrder = (kind: ReadingKind) => {
  const [key, sub_key] = keysOf(kind)
  return (a: StoredReading, b: StoredReading) =>
    (a[key] as number) - (b[key] as number) ||
    a.measured_at - b.measured_at ||
    (sub_key ? (a[sub_key] as number) - (b[sub_key] as number) : 0)
}

/** The readings of devices in a span with these columns, by device, instant and range. */
export async function readReadings<Reading extends object = StoredReading>(
  db: Queries,
  kind: ReadingKind,
  { site_id, device_ids, from_ms, to_ms }: ReadingSpan & { device_ids: readonly number[] },
  columns: readonly string[],
): Promise<(Reading & StoredReading)[]> {
  const { table } = readingKinds[kind]
  const keys = keysOf(kind)
  const values = [site_id, device_ids, instant(from_ms), instant(to_ms)]
  const rows = await db.query<StoredReading>(
    `select ${rowColumns(kind, columns)} from ${table}
     where site_id = $1 and ${keys[0]} = any ($2) and measured_at >= $3 and measured_at < $4`,
    values,
  )
  const since_ms = await rowsSince(db, kind)
  if (from_ms >= since_ms) return rows.sort(inOrder(kind)) as (Reading & StoredReading)[]
  const blocks = await db.query<BlockRow>(
    `select ${block_columns} from reading_blocks
     where site_id = $1 and kind = $5 and device_id = any ($2) and first_at < $4 and last_at >= $3
       and hour_at > $3::timestamptz - interval '1 hour' and hour_at < least($4::timestamptz, $6)`,
    [...values, kind, instant(since_ms)],
  )
  const names = blockColumns(kind, columns)
  const packed = blocks
    .flatMap((block) => unpacked(kind, block, names))
    .filter(({ measured_at: at }) => at >= from_ms && at < to_ms)
  return merged(kind, packed, rows).sort(inOrder(kind)) as (Reading & StoredReading)[]
}

interface Walk extends ReadingSpan {
  device_id: number
  /** From the end of the span back. */
  newest: boolean
  /** How many readings the caller takes at most. */
  most?: number | undefined
}

const rows_at_once = 2000
const blocks_at_once = 12

/** Always more than the ranges of strings of an instant. */
function sizesOf(kind: ReadingKind, { most }: Walk) {
  const rows = keysOf(kind)[1] ? rows_at_once : Math.min(rows_at_once, (most ?? rows_at_once) + 1)
  return { rows, blocks: most !== undefined && most < 100 ? 1 : blocks_at_once }
}

/**
 * The readings of a device in a span with these columns, some at a time, in the order of time or
 * from the end back; the ranges of strings of an instant ascend.
 */
export async function* walkReadings(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
): AsyncGenerator<StoredReading[]> {
  const since_ms = await rowsSince(db, kind)
  const recent = { ...walk, from_ms: Math.max(walk.from_ms, since_ms) }
  const past = { ...walk, to_ms: Math.min(walk.to_ms, since_ms) }
  if (walk.newest) {
    yield* walkPart(db, kind, recent, columns, noBlocks)
    yield* walkPart(db, kind, past, columns, nearestBlocks)
  } else {
    yield* walkPart(db, kind, past, columns, nearestBlocks)
    yield* walkPart(db, kind, recent, columns, noBlocks)
  }
}

async function* walkPart(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
  readBlocks: typeof nearestBlocks,
): AsyncGenerator<StoredReading[]> {
  const { newest } = walk
  const compare = inOrder(kind)
  let { from_ms, to_ms } = walk
  while (from_ms < to_ms) {
    const span = { ...walk, from_ms, to_ms }
    const rows = await nearestRows(db, kind, span, columns)
    const blocks = await readBlocks(db, kind, span, columns)
    // Beyond the nearer end there may be more of the other.
    const end_ms = (newest ? Math.max : Math.min)(rows.end_ms, blocks.end_ms)
    if (newest) to_ms = end_ms
    else from_ms = end_ms
    const isWithin = ({ measured_at: at }: StoredReading) => (newest ? at >= end_ms : at < end_ms)
    const all = merged(kind, blocks.readings.filter(isWithin), rows.readings.filter(isWithin))
    all.sort((a, b) => (newest ? b.measured_at - a.measured_at : 0) || compare(a, b))
    if (all.length > 0) yield all
  }
}

/** Readings from the near end of a span on, complete up to `end_ms`. */
interface Nearest {
  readings: StoredReading[]
  end_ms: number
}

async function nearestRows(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
): Promise<Nearest> {
  const { site_id, device_id, from_ms, to_ms, newest } = walk
  const { rows: most } = sizesOf(kind, walk)
  const { table } = readingKinds[kind]
  const keys = keysOf(kind)
  const readings = await db.query<StoredReading>(
    `select ${rowColumns(kind, columns)} from ${table} as r
     where site_id = $1 and ${keys[0]} = $2 and r.measured_at >= $3 and r.measured_at < $4
     order by r.measured_at ${newest ? 'desc' : ''} limit ${most}`,
    [site_id, device_id, instant(from_ms), instant(to_ms)],
  )
  if (readings.length < most) return { readings, end_ms: newest ? from_ms : to_ms }
  // The last instant may have more ranges of strings.
  const last_ms = readings.at(-1)!.measured_at
  return { readings, end_ms: newest ? last_ms + 1 : last_ms }
}

async function nearestBlocks(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
): Promise<Nearest> {
  const { site_id, device_id, from_ms, to_ms, newest } = walk
  const { blocks: most } = sizesOf(kind, walk)
  const blocks = await db.query<BlockRow>(
    `select ${block_columns} from reading_blocks
     where site_id = $1 and kind = $2 and device_id = $3 and first_at < $5 and last_at >= $4
       and hour_at > $4::timestamptz - interval '1 hour' and hour_at < $5
     order by hour_at ${newest ? 'desc' : ''} limit ${most}`,
    [site_id, kind, device_id, instant(from_ms), instant(to_ms)],
  )
  const names = blockColumns(kind, columns)
  const readings = blocks
    .flatMap((block) => unpacked(kind, block, names))
    .filter(({ measured_at: at }) => at >= from_ms && at < to_ms)
  if (blocks.length < most) return { readings, end_ms: newest ? from_ms : to_ms }
  const hour_at_ms = blocks.at(-1)!.hour_at.getTime()
  return {
    readings,
    end_ms: newest ? Math.max(hour_at_ms, from_ms) : Math.min(hour_at_ms + hour_ms, to_ms),
  }
}

const noBlocks: typeof nearestBlocks = async (_db, _kind, { from_ms, to_ms, newest }) => ({
  readings: [],
  end_ms: newest ? from_ms : to_ms,
})

/** The first readings of a walk. */
export async function firstOf<Item>(parts: AsyncIterable<Item[]>, limit: number): Promise<Item[]> {
  const items: Item[] = []
  for await (const part of parts) {
    items.push(...part.slice(0, limit - items.length))
    if (items.length === limit) break
  }
  return items
}

/** How readings are counted: in JavaScript, and all of a block `b` in SQL, with $5 for `value`. */
interface Counting {
  columns: readonly string[]
  countOf(reading: StoredReading): number
  of_block: string
  value: number | null
}

/** Counts the readings of a device in a part of a span before `rowsSince`. */
export async function countPacked(
  db: Queries,
  kind: ReadingKind,
  { site_id, device_id, from_ms, to_ms }: Omit<Walk, 'newest'>,
  { columns, countOf, of_block, value }: Counting,
): Promise<number> {
  const { table } = readingKinds[kind]
  // Blocks whose rows are still there, and those across a bound, are counted by their readings.
  const [found] = await db.query<{ count: number; hours: Date[] }>(
    `with late as (
       select distinct date_bin('1 hour', measured_at, 'epoch') as hour_at from ${table}
       where site_id = $1 and ${keysOf(kind)[0]} = $2 and measured_at >= $3 and measured_at < $4
     ), blocks as (
       select b.hour_at, ${of_block} as count,
         first_at >= $3 and last_at < $4 and hour_at not in (select hour_at from late) as is_whole
       from reading_blocks b
       where site_id = $1 and kind = '${kind}' and device_id = $2 and last_at >= $3 and first_at < $4
         and hour_at > $3::timestamptz - interval '1 hour' and hour_at < $4
     )
     select coalesce(sum(count) filter (where is_whole), 0)::float8 as count,
       array(select hour_at from late union select hour_at from blocks where not is_whole) as hours
     from blocks where $5::int is null or true`,
    [site_id, device_id, instant(from_ms), instant(to_ms), value],
  )
  let { count } = found!
  for (const hour of found!.hours) {
    const hour_at_ms = hour.getTime()
    const part = {
      site_id,
      device_ids: [device_id],
      from_ms: Math.max(from_ms, hour_at_ms),
      to_ms: Math.min(to_ms, hour_at_ms + hour_ms),
    }
    for (const reading of await readReadings(db, kind, part, columns)) count += countOf(reading)
  }
  return count
}
