/** Checks the readings of a frame and writes them as text for `COPY`. Pure. */
import {
  array_length_max,
  type ColumnType,
  qualities,
  type ReadingKind,
  readingKinds,
  readingWords,
} from '@heliograph/domain/readings'
import { type AsciiText, ascii, asciiText } from '../http/ascii-text.ts'
import { byteWriter } from './blocks/bytes.ts'
import type { BlockValue } from './blocks/codec.ts'
import { compactColumns, writeCompact } from './compact-values.ts'
import { asReal } from './real.ts'
import { Refused, shown } from './refused.ts'
import { zeroAlarmBit } from './rows.ts'
import { addTouchedHours } from './touched-hours.ts'

/** Readings dated further ahead of their arrival come from a wrong clock. */
export const believed_ahead_ms_max = 5000

const int4_max = 2_147_483_647
const alarm_word_max = 4_294_967_295
const real_max = 3.4028234663852886e38
/** The smallest normal float4: PostgreSQL refuses text that would round to 0. */
const real_min = 1.1754943508222875e-38

const pieces = {
  tab: ascii('\t'),
  line_feed: ascii('\n'),
  comma: ascii(','),
  opening: ascii('{'),
  closing: ascii('}'),
  null: ascii('\\N'),
}
const milliseconds = Array.from({ length: 1000 }, (_, ms) => ascii(`${ms}Z`.padStart(4, '0')))

/** The newest instants and the touched hours of the rows of one device. */
export interface Trace {
  /** By `first_string_index`, else 0; only readings that may be the latest. */
  newest_at: Map<number, number>
  /** Hours since the Unix epoch. */
  hours: Set<number>
}

export interface EncodedTable {
  kind: ReadingKind
  row_count: number
  /** Lines for `COPY` of `copyColumns`. */
  text: Buffer
  first_at: number
  last_at: number
  devices: Map<number, Trace>
}

interface ReadingBounds {
  site_id: string
  /** Unix ms; readings outside [first, last] are refused. */
  first_at: number
  last_at: number
  /**
   * Readings dated later are stored as `suspect`. In the live lane they may be the latest reading;
   * in the backlog they never are, since their true time is unknown.
   */
  believed_until: number
  is_live: boolean
}

/** Writes a value that is not null; returns false if the column cannot store it. */
type Write = (text: AsciiText, value: unknown) => boolean
/** A value as it is stored; undefined if the column cannot store it. */
type Check<Value> = (value: unknown) => Value | undefined

interface Column {
  name: string
  nullable: boolean
  write: Write
  /** Check and place of a column in `compactColumns`. */
  compact?: { check: Check<BlockValue>; place: number }
  /** The bit of `zero_alarms` for a value of 0, else 0. */
  zero_bit?: number
}

type Element = 'real' | 'double' | 'integer' | 'bigint'
const elementOf = (type: ColumnType) => type.replace('[]', '') as Element

const checks: Record<Element, Check<number>> = {
  real: checkReal,
  double: checkDouble,
  integer: checkInteger(-int4_max - 1, int4_max),
  // Every bigint column is a 32-bit alarm word.
  bigint: checkInteger(0, alarm_word_max),
}

const wordsOf: Partial<Record<ReadingKind, Readonly<Record<string, readonly string[]>>>> =
  readingWords

const columnsByKind = Object.fromEntries(
  (Object.keys(readingKinds) as ReadingKind[]).map((kind) => [kind, columnEncoders(kind)]),
) as unknown as Record<ReadingKind, readonly Column[]>

/**
 * Checks and writes one table of a frame. Columns may have any order; columns unknown to an older
 * edge become null.
 *
 * @param first_row number of the first row in messages
 * @throws Refused naming the row and column
 */
