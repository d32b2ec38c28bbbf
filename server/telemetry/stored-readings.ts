/**
 * The readings of devices, from rows and blocks alike. Rows are read before blocks and each reading
 * counts once, so that readings which become part of a block meanwhile are found in any case.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Queries } from '../storage/database.ts'
import type { Columns } from './blocks/codec.ts'
import {
  type BlockRow,
  block_columns,
  blockColumns,
  blockLength,
  isLarge,
  merged,
  readingsIn,
  type StoredReading,
  selected,
  unpacked,
} from './blocks/store.ts'
import { byColumn, partOf, type ReadingColumns } from './reading-columns.ts'
import { readRows } from './rows.ts'
import type { Step } from './steps.ts'

/** Half open, Unix ms; bounds may be infinite. */
interface ReadingSpan {
  site_id: string
  from_ms: number
  to_ms: number
}

/** Readings from this instant on, Unix ms, are all in rows. */
export async function rowsSince(db: Queries, kind: ReadingKind): Promise<number> {
  const [bound] = await db.query<{ before_at: Date | null }>(
    'select max(before_at) as before_at from packed_before where kind = $1',
    [kind],
  )
  return bound!.before_at?.getTime() ?? Number.NEGATIVE_INFINITY
}

/** SQL for the instant of the first reading of a device, the row `device` of the site `site`. */
export function firstReadingAt(kind: ReadingKind, site: string, device: string): string {
  const { table, keys } = readingKinds[kind]
  const [key] = keys
  return `least((
      select measured_at from ${table}
      where site_id = ${site} and ${key} = ${device}.${key}
      order by measured_at limit 1
    ), (
      select first_at from reading_blocks
      where site_id = ${site} and kind = '${kind}' and device_id = ${device}.${key}
      order by hour_at limit 1
    ))`
}

/** An instant for SQL, infinite ones too. */
export const instant = (at_ms: number) =>
  Number.isFinite(at_ms) ? new Date(at_ms).toISOString() : at_ms > 0 ? 'infinity' : '-infinity'

const keysOf = (kind: ReadingKind) => readingKinds[kind].keys as readonly [string, string?]
/** The columns of the readings of a device. */
const namesOf = (kind: ReadingKind, columns: readonly string[]) => [
  ...readingKinds[kind].keys.slice(1),
  'measured_at',
  ...columns,
]
const inTime = ({ count, columns }: Columns): ReadingColumns => ({
  count,
  times_ms: columns.get('measured_at') as readonly number[],
  columns,
})

/** The readings of blocks that are within a span. */
function readingsOf(
  kind: ReadingKind,
  blocks: readonly BlockRow[],
  columns: readonly string[],
  { from_ms, to_ms }: Omit<ReadingSpan, 'site_id'>,
): StoredReading[] {
  return blocks
    .flatMap((block) => unpacked(kind, block, namesOf(kind, columns)))
    .filter(({ measured_at: at }) => at >= from_ms && at < to_ms)
}

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
  const [key] = keysOf(kind)
  const values = [site_id, device_ids, instant(from_ms), instant(to_ms)]
  const where = `where r.site_id = $1 and r.${key} = any ($2)
    and r.measured_at >= $3 and r.measured_at < $4`
  const names = [key, ...namesOf(kind, columns)]
  const rows = readingsIn(await readRows(db, kind, { where, values }, names))
  const since_ms = await rowsSince(db, kind)
  if (from_ms >= since_ms) return rows.sort(inOrder(kind)) as (Reading & StoredReading)[]
  const blocks = await db.query<BlockRow>(
    `select ${block_columns} from reading_blocks
     where site_id = $1 and kind = $5 and device_id = any ($2) and first_at < $4 and last_at >= $3
       and hour_at > $3::timestamptz - interval '1 hour' and hour_at < least($4::timestamptz, $6)`,
    [...values, kind, instant(since_ms)],
  )
  const packed = readingsOf(kind, blocks, columns, { from_ms, to_ms })
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

