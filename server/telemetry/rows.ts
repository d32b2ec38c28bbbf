/**
 * The tables of rows: their columns, and their readings column by column. The one place that knows
 * rows of both forms, with and without `compact`, which exist side by side after an upgrade.
 */
import {
  type ColumnType,
  columnsOf,
  type ReadingKind,
  readingKinds,
} from '@heliograph/domain/readings'
import type { Queries } from '../storage/database.ts'
import { parseNumberArray } from '../storage/values.ts'
import { byteReader } from './blocks/bytes.ts'
import type { BlockValue, Columns } from './blocks/codec.ts'
import { compactColumns, readCompact } from './compact-values.ts'

type Column = readonly BlockValue[]

const alarm_columns: readonly string[] = ['alarm_1', 'alarm_2', 'alarm_3', 'alarm_4', 'alarm_5']

/** The bit of `zero_alarms` that stands for an alarm word of 0, which is null; 0 for none. */
export const zeroAlarmBit = (kind: ReadingKind, name: string): number =>
  kind in compactColumns && alarm_columns.includes(name) ? 1 << alarm_columns.indexOf(name) : 0

/** Whether rows of a kind have values that only `readRows` reads. */
export const isCompact = (kind: ReadingKind) => kind in compactColumns

/** The columns of a table of rows that `COPY` fills. */
export function copyColumns(kind: ReadingKind): readonly string[] {
  const compact = compactColumns[kind]
  if (!compact) return ['site_id', ...columnsOf(kind)]
  const own = columnsOf(kind).filter((name) => !compact.includes(name))
  return ['site_id', ...own, 'zero_alarms', 'compact']
}

/** The columns of the latest reading of a device without its site. */
export const latestColumns = (kind: ReadingKind): readonly string[] =>
  compactColumns[kind] ? [...columnsOf(kind), 'compact', 'compact_at'] : columnsOf(kind)

/** SQL for a value of a row `r`, an alarm word of 0 too; null for a value in `compact`. */
export function rowValue(kind: ReadingKind, name: string): string {
  const bit = zeroAlarmBit(kind, name)
  return bit === 0
    ? `r.${name}`
    : `coalesce(r.${name}, case when r.zero_alarms & ${bit} > 0 then 0 end)`
}

/** SQL for the alarm words of a row `r` of an inverter, as an array. */
export const alarm_words = `array[${alarm_columns.map((name) => rowValue('inverter', name)).join(', ')}]`

interface LatestRow {
  measured_at: Date | null
  compact?: Buffer | null
  /** `measured_at` of the reading with these values. */
  compact_at?: Date | null
}

/**
 * A row of `inverter_latest` or the like with the values of its `compact`. A server of an earlier
 * release writes the columns of a newer reading beside the `compact` of the one before.
 */
export function expanded<Row extends LatestRow>(kind: ReadingKind, row: Row): Row {
  const { measured_at, compact, compact_at } = row
  if (!compact || compact_at?.getTime() !== measured_at?.getTime()) return row
  const values = readCompact(kind, byteReader(compact), 1, new Set(compactColumns[kind]))
  return { ...row, ...Object.fromEntries([...values].map(([name, [value]]) => [name, value])) }
}

interface RowsAsked {
  /** SQL of a row `r`, from WHERE to LIMIT. */
  where: string
  values: readonly unknown[]
}

/**
 * These columns of rows, which takes a third of the time of rows as the driver reads them.
 * `measured_at` is in Unix ms.
 */
export async function readRows(
  db: Queries,
  kind: ReadingKind,
  asked: RowsAsked,
  names: readonly string[],
): Promise<Columns> {
  const compact = (compactColumns[kind] ?? []).filter((name) => names.includes(name))
  const own = names.filter((name) => !compact.includes(name))
  if (compact.length === 0) return readColumns(db, kind, asked, own)
  const wanted = new Set(compact)
  const found = await readColumns(db, kind, asked, own, count_of_compact)
  if (found.compact_count === found.count) {
    const { count, compact } = found
    const values = compact ? readCompact(kind, byteReader(compact), count, wanted) : []
    return { count, columns: new Map([...found.columns, ...values]) }
  }
  // Some are of before the upgrade.
  const mixed = await readColumns(db, kind, asked, names, places_of_compact)
  // Null without rows: they may have gone since the first statement.
  const places = (mixed.is_compact ?? []).flatMap((is_compact, nth) => (is_compact ? [nth] : []))
  if (mixed.compact) {
    const values = readCompact(kind, byteReader(mixed.compact), places.length, wanted)
    for (const [name, column] of values) {
      const all = mixed.columns.get(name) as BlockValue[]
      for (const [nth, place] of places.entries()) all[place] = column[nth]!
    }
  }
  return mixed
}

const count_of_compact = [
  `string_agg(compact, '') as compact`,
  'count(compact)::int as compact_count',
]
const places_of_compact = [
  `string_agg(compact, '') as compact`,
  'array_agg((compact is not null)::int) as is_compact',
]

interface Found {
  count: number
  compact?: Buffer | null
  compact_count?: number
  is_compact?: number[] | null
}

/** @param more aggregates of `compact` */
async function readColumns(
  db: Queries,
  kind: ReadingKind,
  { where, values }: RowsAsked,
  names: readonly string[],
  more: readonly string[] = [],
): Promise<Found & Columns> {
  const inner = names.map((name) => `${rowValue(kind, name)} as ${name}`)
  const aggregates = names.map((name) => aggregate(kind, name))
  const [row] = await db.query<Found & Record<string, AggregatedColumn | null>>(
    `select ${['count(*)::int as count', ...aggregates, ...more].join(', ')}
     from (select ${[...inner, ...(more.length > 0 ? ['r.compact'] : [])].join(', ')}
       from ${readingKinds[kind].table} r ${where}) as r`,
    values,
  )
  const columns = names.map((name) => [name, columnOf(typeOf(kind, name), row![name]!)] as const)
  return { ...row!, columns: new Map(columns) }
}

type AggregatedColumn = Column | string

function typeOf(kind: ReadingKind, name: string): ColumnType | undefined {
  const columns: Readonly<Record<string, ColumnType>> = readingKinds[kind].columns
  return name === 'quality' ? 'text' : columns[name]
}

/** One value for a column, in the order of the rows. */
function aggregate(kind: ReadingKind, name: string): string {
  if (name === 'measured_at') {
    return `array_agg((extract(epoch from measured_at) * 1000)::float8) as measured_at`
  }
  const type = typeOf(kind, name)
  // Words hold no comma and are not empty.
  if (type === 'text') return `string_agg(coalesce(${name}, ''), ',') as ${name}`
  // Arrays of different lengths are no array.
  if (type?.endsWith('[]')) return `string_agg(coalesce(${name}::text, 'NULL'), ',') as ${name}`
  return `array_agg(${name}${type === 'bigint' ? '::float8' : ''}) as ${name}`
}

function columnOf(type: ColumnType | undefined, values: AggregatedColumn | null): Column {
  if (values === null) return []
  if (typeof values !== 'string') return values
  if (type === 'text') return values.split(',').map((word) => word || null)
  return parseNumberArray(`{${values}}`) as Column
}