export function encodeTable(
  kind: ReadingKind,
  table: { columns: readonly string[]; rows: readonly (readonly unknown[])[] },
  bounds: ReadingBounds,
  first_row = 0,
): EncodedTable {
  const columns = columnsByKind[kind]
  const sources = sourcesOf(kind, table.columns)
  const encoded: EncodedTable = {
    kind,
    row_count: table.rows.length,
    text: Buffer.alloc(0),
    first_at: Number.POSITIVE_INFINITY,
    last_at: Number.NEGATIVE_INFINITY,
    devices: new Map(),
  }
  const { keys } = readingKinds[kind]
  const id_source = sources[0]!
  const sub_source = keys.length > 1 ? sources[1]! : -1
  const at_source = sources[keys.length]!
  const quality_index = keys.length + 1
  const site = ascii(bounds.site_id)
  const text = asciiText()
  const compact = compactColumns[kind] ? compactWriter(compactColumns[kind].length) : null
  for (let nth = 0; nth < table.rows.length; nth += 1) {
    const row = table.rows[nth]!
    if (row.length !== table.columns.length) {
      throw new Refused(
        `${kind} row ${first_row + nth}: ${row.length} values in ${table.columns.length} columns`,
      )
    }
    const at = row[at_source] as number
    if (!(at >= bounds.first_at && at <= bounds.last_at)) {
      throw new Refused(`${kind} row ${first_row + nth}: measured_at: ${shown(at)} is out of range`)
    }
    const is_ahead = at > bounds.believed_until
    let zero_alarms = 0
    text.add(site)
    for (let index = 0; index < columns.length; index += 1) {
      const source = sources[index]!
      let value = source < 0 ? null : row[source]
      const column = columns[index]!
      if (is_ahead && index === quality_index && value === 'good') value = 'suspect'
      if (column.compact) {
        const { check, place } = column.compact
        const checked = value === null ? null : check(value)
        if (checked === undefined) throw invalid(kind, first_row + nth, column, value)
        compact!.values[place] = checked
        continue
      }
      text.add(pieces.tab)
      if (value === 0 && column.zero_bit) {
        zero_alarms |= column.zero_bit
        value = null
      }
      if (value === null && column.nullable) text.add(pieces.null)
      else if (value === null || !column.write(text, value)) {
        throw invalid(kind, first_row + nth, column, value)
      }
    }
    if (compact) {
      text.add(pieces.tab)
      text.addNumber(zero_alarms)
      text.add(pieces.tab)
      text.addText(compact.text())
    }
    text.add(pieces.line_feed)
    const sub = sub_source < 0 ? 0 : (row[sub_source] as number)
    trace(encoded, { device_id: row[id_source] as number, sub, at }, !is_ahead || bounds.is_live)
  }
  encoded.text = text.take()
  return encoded
}

const invalid = (kind: ReadingKind, row: number, { name }: Column, value: unknown) =>
  new Refused(`${kind} row ${row}: ${name}: ${shown(value)} is not valid`)

/** Writes the values of a row as text for `COPY`. */
function compactWriter(length: number) {
  const values = new Array<BlockValue>(length).fill(null)
  const decimals = new Array<number>(length).fill(0)
  const to = byteWriter()
  return {
    values,
    text() {
      to.clear()
      writeCompact(to, values, decimals)
      return `\\\\x${to.taken().toString('hex')}`
    },
  }
}

function trace(
  encoded: EncodedTable,
  { device_id, sub, at }: { device_id: number; sub: number; at: number },
  may_be_latest: boolean,
): void {
  let device = encoded.devices.get(device_id)
  if (device === undefined) {
    device = { newest_at: new Map(), hours: new Set() }
    encoded.devices.set(device_id, device)
  }
  if (may_be_latest && !(device.newest_at.get(sub)! >= at)) device.newest_at.set(sub, at)
  addTouchedHours(device.hours, at)
  if (at < encoded.first_at) encoded.first_at = at
  if (at > encoded.last_at) encoded.last_at = at
}

/** Index of each column in the rows; -1 if the frame lacks the column. */
function sourcesOf(kind: ReadingKind, given: readonly string[]): number[] {
  const columns = columnsByKind[kind]
  const known = new Set(columns.map(({ name }) => name))
  const unknown = given.filter((name) => !known.has(name))
  if (unknown.length > 0) throw new Refused(`${kind}: unknown column ${shown(unknown[0])}`)
  if (new Set(given).size !== given.length) throw new Refused(`${kind}: a column is named twice`)
  const missing = columns.find(({ name, nullable }) => !nullable && !given.includes(name))
  if (missing) throw new Refused(`${kind}: column ${missing.name} is missing`)
  return columns.map(({ name }) => given.indexOf(name))
}