/** Always more than the ranges of strings of an instant. A page is read at once. */
function sizesOf(kind: ReadingKind, { most }: Walk) {
  const rows = keysOf(kind)[1] || most === undefined ? rows_at_once : most + 1
  const is_short = (most !== undefined && most < 100) || isLarge(kind)
  return { rows, blocks: is_short ? 1 : blocks_at_once }
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
  for await (const part of walkColumns(db, kind, walk, columns)) {
    yield toReadings(kind, walk, part, columns)
  }
}

const toReadings = (
  kind: ReadingKind,
  { device_id }: Pick<Walk, 'device_id'>,
  part: ReadingColumns,
  columns: readonly string[],
) => {
  const [key] = keysOf(kind)
  return readingsIn(part, namesOf(kind, columns), { [key]: device_id })
}

/** The readings of `walkReadings` by column. */
export async function* walkColumns(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
): AsyncGenerator<ReadingColumns> {
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
): AsyncGenerator<ReadingColumns> {
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
    const isBeyond = (at_ms: number) => (newest ? at_ms < end_ms : at_ms >= end_ms)
    const upTo = (parts: readonly ReadingColumns[]) =>
      parts.flatMap((part) => {
        const beyond = part.times_ms.findIndex(isBeyond)
        const end = beyond < 0 ? part.count : beyond
        return end === 0 ? [] : [partOf(part, { first: 0, end })]
      })
    const [packed, loose] = [upTo(blocks.parts), upTo(rows.parts)]
    if (packed.length === 0 || loose.length === 0) {
      yield* packed
      yield* loose
      continue
    }
    const readingsIn = (parts: readonly ReadingColumns[]) =>
      parts.flatMap((part) => toReadings(kind, walk, part, columns))
    const all = merged(kind, readingsIn(packed), readingsIn(loose))
    all.sort((a, b) => (newest ? b.measured_at - a.measured_at : 0) || compare(a, b))
    yield byColumn(all)
  }
}

/** Readings from the near end of a span on, in the order of the walk, complete up to `end_ms`. */
interface Nearest {
  parts: ReadingColumns[]
  end_ms: number
}

/** The readings of a part that are within a span, in the order of a walk. */
function inWalk(kind: ReadingKind, { from_ms, to_ms, newest }: Walk, part: ReadingColumns) {
  const { times_ms, count, columns } = part
  const sub_key = keysOf(kind)[1]
  if (sub_key === undefined) {
    const first = times_ms.findIndex((at_ms) => at_ms >= from_ms)
    const end = times_ms.findLastIndex((at_ms) => at_ms < to_ms) + 1
    return partOf(part, { first: first < 0 ? count : first, end, backwards: newest })
  }
  const ranges = columns.get(sub_key) as readonly number[]
  const direction = newest ? -1 : 1
  const places = Array.from(times_ms.keys())
    .filter((nth) => times_ms[nth]! >= from_ms && times_ms[nth]! < to_ms)
    .sort((a, b) => direction * (times_ms[a]! - times_ms[b]!) || ranges[a]! - ranges[b]!)
  const placed = <Value>(values: readonly Value[]) => places.map((nth) => values[nth]!)
  return {
    count: places.length,
    times_ms: placed(times_ms),
    columns: new Map([...columns].map(([name, values]) => [name, placed(values)])),
  }
}

const boundsOf = ({ site_id, device_id, from_ms, to_ms }: Walk) => [
  site_id,
  device_id,
  instant(from_ms),
  instant(to_ms),
]
const farEnd = ({ from_ms, to_ms, newest }: Walk) => (newest ? from_ms : to_ms)

