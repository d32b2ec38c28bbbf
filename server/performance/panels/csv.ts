/**
 * Reads the list of panel models that NREL publishes with SAM, the System Advisor Model ("CEC
 * Modules.csv"), and its derivatives: with or without the two rows of units and variables below the
 * header, columns in any order. A row is a line, so that an invalid row affects no other row.
 */
import { isDate } from '@heliograph/domain/utc-day'
import { faultOf, type ListedModel, modelNumbers, type Technology } from './model.ts'
import { nameKey } from './names.ts'

/** The file is not a list of panel models. */
export class PanelListError extends Error {}

export type PanelList = ReturnType<typeof readPanelList>

interface Refusal {
  /** Counts from 1, the header. */
  line: number
  name: string
  reason: string
}

/** A row that was replaced by another row of the same name. */
interface Duplicate {
  line: number
  name: string
  /** Line of the row that was used: the newer edition, or the later line of the same edition. */
  taken_line: number
}

const required = [
  'Name',
  'Manufacturer',
  'Technology',
  ...modelNumbers.flatMap(([, column, , , optional]) => (optional ? [] : [column])),
]

const technologyNames: Record<string, Technology> = {
  'mono-c-si': 'mono_c_si',
  'multi-c-si': 'multi_c_si',
  'efg mc-si': 'multi_c_si',
  cdte: 'cdte',
  cigs: 'cigs',
  'hit-si': 'hjt',
  'thin film': 'thin_film',
  '1-a-si': 'thin_film',
  '2-a-si': 'thin_film',
  '3-a-si': 'thin_film',
  'a-si / nc': 'thin_film',
}

const truths: Record<string, boolean | null> = {
  '': null,
  '0': false,
  '1': true,
  n: false,
  y: true,
  no: false,
  yes: true,
  false: false,
  true: true,
}

/** Trimmed cell of a column in the current row; undefined without such a column. */
type Row = (column: string) => string | undefined

/** An invalid row; the message is the reason. */
class BrokenRow extends Error {}

/** Rows usually have about 250 characters. */
const line_characters_max = 20_000

/**
 * The models of the valid rows, each name once.
 *
 * @throws PanelListError when a required column is missing or repeated
 */
export function readPanelList(bytes: Uint8Array) {
  const lines = decode(bytes).split(/\r\n|\n|\r/)
  const columns = readHeader((lines[0] ?? '').slice(0, line_characters_max))
  const refused: Refusal[] = []
  const duplicates: Duplicate[] = []
  const taken = new Map<string, { line: number; model: ListedModel }>()
  for (const [index, text] of lines.entries()) {
    const line = index + 1
    if (index === 0) continue
    if (text.length > line_characters_max) {
      const reason = `is longer than ${line_characters_max} characters`
      refused.push({ line, name: shortened(text), reason })
      continue
    }
    const cells = splitRow(text).map((cell) => cell.trim())
    if (cells.every((cell) => cell === '')) continue
    const name = cells[columns.get('name')!] ?? ''
    if (index <= 2 && (name === 'Units' || /^\[\d*\]$/.test(name))) continue
    try {
      const model = readRow(cells, columns)
      const key = nameKey(name)
      const before = taken.get(key)
      const loses = before && isNewer(before.model, model)
      if (before) {
        const [lost, won] = loses ? [line, before.line] : [before.line, line]
        duplicates.push({ line: lost, name, taken_line: won })
      }
      if (!loses) taken.set(key, { line, model })
    } catch (error) {
      if (!(error instanceof BrokenRow)) throw error
      refused.push({ line, name: shortened(name), reason: error.message })
    }
  }
  return { models: [...taken.values()].map(({ model }) => model), refused, duplicates }
}

/** Whether both editions are known and that of `a` is newer. */
export function isNewer(a: Pick<ListedModel, 'source_date'>, b: Pick<ListedModel, 'source_date'>) {
  return a.source_date !== null && b.source_date !== null && a.source_date > b.source_date
}

