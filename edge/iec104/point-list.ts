/**
 * The point list of a control centre as CSV, as grid operators publish it: one line for each
 * information object. Columns in any order, separated by commas or semicolons. A field with a
 * separator in it stands in quotation marks.
 */
import type { Site } from '@heliograph/domain/site'
import { type AsduType, asduTypes, bareOf } from './asdu-types.ts'
import { isMeaning, type MeaningName, meanings, type Owner, type OwnerKind } from './meanings.ts'

export interface Point {
  /** Counts from 1, the header. */
  line: number
  /** Address of the information object. */
  address: number
  /** Of its events, or of its command. */
  type: AsduType
  /** The type without a time tag, of answers to an interrogation. */
  bare_type: AsduType
  meaning: MeaningName
  of: Owner
  /** One unit on the wire is so many of the meaning. */
  scale: number
  /** In the unit of the meaning; a change by more is an event. */
  dead_band: number
  /** In the unit of the meaning; null: none. */
  minimum: number | null
  maximum: number | null
  /** Of an interrogation, 1 to 16, or of counters, 1 to 4; null: none. */
  group: number | null
  /** A command that has to be selected before it is executed. */
  has_select: boolean
  name: string
}

export interface PointFault {
  line: number
  column: string
  message: string
}

const needed = ['address', 'type', 'meaning'] as const
const optional = [
  'of',
  'scale',
  'dead_band',
  'minimum',
  'maximum',
  'group',
  'select',
  'name',
] as const
const columns: readonly string[] = [...needed, ...optional]
type Column = (typeof needed)[number] | (typeof optional)[number]

export const isCommand = ({ type }: Point): boolean => type.name.startsWith('C_')
export const isCounter = ({ type }: Point): boolean => type.name.startsWith('M_IT')
export const isState = ({ type }: Point): boolean => /^M_(SP|DP)/.test(type.name)

/** Reads the whole list and reports every fault with its line and column. */
export function parsePointList(text: string): { points: Point[]; faults: PointFault[] } {
  const [header = '', ...lines] = text.replace(/^\ufeff/, '').split(/\r\n|\n/)
  const separator = header.includes(';') ? ';' : ','
  const names = cellsOf(header, separator)
  const faults = headerFaults(names)
  const points: Point[] = []
  if (faults.length > 0) return { points, faults }
  for (const [index, text_of_line] of lines.entries()) {
    const line = index + 2
    if (text_of_line.trim() === '' || text_of_line.startsWith('#')) continue
    const cells = cellsOf(text_of_line, separator)
    if (cells.length !== names.length) {
      const message = `${cells.length} columns instead of ${names.length}`
      faults.push({ line, column: names[0]!, message })
      continue
    }
    const named = new Map(names.map((name, column) => [name as Column, cells[column]!]))
    const reader = new LineReader(line, (column) => named.get(column) ?? '', faults)
    const point = reader.point()
    if (point) points.push(point)
  }
  const first = new Map<number, Point>()
  for (const point of points) {
    const { line, address } = point
    const earlier = first.get(address)
    if (earlier) {
      const message = `${address} is already that of line ${earlier.line}`
      faults.push({ line, column: 'address', message })
    } else first.set(address, point)
  }
  if (points.length === 0 && faults.length === 0) {
    faults.push({ line: 1, column: 'address', message: 'no point follows' })
  }
  return { points, faults: faults.sort((a, b) => a.line - b.line) }
}

/** What the site does not have, or what an order could not bind there. */
export function checkOwners(points: readonly Point[], site: Site): PointFault[] {
  const known: Record<OwnerKind, (of: Owner) => boolean> = {
    site: () => true,
    plant: ({ id }) => site.loggers.some(({ logger_id }) => logger_id === id),
    meter: ({ id }) => (site.meters ?? []).some(({ meter_id }) => meter_id === id),
    station: ({ id }) =>
      site.loggers.some(({ stations }) => stations?.some(({ station_id }) => station_id === id)),
    battery: ({ id }) => (site.batteries ?? []).some(({ bess_id }) => bess_id === id),
    node: ({ node_id, channel }) =>
      (site.nodes ?? []).some(
        (node) => node.node_id === node_id && node.channels.some((one) => one.channel === channel),
      ),
  }
  const beside = (site.batteries ?? []).filter(({ logger_id }) => logger_id === undefined)
  return points.flatMap((point) => {
    const { line, of } = point
    const fault = (message: string) => [{ line, column: 'of', message }]
    if (!known[of.kind](of)) return fault(`the site has no ${ownerText(of)}`)
    if (!isCommand(point) || of.kind !== 'site' || beside.length === 0) return []
    const ids = beside.map(({ bess_id }) => bess_id).join(', ')
    return fault(`battery ${ids} belongs to no plant, and no setpoint of the site would bind it`)
  })
}

const ownerText = ({ kind, id, node_id, channel }: Owner): string =>
  kind === 'node' ? `node ${node_id} with a channel ${channel}` : `${kind} ${id}`

function headerFaults(names: readonly string[]): PointFault[] {
  const fault = (column: string, message: string) => ({ line: 1, column, message })
  return [
    ...needed.filter((name) => !names.includes(name)).map((name) => fault(name, 'is missing')),
    ...names
      .filter((name) => !columns.includes(name))
      .map((name) => fault(name, `is no column: those are ${columns.join(', ')}`)),
    ...names
      .filter((name, nth) => names.indexOf(name) !== nth)
      .map((name) => fault(name, 'stands there twice')),
  ]
}