async function nearestRows(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
): Promise<Nearest> {
  const { newest } = walk
  const { rows: most } = sizesOf(kind, walk)
  const [key, sub_key] = keysOf(kind)
  const order = [`r.measured_at ${newest ? 'desc' : 'asc'}`, ...(sub_key ? [`r.${sub_key}`] : [])]
  const asked = {
    where: `where r.site_id = $1 and r.${key} = $2 and r.measured_at >= $3 and r.measured_at < $4
      order by ${order.join(', ')} limit ${most}`,
    values: boundsOf(walk),
  }
  const part = inTime(await readRows(db, kind, asked, namesOf(kind, columns)))
  if (part.count < most) return { parts: [part], end_ms: farEnd(walk) }
  // The last instant may have more ranges of strings.
  const last_ms = part.times_ms.at(-1)!
  return { parts: [part], end_ms: newest ? last_ms + 1 : last_ms }
}

async function nearestBlocks(
  db: Queries,
  kind: ReadingKind,
  walk: Walk,
  columns: readonly string[],
): Promise<Nearest> {
  const { from_ms, to_ms, newest } = walk
  const { blocks: most } = sizesOf(kind, walk)
  const blocks = await db.query<BlockRow>(
    `select ${block_columns} from reading_blocks
     where site_id = $1 and device_id = $2 and kind = $5 and first_at < $4 and last_at >= $3
       and hour_at > $3::timestamptz - interval '1 hour' and hour_at < $4
     order by hour_at ${newest ? 'desc' : ''} limit ${most}`,
    [...boundsOf(walk), kind],
  )
  const names = namesOf(kind, columns)
  const parts = blocks.map((block) => inWalk(kind, walk, inTime(blockColumns(block, names))))
  if (blocks.length < most) return { parts, end_ms: farEnd(walk) }
  const start_ms = blocks.at(-1)!.hour_at.getTime()
  return {
    parts,
    end_ms: newest ? Math.max(start_ms, from_ms) : Math.min(start_ms + blockLength(kind), to_ms),
  }
}