function columnEncoders(kind: ReadingKind): Column[] {
  const { keys, columns } = readingKinds[kind]
  // The second key is an index within the device, from 0.
  const device = (name: string, nth: number): Column => ({
    name,
    nullable: false,
    write: writer(nth > 0 ? checkInteger(0, array_length_max) : checkInteger(1, int4_max)),
  })
  const words = wordsOf[kind] ?? {}
  const compact = compactColumns[kind] ?? []
  return [
    ...keys.map(device),
    { name: 'measured_at', nullable: false, write: instants() },
    { name: 'quality', nullable: false, write: oneOf(qualities) },
    ...Object.entries(columns as Record<string, ColumnType>).map(([name, type]) => ({
      name,
      nullable: true,
      write: type === 'text' ? oneOf(words[name] ?? []) : writerOf(type),
      zero_bit: zeroAlarmBit(kind, name),
      ...(type !== 'text' &&
        compact.includes(name) && {
          compact: { check: compactCheckOf(type), place: compact.indexOf(name) },
        }),
    })),
  ]
}

function checkReal(value: unknown): number | undefined {
  if (typeof value !== 'number') return undefined
  const magnitude = Math.abs(value)
  if (!(magnitude <= real_max)) return undefined
  // The sum of -0 and 0 is 0.
  return magnitude < real_min ? 0 : value + 0
}

function checkDouble(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) + 0 : undefined
}

function checkInteger(minimum: number, maximum: number): Check<number> {
  return (value) => {
    if (!Number.isInteger(value)) return undefined
    const integer = value as number
    return integer >= minimum && integer <= maximum ? integer + 0 : undefined
  }
}

/** Words have writers of their own: they need no escaping. */
function writerOf(type: Exclude<ColumnType, 'text'>): Write {
  const write = writer(checks[elementOf(type)])
  return type.endsWith('[]') ? arrayOf(write) : write
}

function writer(check: Check<number>): Write {
  return (text, value) => {
    const checked = check(value)
    if (checked !== undefined) text.addNumber(checked)
    return checked !== undefined
  }
}

/** A `real` is rounded here, as PostgreSQL does where it has a column of its own. */
function compactCheckOf(type: Exclude<ColumnType, 'text'>): Check<BlockValue> {
  const element = elementOf(type)
  const check: Check<number> = (value) => {
    const checked = checks[element](value)
    return element === 'real' && checked !== undefined ? asReal(checked) : checked
  }
  if (!type.endsWith('[]')) return check
  return (value) => {
    if (!Array.isArray(value) || value.length > array_length_max) return undefined
    const list: (number | null)[] = []
    for (const each of value) {
      const checked = each === null ? null : check(each)
      if (checked === undefined) return undefined
      list.push(checked)
    }
    return list
  }
}

function oneOf(words: readonly string[]): Write {
  const texts = new Map<unknown, Uint8Array>(words.map((word) => [word, ascii(word)]))
  return (text, value) => {
    const bytes = texts.get(value)
    if (bytes) text.add(bytes)
    return bytes !== undefined
  }
}

function arrayOf(write: Write): Write {
  return (text, value) => {
    if (!Array.isArray(value) || value.length > array_length_max) return false
    text.add(pieces.opening)
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) text.add(pieces.comma)
      if (value[index] === null) text.addNumber(null)
      else if (!write(text, value[index])) return false
    }
    text.add(pieces.closing)
    return true
  }
}

/** Caches the text of the last second, since the rows of a frame share few seconds. */
function instants(): Write {
  let last_second = Number.NaN
  let word = ascii('')
  return (text, value) => {
    if (!Number.isInteger(value)) return false
    const second = Math.floor((value as number) / 1000)
    if (second !== last_second) {
      word = ascii(new Date(second * 1000).toISOString().slice(0, -'000Z'.length))
      last_second = second
    }
    text.add(word)
    text.add(milliseconds[(value as number) - second * 1000]!)
    return true
  }
}
