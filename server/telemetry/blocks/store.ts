/** Blocks of readings in the database: made of rows, read as readings. */
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { columnsOf, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Transaction } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import { readRows } from '../rows.ts'
import { type BlockValue, type Columns, decodeBlock, encodeBlock } from './codec.ts'

/** The layout that the codec writes; a block of another is refused. */
const layout_version = 1

/**
 * Blocks of kinds with hundreds of parts a device and thousands of values a part are short, since a
 * block is held in memory as a whole; all others are an hour long.
 */
const lengths_ms: Partial<Record<ReadingKind, number>> = {
  cluster: 5 * minute_ms,
  cells: 2 * minute_ms,
}
export const blockLength = (kind: ReadingKind): number => lengths_ms[kind] ?? hour_ms
/** Start of the block of an instant, Unix ms; `hour_at` of the table. */
export const blockStart = (kind: ReadingKind, at_ms: number): number =>
  Math.floor(at_ms / blockLength(kind)) * blockLength(kind)
/** Whether more than one block or device at once would take too much memory. */
export const isLarge = (kind: ReadingKind): boolean => kind in lengths_ms

/**
 * Class of the PostgreSQL advisory lock of a site that whoever sums up its hours or writes its
 * blocks holds: `hg-roll`.
 */
export const packing_lock_class = 0x68676c6c

/** A reading with the columns that were asked for. */
export type StoredReading = Readonly<Record<string, BlockValue>> & {
  /** Unix ms */
  readonly measured_at: number
}

/** The columns of a kind without the device. */
const valuesOf = (kind: ReadingKind) => columnsOf(kind).slice(1)
const subKeyOf = (kind: ReadingKind): string | null => readingKinds[kind].keys[1] ?? null

/** The SQL of columns of a reading, `measured_at` in Unix ms. */
export const selected = (names: readonly string[]) =>
  names
    .map((name) =>
      name === 'measured_at'
        ? '(extract(epoch from measured_at) * 1000)::float8 as measured_at'
        : name,
    )
    .join(', ')

export interface BlockRow {
  device_id: number
  hour_at: Date
  reading_count: number
  resolution_s: number | null
  layout: number
  content: Buffer
}
export const block_columns = 'device_id, hour_at, reading_count, resolution_s, layout, content'

/**
 * These columns of a block, by range of strings and instant; those without a value are missing.
 *
 * @throws Error for a block of a later release
 */
export function blockColumns({ layout, content }: BlockRow, names: readonly string[]): Columns {
  if (layout !== layout_version) throw new Error(`a block has layout ${layout}`)
  return decodeBlock(content, new Set(names))
}

/** The readings of a block with these columns, by range of strings and instant. */
export function unpacked(
  kind: ReadingKind,
  block: BlockRow,
  names: readonly string[] = valuesOf(kind),
): StoredReading[] {
  const [key] = readingKinds[kind].keys
  return readingsIn(blockColumns(block, names), names, { [key]: block.device_id })
}

/** Columns as readings, with these names and those of `keys`. */
export function readingsIn(
  { count, columns }: Columns,
  names: readonly string[] = [...columns.keys()],
  keys: Readonly<Record<string, number>> = {},
): StoredReading[] {
  const given = names.map((name) => [name, columns.get(name)] as const)
  return Array.from({ length: count }, (_, nth) => {
    const reading: Record<string, BlockValue> = { ...keys }
    for (const [name, values] of given) reading[name] = values ? values[nth]! : null
    return reading as StoredReading
  })
}

/** Unites readings of blocks and of rows, each instant once; what is in a block remains. */
export function merged(
  kind: ReadingKind,
  packed: readonly StoredReading[],
  rows: readonly StoredReading[],
): StoredReading[] {
  if (rows.length === 0) return [...packed]
  if (packed.length === 0) return [...rows]
  const [key, sub_key] = readingKinds[kind].keys as readonly [string, string?]
  const idOf = (reading: StoredReading) =>
    `${reading[key]} ${sub_key ? reading[sub_key] : ''} ${reading.measured_at}`
  const known = new Set(packed.map(idOf))
  return [...packed, ...rows.filter((row) => !known.has(idOf(row)))]
}

interface DeviceHour {
  device_id: number
  hour_at: Date
}

/** Devices whose readings of an hour are held in memory at once. */
const devices_at_once = 16

/**
 * Makes the blocks of these hours of the rows that are there and the blocks before. The caller
 * holds the lock of the site.
 *
 * @param resolution_s of the rows; null for every reading
 */