const noBlocks: typeof nearestBlocks = async (_db, _kind, walk) => ({
  parts: [],
  end_ms: farEnd(walk),
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

interface LastAsked {
  site_id: string
  device_ids: readonly number[]
  instants_ms: readonly number[]
  /** How old a reading may be at its instant. */
  within_ms: number
  /** The columns that a reading must have measured. */
  measured?: readonly string[]
}

/** By device, for each instant the last reading until then; null without one. */
export async function readLast(
  db: Queries,
  kind: 'bess',
  asked: LastAsked,
  columns: readonly string[],
): Promise<Map<number, (StoredReading | null)[]>> {
  const { site_id, device_ids, instants_ms, within_ms, measured = [] } = asked
  const { table } = readingKinds[kind]
  const [key] = keysOf(kind)
  const oldest_ms = (at_ms: number) => at_ms - within_ms + 1
  const rows = await db.query<{ device_id: number; nth: number; reading: StoredReading }>(
    `select device_id, nth, to_jsonb(r) as reading
     from unnest($2::int[]) as device_id, unnest($3::timestamptz[]) with ordinality as i (at, nth),
       lateral (
         select ${selected([key, 'measured_at', ...columns])} from ${table}
         where site_id = $1 and ${key} = device_id and ${table}.measured_at <= at
           and ${table}.measured_at > at - $4::float8 * interval '1 ms'
           ${measured.map((name) => `and ${name} is not null`).join(' ')}
         order by ${table}.measured_at desc limit 1
       ) as r`,
    [site_id, device_ids, instants_ms.map(instant), within_ms],
  )
  const found = new Map(device_ids.map((id) => [id, instants_ms.map(() => noReading)]))
  for (const { device_id, nth, reading } of rows) found.get(device_id)![nth - 1] = reading
  const since_ms = await rowsSince(db, kind)
  const old = instants_ms.filter((at_ms) => oldest_ms(at_ms) < since_ms)
  const blocks = await db.query<BlockRow & { at: Date }>(
    `select i.at, b.*
     from unnest($2::int[]) as device, unnest($3::timestamptz[]) as i (at),
       lateral (
         select ${block_columns} from reading_blocks
         where site_id = $1 and kind = $4 and device_id = device and first_at <= i.at
           and hour_at <= i.at and hour_at > i.at - $5::float8 * interval '1 ms' - interval '1 hour'
         order by hour_at desc limit 1
       ) as b`,
    [site_id, device_ids, old.map(instant), kind, within_ms],
  )
  for (const block of blocks) {
    const at_ms = block.at.getTime()
    const span = { from_ms: oldest_ms(at_ms), to_ms: at_ms + 1 }
    const hasAll = (reading: StoredReading) => measured.every((name) => reading[name] !== null)
    const nth = instants_ms.indexOf(at_ms)
    const last =
      readingsOf(kind, [block], columns, span).findLast(hasAll) ??
      (await lastOf(db, kind, { site_id, device_id: block.device_id, ...span }, columns, hasAll))
    const own = found.get(block.device_id)!
    if (last && !(own[nth]! && own[nth].measured_at >= last.measured_at)) own[nth] = last
  }
  return found
}

const noReading = null as StoredReading | null

async function lastOf(
  db: Queries,
  kind: ReadingKind,
  span: ReadingSpan & { device_id: number },
  columns: readonly string[],
  isWanted: (reading: StoredReading) => boolean,
): Promise<StoredReading | null> {
  const walk = { ...span, newest: true, most: 1 }
  for await (const readings of walkReadings(db, kind, walk, columns)) {
    const last = readings.find(isWanted)
    if (last) return last
  }
  return null
}

/** Counts the steps of a span in which a device has readings. */
export async function countSteps(
  db: Queries,
  kind: ReadingKind,
  { site_id, device_id, from_ms, to_ms }: Omit<Walk, 'newest'>,
  step: Pick<Step, 'step_s' | 'timezone' | 'startOf'>,
): Promise<number> {
  const { table } = readingKinds[kind]
  const values = [site_id, device_id, instant(from_ms), instant(to_ms)]
  const startOf = (at: string) =>
    step.step_s * 1000 < day_ms
      ? `date_bin('${step.step_s} s', ${at}, 'epoch')`
      : `date_trunc('day', ${at}, $5)`
  const starts = (at: string) => `(extract(epoch from ${startOf(at)}) * 1000)::float8 as start_ms`
  const given = step.step_s * 1000 < day_ms ? values : [...values, step.timezone]
  const counted = new Set<number>()
  const add = (rows: readonly { start_ms: number }[]) => {
    for (const { start_ms } of rows) counted.add(start_ms)
  }
  add(
    await db.query<{ start_ms: number }>(
      `select distinct ${starts('measured_at')} from ${table}
       where site_id = $1 and ${keysOf(kind)[0]} = $2 and measured_at >= $3 and measured_at < $4`,
      given,
    ),
  )
  const since_ms = await rowsSince(db, kind)
  if (from_ms >= since_ms) return counted.size
  if (step.step_s * 1000 >= hour_ms) {
    // No step is between the first and the last reading of an hour.
    add(
      await db.query<{ start_ms: number }>(
        `select distinct ${starts('at')}
         from reading_blocks, lateral unnest(array[first_at, last_at]) as at
         where site_id = $1 and kind = '${kind}' and device_id = $2 and at >= $3 and at < $4
           and hour_at > $3::timestamptz - interval '1 hour' and hour_at < $4`,
        given,
      ),
    )
    return counted.size
  }
  const past = { site_id, device_id, from_ms, to_ms: Math.min(to_ms, since_ms), newest: false }
  for await (const { times_ms } of walkPart(db, kind, past, [], nearestBlocks)) {
    for (const at_ms of times_ms) counted.add(step.startOf(at_ms))
  }
  return counted.size
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
       select distinct date_bin('${blockLength(kind)} ms', measured_at, 'epoch') as hour_at
       from ${table}
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
      to_ms: Math.min(to_ms, hour_at_ms + blockLength(kind)),
    }
    for (const reading of await readReadings(db, kind, part, columns)) count += countOf(reading)
  }
  return count
}