/** UTF-16 with a byte order mark, else UTF-8, else Windows-1252, which accepts every byte. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** Index of each column by its lower-case name. */
function readHeader(text: string): Map<string, number> {
  const columns = new Map<string, number>()
  for (const [at, cell] of splitRow(text).entries()) {
    const name = cell.trim().toLowerCase()
    if (name !== '' && columns.has(name)) {
      throw new PanelListError(`duplicate column ${shortened(cell.trim())}`)
    }
    columns.set(name, at)
  }
  const missing = required.filter((name) => !columns.has(name.toLowerCase()))
  if (missing.length > 0) {
    const what = missing.length === 1 ? 'the column' : 'the columns'
    throw new PanelListError(
      `not a list of CEC modules: the header lacks ${what} ${missing.join(', ')}`,
    )
  }
  return columns
}

/** Cells of a line. Quotes around a whole cell are removed; other quotes are literal. */
function splitRow(text: string): string[] {
  if (!text.includes('"')) return text.split(',')
  const cells = text.matchAll(/(?<=^|,)(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)
  return [...cells].map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '')
}

function readRow(cells: readonly string[], columns: ReadonlyMap<string, number>): ListedModel {
  const width = columns.size
  if (cells.length < width || cells.slice(width).some((cell) => cell !== '')) {
    throw new BrokenRow(`has ${cells.length} fields instead of ${width}`)
  }
  const row: Row = (column) => {
    const at = columns.get(column.toLowerCase())
    return at === undefined ? undefined : cells[at]
  }
  const name = readText(row, 'Name')
  const manufacturer = readText(row, 'Manufacturer')
  const numbers = Object.fromEntries(
    modelNumbers.map(([field, column, , , optional]) => [field, readNumber(row, column, optional)]),
  ) as Pick<ListedModel, (typeof modelNumbers)[number][0]>
  const model: ListedModel = {
    name,
    manufacturer,
    model: name.startsWith(`${manufacturer} `) ? name.slice(manufacturer.length + 1).trim() : name,
    technology: technologyNames[readText(row, 'Technology').toLowerCase()] ?? 'other',
    bifacial: readTruth(row, 'Bifacial'),
    ...numbers,
    power_stc_w: numbers.power_stc_w ?? numbers.i_mp_a * numbers.v_mp_v,
    ...readEdition(row),
  }
  const fault = faultOf(model)
  if (fault !== null) throw new BrokenRow(fault)
  return model
}

const name_characters_max = 200

function readText(row: Row, column: string): string {
  const text = row(column) ?? ''
  if (nameKey(text) === '') throw new BrokenRow(`${column} is empty`)
  if (text.length > name_characters_max || text.search(unprintable) >= 0) {
    throw new BrokenRow(`${column} has control characters or more than ${name_characters_max}`)
  }
  return text
}

/** Control characters, and characters that change the text direction. */
const unprintable = /[\p{Cc}\p{Bidi_Control}]/gu
const shown_characters_max = 60

/** Text of an invalid file, shortened and without control characters. */
function shortened(text: string): string {
  const short = text.slice(0, shown_characters_max)
  return `${short.replace(unprintable, '\ufffd')}${short.length < text.length ? '…' : ''}`
}

function readNumber(row: Row, column: string, optional?: 'optional'): number | null {
  const text = row(column) ?? ''
  if (text === '' && optional) return null
  if (text === '') throw new BrokenRow(`${column} is empty`)
  const value = Number(text)
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(value)) {
    throw new BrokenRow(`${column} is not a finite number: "${shortened(text)}"`)
  }
  return value
}

function readTruth(row: Row, column: string): boolean | null {
  const text = row(column) ?? ''
  const truth = truths[text.toLowerCase()]
  if (truth === undefined) throw new BrokenRow(`${column} is neither 0 nor 1: "${shortened(text)}"`)
  return truth
}

/** `Version` is such as `SAM 2020.11.29 r1`, `Date` `11/20/2020`; merged lists have `library`. */
function readEdition(row: Row): Pick<ListedModel, 'source_version' | 'source_date'> {
  const texts = [row('Version'), row('library'), row('Date')].filter((text) => !!text)
  const dates = texts.map((text) => dateIn(text!)).filter((date) => date !== null)
  return { source_version: texts[0] ?? null, source_date: dates.sort().at(-1) ?? null }
}

function dateIn(text: string): string | null {
  const iso = /(\d{4})[.-](\d{1,2})[.-](\d{1,2})/.exec(text)
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  const [year, month, day] = iso ? iso.slice(1) : [american?.[3], american?.[1], american?.[2]]
  if (!year || !month || !day) return null
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return isDate(date) ? date : null
}