/** Fields of a line; a quoted one may hold the separator, and a doubled quotation mark is one. */
function cellsOf(line: string, separator: ',' | ';'): string[] {
  const pattern =
    separator === ';' ? /("(?:[^"]|"")*"|[^;]*)(;|$)/y : /("(?:[^"]|"")*"|[^,]*)(,|$)/y
  const cells: string[] = []
  for (;;) {
    const [, cell = '', end] = pattern.exec(line) ?? []
    const is_quoted = cell.startsWith('"') && cell.length > 1
    cells.push((is_quoted ? cell.slice(1, -1).replaceAll('""', '"') : cell).trim())
    if (!end) return cells
  }
}

class LineReader {
  readonly #line: number
  readonly #cell: (column: Column) => string
  readonly #faults: PointFault[]
  #is_wrong = false

  constructor(line: number, cell: (column: Column) => string, faults: PointFault[]) {
    this.#line = line
    this.#cell = cell
    this.#faults = faults
  }

  /** null: something is wrong with it. */
  point(): Point | null {
    const address = this.#number('address', { least: 1, most: 2 ** 24 - 1, is_whole: true }) ?? 0
    const type = this.#type()
    const meaning = this.#meaning()
    const of = this.#owner(meaning)
    const scale = this.#number('scale') ?? 1
    const dead_band = this.#number('dead_band', { least: 0 }) ?? 0
    const minimum = this.#number('minimum')
    const maximum = this.#number('maximum')
    const has_select = this.#select()
    const name = this.#cell('name')
    if (this.#cell('address') === '') this.#fault('address', 'is missing')
    if (scale === 0 && meaning !== 'setpoint_step_pct') this.#fault('scale', 'is 0')
    if (minimum !== null && maximum !== null && minimum >= maximum) {
      this.#fault('maximum', `${maximum} is not above the minimum, ${minimum}`)
    }
    if (!type || !meaning || !of) return null
    const bare_type = bareOf(type)
    const is_counter = type.name.startsWith('M_IT')
    const group = this.#number('group', { least: 1, most: is_counter ? 4 : 16, is_whole: true })
    const { types } = meanings[meaning]
    if (!types.includes(bare_type.name)) {
      this.#fault('type', `${type.name} cannot carry ${meaning}: that is ${types.join(', ')}`)
    }
    if (has_select && !type.name.startsWith('C_')) this.#fault('select', 'is for commands alone')
    if (meaning === 'setpoint_step_pct' && (scale < 0 || scale > 100)) {
      this.#fault('scale', `${scale} is no limit from 0 to 100 %`)
    }
    if (this.#is_wrong) return null
    return {
      line: this.#line,
      address,
      type,
      bare_type,
      meaning,
      of,
      scale,
      dead_band,
      minimum,
      maximum,
      group,
      has_select,
      name,
    }
  }

  #fault(column: Column, message: string): null {
    this.#is_wrong = true
    this.#faults.push({ line: this.#line, column, message })
    return null
  }

  #number(
    column: Column,
    { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, is_whole = false } = {},
  ): number | null {
    const cell = this.#cell(column)
    if (cell === '') return null
    // Number() also reads 0x10 and the empty text.
    const value = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : Number.NaN
    if (!Number.isFinite(value)) return this.#fault(column, `'${cell}' is no number`)
    if (is_whole && !Number.isInteger(value)) {
      return this.#fault(column, `${cell} is no whole number`)
    }
    if (value < least) return this.#fault(column, `${cell} is below ${least}`)
    if (value > most) return this.#fault(column, `${cell} is above ${most}`)
    return value
  }

  #type(): AsduType | null {
    const cell = this.#cell('type')
    const of_points = asduTypes.filter(({ name }) => /^(M_(?!EI)|C_(SC|DC|RC|SE))/.test(name))
    const type = of_points.find(({ name }) => name === cell)
    if (type) return type
    const names = of_points.map(({ name }) => name).join(', ')
    return this.#fault('type', `'${cell}' is no type of a point: those are ${names}`)
  }

  #meaning(): MeaningName | null {
    const cell = this.#cell('meaning')
    if (isMeaning(cell)) return cell
    const names = Object.keys(meanings).join(', ')
    return this.#fault('meaning', `'${cell}' is none of ${names}`)
  }

  #owner(meaning: MeaningName | null): Owner | null {
    const cell = this.#cell('of') || 'site'
    const numbered = /^(plant|meter|station|battery) ([1-9]\d{0,9})$/.exec(cell)
    const node = /^node ([a-z0-9][a-z0-9_-]*) ([a-z0-9][a-z0-9_-]*)$/.exec(cell)
    if (cell !== 'site' && !numbered && !node) {
      const forms = 'site, plant 1, meter 1, station 1, battery 1, node NODE_ID CHANNEL'
      return this.#fault('of', `'${cell}' is of none of the forms ${forms}`)
    }
    const kind = (numbered?.[1] ?? (node ? 'node' : 'site')) as OwnerKind
    if (meaning !== null && !(kind in meanings[meaning].owners)) {
      const kinds = Object.keys(meanings[meaning].owners).join(', ')
      return this.#fault('of', `'${cell}' has no ${meaning}: that is of ${kinds}`)
    }
    const [, node_id = '', channel = ''] = node ?? []
    return { kind, id: Number(numbered?.[2] ?? 0), node_id, channel }
  }

  #select(): boolean {
    const cell = this.#cell('select')
    if (cell === '' || cell === 'no') return false
    if (cell === 'yes') return true
    this.#fault('select', `'${cell}' is neither yes nor no`)
    return false
  }
}