export async function packHours(
  transaction: Transaction,
  site_id: string,
  kind: ReadingKind,
  hours: readonly DeviceHour[],
  resolution_s: number | null = null,
): Promise<void> {
  const at_once = isLarge(kind) ? 1 : devices_at_once
  for (const [hour_at_ms, devices] of Map.groupBy(hours, ({ hour_at }) => hour_at.getTime())) {
    const ids = devices.map(({ device_id }) => device_id)
    for (let at_ms = hour_at_ms; at_ms < hour_at_ms + hour_ms; at_ms += blockLength(kind)) {
      for (let first = 0; first < ids.length; first += at_once) {
        const some = { site_id, kind, at_ms, ids: ids.slice(first, first + at_once) }
        await packDevices(transaction, some, resolution_s)
      }
    }
  }
}

async function packDevices(
  transaction: Transaction,
  {
    site_id,
    kind,
    at_ms,
    ids,
  }: { site_id: string; kind: ReadingKind; at_ms: number; ids: number[] },
  resolution_s: number | null,
): Promise<void> {
  const [key] = readingKinds[kind].keys
  const asked = {
    where: `where r.site_id = $1 and r.${key} = any ($2)
      and r.measured_at >= $3 and r.measured_at < $4`,
    values: [site_id, ids, isoTime(at_ms), isoTime(at_ms + blockLength(kind))],
  }
  const rows = readingsIn(await readRows(transaction, kind, asked, columnsOf(kind)))
  const rowsOf = Map.groupBy(rows, (row) => row[key] as number)
  const before = await transaction.query<BlockRow>(
    `select ${block_columns} from reading_blocks
     where site_id = $1 and kind = $2 and device_id = any ($3) and hour_at = $4`,
    [site_id, kind, [...rowsOf.keys()], isoTime(at_ms)],
  )
  for (const [device_id, own] of rowsOf) {
    const block = before.find((each) => each.device_id === device_id)
    const all = block ? merged(kind, unpacked(kind, block), own) : own
    if (all.length === block?.reading_count) continue
    const of = { site_id, device_id, hour_at: new Date(at_ms) }
    await storeBlock(transaction, kind, all, {
      ...of,
      resolution_s: block ? block.resolution_s : resolution_s,
    })
  }
}

/** Stores readings in place of the block before. */
export async function storeBlock(
  transaction: Transaction,
  kind: ReadingKind,
  readings: readonly StoredReading[],
  of: DeviceHour & { site_id: string; resolution_s: number | null },
): Promise<void> {
  const sub_key = subKeyOf(kind)
  const sorted = readings.toSorted(
    (a, b) =>
      (sub_key ? (a[sub_key] as number) - (b[sub_key] as number) : 0) ||
      a.measured_at - b.measured_at,
  )
  const columns = valuesOf(kind).map(
    (name) => [name, sorted.map((reading) => reading[name] ?? null)] as const,
  )
  const times_ms = sorted.map(({ measured_at }) => measured_at)
  const [first_ms, last_ms] = times_ms.reduce(
    ([first, last], at) => [Math.min(first, at), Math.max(last, at)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
  await transaction.execute(
    `insert into reading_blocks (site_id, kind, device_id, hour_at, first_at, last_at,
       reading_count, resolution_s, string_ranges, layout, content)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (site_id, kind, device_id, hour_at) do update
       set first_at = excluded.first_at, last_at = excluded.last_at,
         reading_count = excluded.reading_count, resolution_s = excluded.resolution_s,
         string_ranges = excluded.string_ranges, layout = excluded.layout,
         content = excluded.content`,
    [
      of.site_id,
      kind,
      of.device_id,
      of.hour_at,
      isoTime(first_ms!),
      isoTime(last_ms!),
      sorted.length,
      of.resolution_s,
      kind === 'string' ? rangesOf(sorted) : null,
      layout_version,
      encodeBlock({ count: sorted.length, columns: new Map(columns) }),
    ],
  )
}

/** The number of strings that a reading of a range holds. */
export const stringsIn = ({ current_a, voltage_v }: StoredReading) =>
  Math.max(lengthOf(current_a), lengthOf(voltage_v))
const lengthOf = (value: BlockValue | undefined) => (Array.isArray(value) ? value.length : 0)

/** First string, number of strings and number of readings of each range and length. */
function rangesOf(readings: readonly StoredReading[]): number[] {
  const ranges = Map.groupBy(
    readings,
    (reading) => `${reading['first_string_index']} ${stringsIn(reading)}`,
  )
  return [...ranges].flatMap(([range, own]) => [...range.split(' ').map(Number), own.length])
}

/** One of the readings of a device in each step: the last that is not suspect, else the last. */
export function thinned(
  kind: ReadingKind,
  readings: readonly StoredReading[],
  step_s: number,
): StoredReading[] {
  const sub_key = subKeyOf(kind)
  const steps = Map.groupBy(
    readings.toSorted((a, b) => a.measured_at - b.measured_at),
    (reading) =>
      `${sub_key ? reading[sub_key] : ''} ${Math.floor(reading.measured_at / (1000 * step_s))}`,
  )
  return [...steps.values()].map(
    (own) => own.findLast(({ quality }) => quality !== 'suspect') ?? own.at(-1)!,
  )
}
