/**
 * The history of one device as JSON text, written from the columns of its readings. An object for
 * each of ten thousand readings would cost more than the rest of the request.
 */
import type { Channel } from '@heliograph/domain/node'
import { type ColumnType, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { TObject } from 'typebox'
import { type AsciiText, asciiText } from '../http/ascii-text.ts'
import type { Context } from '../http/context.ts'
import { Series } from '../http/envelope.ts'
import type { ExportItem, ExportItems } from '../http/export-items.ts'
import type { ExportColumn, ExportRows } from '../http/export-rows.ts'
import * as field from '../http/fields.ts'
import { JsonText } from '../http/json-text.ts'
import { Named, telemetry_rows, telemetryLimit } from '../http/params.ts'
import { default_hours, type SeriesWindow, seriesMeta } from '../http/time-windows.ts'
import { rowsWindow } from '../http/windows.ts'
import type { Queries } from '../storage/database.ts'
import { readingsIn, type StoredReading } from './blocks/store.ts'
import { addItems } from './item-text.ts'
import { byColumn, partOf, type ReadingColumns } from './reading-columns.ts'
import { isCompact } from './rows.ts'
import {
  type Step,
  type StepItem,
  type StepOrder,
  type StepQuery,
  type StepReading,
  type StepSource,
  stepFields,
  stepOrder,
  stepPage,
  stepParameters,
  stepsOf,
} from './steps.ts'
import {
  countPacked,
  countSteps,
  instant,
  rowsSince,
  walkColumns,
  walkReadings,
} from './stored-readings.ts'

/** A time series of readings, or of steps of them. */
export const ReadingSeries = <Item extends TObject>(item: Item) =>
  Series(Named(idOf(item), { ...(item.properties as Item['properties']), ...stepFields }), {
    resolution_s,
  })
const idOf = (schema: TObject) => (schema as unknown as { $id: string }).$id

export const resolution_s = field.IntOrNull(
  'The longest time, in seconds, that one stored reading stands for in the returned part of the ' +
    'window, or the step of `every` if that is longer; null when every reading was kept. See Steps.',
  { minimum: 1 },
)

interface HistoryQuery extends StepQuery {
  limit?: number
}

interface HistoryRequest<Params, Query> {
  site: { site_id: string; timezone: string }
  params: Params
  query: Query
  window: SeriesWindow
}

/** What the steps of a device are made of. */
interface Found extends Pick<StepSource, 'key'> {
  device_id: number
  /** The values of an item without `measured_at`; by default those of `readingKinds`. */
  names?: readonly string[]
  /** Of a node. */
  channels?: readonly Channel[]
  /** An item that has more than the columns of `readingKinds`. */
  itemOf?(reading: StoredReading): ExportItem
  /** The columns of `readingKinds` whose values `itemOf` changes. */
  changed?: readonly string[]
  /** Items of a reading that holds several, or whose steps have another form. */
  split?(reading: StoredReading): StepReading[]
}

interface Raw<Query> {
  page(db: Queries, request: DeviceHistory & Query, found: Found): Promise<JsonText>
  file(
    db: Queries,
    request: DeviceHistory & Query,
    found: Found,
  ): ExportItems | Promise<ExportRows | ExportItems>
}

/** The parts that histories share. `find` throws 404 for an unknown device. */
export function historyParts<Params, Query extends HistoryQuery = HistoryQuery>(
  kind: ReadingKind,
  find: (db: Queries, request: { site_id: string } & Params & Query) => Promise<Found>,
  raw: Raw<Query>,
) {
  const asked = async (asking: HistoryRequest<Params, Query>, db: Queries) => {
    const { site, params, query, window } = asking
    const { site_id, timezone } = site
    const found = await find(db, { site_id, ...params, ...query })
    const { device_id } = found
    const source = stepSource(kind, { ...found, site_id })
    const order = stepOrder(query, window, { names: source(db).names, timezone })
    return { found, request: { ...query, site_id, device_id, window }, source, order }
  }
  return {
    window: rowsWindow(default_hours.telemetry),
    query: { limit: telemetryLimit, ...stepParameters },
    heavy: true,
    async handle(asking: HistoryRequest<Params, Query>, { db }: Context) {
      const { found, request, source, order } = await asked(asking, db)
      if (!order) return raw.page(db, request, found)
      const { site_id, device_id, limit } = request
      return readSteps(db, { site_id, kind, device_id, limit }, source, order)
    },
    async exports(asking: HistoryRequest<Params, Query>, { db }: Context) {
      const { found, request, source, order } = await asked(asking, db)
      return order ? exportSteps(source, order, request.limit) : raw.file(db, request, found)
    },
  } as const
}

/** `historyParts` of a kind with one reading for each instant. */
export const deviceHistory = <Params>(
  kind: DeviceKind,
  find: (db: Queries, request: { site_id: string } & Params) => Promise<Found>,
) =>
  historyParts<Params>(kind, find, {
    page: (db, request, { itemOf }) => readHistory(db, kind, request, itemOf),
    file: (db, request, { itemOf }) => exportHistory(db, kind, request, itemOf),
  })

function stepSource(kind: ReadingKind, of: Found & { site_id: string }) {
  const { site_id, device_id, names = valuesOf(kind), channels = [], key, split, itemOf } = of
  const stored = new Set(Object.keys(readingKinds[kind].columns))
  for (const name of of.changed ?? []) stored.delete(name)
  const splitItem = (reading: StoredReading) => [
    { ...itemOf!(reading), measured_at: reading.measured_at },
  ]
  return (db: Queries): StepSource => ({
    names,
    ...(key !== undefined && { key }),
    isState: (name, nth) => (kind === 'node' ? isSwitch(channels[nth]) : isStateOf(kind, name)),
    ...(key === undefined && {
      count: (span: { from_ms: number; to_ms: number }, step: Step) =>
        countSteps(db, kind, { site_id, device_id, ...span }, step),
    }),
    async *read(span, asked) {
      const walk = { site_id, device_id, ...span }
      const values = [...asked].filter((name) => name !== 'quality' && name !== key)
      const is_stored = values.every((name) => stored.has(name))
      const itemsOf = split ?? (is_stored ? null : splitItem)
      const read = itemsOf ? valuesOf(kind) : ['quality', ...values]
      if (!itemsOf) return yield* walkColumns(db, kind, walk, read)
      for await (const readings of walkReadings(db, kind, walk, read)) {
        yield byColumn(readings.flatMap(itemsOf))
      }
    },
    ...(channels.length > 0 && { elements: { values: channels.map(({ channel }) => channel) } }),
  })
}

const isSwitch = (channel?: Channel) => channel?.kind === 'door' || channel?.kind === 'relay'

/** Counters are of type `double` but for cycles; other numbers than `real` are codes and words. */
const isStateOf = (kind: ReadingKind, name: string) => {
  const columns: Readonly<Record<string, ColumnType>> = readingKinds[kind].columns
  return name === 'cycle_count' || !(columns[name] ?? 'real').startsWith('real')
}

/** The readings of a device in steps as the text of a `ReadingSeries`. */
async function readSteps(
  db: Queries,
  of: Omit<Returned, 'window'> & { limit: number | undefined },
  source: (db: Queries) => StepSource,
  order: StepOrder,
): Promise<JsonText> {
  const { limit = telemetry_rows.by_default, ...device } = of
  const { items, ...page } = await stepPage(source(db), order, limit)
  const timeOf = (item?: StepItem) => (item === undefined ? null : String(item['measured_at']))
  return seriesText(
    db,
    { ...device, window: order.window, step_s: order.step.step_s },
    {
      ...page,
      items: items.map((item) => JSON.stringify(item)).join(','),
      returned: items.length,
      first_at: timeOf(items[0]),
      last_at: timeOf(items.at(-1)),
    },
  )
}

/** Items of an export that are computed and sent at once. */
const exported_items = 500

function exportSteps(
  source: (db: Queries) => StepSource,
  order: StepOrder,
  limit: number | undefined,
): ExportItems {
  const ascending = { ...order, window: { ...order.window, newest: false } }
  return {
    more_columns: ['sample_count', 'completeness_pct', ...(order.extremes ? ['min', 'max'] : [])],
    async *items(db) {
      if (limit !== undefined) {
        yield (await stepPage(source(db), order, limit)).items
        return
      }
      let items: StepItem[] = []
      for await (const step of stepsOf(source(db), ascending)) {
        items.push(...step)
        if (items.length < exported_items) continue
        yield items
        items = []
      }
      yield items
    },
  }
}

/** Kinds whose readings have one integer id as their key. */
type DeviceKind = Exclude<ReadingKind, 'string' | 'pcs' | 'cluster' | 'cells'>

export interface DeviceHistory {
  site_id: string
  device_id: number
  window: SeriesWindow
  /** Defaults to `telemetry_rows.by_default` for a page, and to the whole window for an export. */
  limit?: number | null | undefined
}

/** Whether a part of the window is in blocks. */
const isPackedIn = async (db: Queries, kind: ReadingKind, { start }: SeriesWindow) =>
  (start === null ? Number.NEGATIVE_INFINITY : Date.parse(start)) < (await rowsSince(db, kind))

export const spanOf = ({ start, end }: SeriesWindow) => ({
  from_ms: start === null ? Number.NEGATIVE_INFINITY : Date.parse(start),
  to_ms: Date.parse(end),
})

/** The readings of a device in a window as the text of a `Series`, ascending. */
export async function readHistory(
  db: Queries,
  kind: DeviceKind,
  request: DeviceHistory,
  itemOf?: Found['itemOf'],
): Promise<JsonText> {
  const { site_id, device_id, window } = request
  const limit = request.limit ?? telemetry_rows.by_default
  const parts = await pageOf(db, kind, request, limit)
  const returned = parts.reduce((sum, part) => sum + part.count, 0)
  const items = itemOf
    ? parts.flatMap((part) => itemsOf(kind, request, part, itemOf).map(jsonOf)).join(',')
    : (text: AsciiText) => addItems(text, 'json', parts, valuesOf(kind))
  const timeOf = (at_ms: number | undefined) => (at_ms === undefined ? null : new Date(at_ms))
  const span = { site_id, device_id, ...spanOf(window) }
  return seriesText(
    db,
    { site_id, device_id, window, kind },
    {
      count: returned < limit ? returned : countReadings(db, kind, span),
      items,
      returned,
      first_at: timeOf(parts[0]?.times_ms[0]),
      last_at: timeOf(parts.at(-1)?.times_ms.at(-1)),
    },
  )
}

const jsonOf = (item: ExportItem) => JSON.stringify(item)

/** The readings of a page, ascending. */
async function pageOf(
  db: Queries,
  kind: DeviceKind,
  { site_id, device_id, window }: DeviceHistory,
  limit: number,
): Promise<ReadingColumns[]> {
  const { newest } = window
  const walk = { site_id, device_id, ...spanOf(window), newest, most: limit }
  const page: ReadingColumns[] = []
  let missing = limit
  for await (const part of walkColumns(db, kind, walk, valuesOf(kind))) {
    const end = Math.min(missing, part.count)
    if (end > 0) page.push(partOf(part, { first: 0, end, backwards: newest }))
    missing -= end
    if (missing === 0) break
  }
  return newest ? page.reverse() : page
}

function itemsOf(
  kind: DeviceKind,
  { device_id }: DeviceHistory,
  part: ReadingColumns,
  itemOf: Found['itemOf'],
): ExportItem[] {
  const keys = itemOf ? { [readingKinds[kind].keys[0]]: device_id } : {}
  return readingsIn(part, ['measured_at', ...valuesOf(kind)], keys).map(itemOf ?? storedItem)
}

/** The values of a reading without its keys and instant. */
export const valuesOf = (kind: ReadingKind) => [
  'quality',
  ...Object.keys(readingKinds[kind].columns),
]

/** Counts the readings of a device in a span, from rows and blocks. */
export async function countReadings(
  db: Queries,
  kind: ReadingKind,
  span: { site_id: string; device_id: number; from_ms: number; to_ms: number },
): Promise<number> {
  const { table, keys } = readingKinds[kind]
  const since_ms = await rowsSince(db, kind)
  const [rows] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table}
     WHERE site_id = $1 AND ${keys[0]} = $2 AND measured_at >= $3 AND measured_at < $4`,
    [span.site_id, span.device_id, instant(Math.max(span.from_ms, since_ms)), instant(span.to_ms)],
  )
  if (span.from_ms >= since_ms) return rows!.count
  const past = { ...span, to_ms: Math.min(span.to_ms, since_ms) }
  const counting = { columns: [], countOf: () => 1, of_block: 'b.reading_count', value: null }
  return rows!.count + (await countPacked(db, kind, past, counting))
}

interface Returned {
  site_id: string
  kind: ReadingKind
  device_id: number
  window: SeriesWindow
  step_s?: number
}

interface HistoryPage {
  /** Readings of the window. */
  count: number | Promise<number>
  returned: number
  /** JSON text, separated by commas, or what adds it. */
  items: string | ((text: AsciiText) => void)
  first_at: Date | string | null
  last_at: Date | string | null
  /** A part of a single instant: no later or earlier window would return the rest. */
  is_cut?: boolean
}

/** The text of a `ReadingSeries`. */
export async function seriesText(
  db: Queries,
  { device_id, window, ...of }: Returned,
  { items, returned, first_at, last_at, is_cut, ...page }: HistoryPage,
): Promise<JsonText> {
  const timeOf = (at: Date | string | null) =>
    is_cut || at === null ? null : new Date(at).toISOString()
  const [count, resolution_s] = await Promise.all([
    page.count,
    resolutionOf(db, { ...of, device_ids: [device_id] }, first_at, last_at),
  ])
  const meta = seriesMeta(window, {
    // Readings may arrive or be dropped between the two statements.
    count: Math.max(count, returned),
    returned,
    first_time: timeOf(first_at),
    last_time: timeOf(last_at),
  })
  const [head, tail] = ['{"data":[', `],"meta":${JSON.stringify({ ...meta, resolution_s })}}`]
  if (typeof items === 'string') return new JsonText(head + items + tail)
  const text = asciiText()
  text.addText(head)
  items(text)
  text.addText(tail)
  return new JsonText(text.take())
}

/** The coarsest resolution of the readings of devices between two items, else null. */
export async function resolutionOf(
  db: Queries,
  {
    site_id,
    kind,
    device_ids,
    step_s = 0,
  }: Omit<Returned, 'window' | 'device_id'> & { device_ids: readonly number[] },
  first_at: Date | string | null,
  last_at: Date | string | null,
): Promise<number | null> {
  if (first_at === null || last_at === null) return step_s || null
  const [found] = await db.query<{ resolution_s: number | null }>(
    `select max(resolution_s) as resolution_s from (
       select resolution_s from reading_blocks
       where site_id = $1 and kind = $2 and device_id = any ($3)
         and hour_at > $4::timestamptz - interval '1 hour' and hour_at <= $5
       union all
       select step_s from thinned_partitions,
         lateral (select right(name, 8)::timestamp at time zone 'UTC' as week_at) as w
       where left(name, -9) = $6 and week_at > $4::timestamptz - interval '7 days' and week_at <= $5
     ) as thinned`,
    [
      site_id,
      kind,
      device_ids,
      new Date(first_at).toISOString(),
      new Date(new Date(last_at).getTime() + Math.max(0, step_s - 1) * 1000).toISOString(),
      readingKinds[kind].table,
    ],
  )
  return Math.max(step_s, found!.resolution_s ?? 0) || null
}

/** The example of a `ReadingSeries` in the API document. */
export const seriesExample = <Item>(item: Item) => ({
  answer: {
    data: [item],
    meta: { count: 1, truncated: false, next_start: null, previous_end: null, resolution_s: null },
  },
})

/** The same readings as an export. */
export async function exportHistory(
  db: Queries,
  kind: DeviceKind,
  request: DeviceHistory,
  itemOf?: Found['itemOf'],
): Promise<ExportRows | ExportItems> {
  const { site_id, device_id, window, limit = null } = request
  const is_plain = !itemOf && !isCompact(kind) && !(await isPackedIn(db, kind, window))
  if (is_plain) return historyRows(kind, request)
  async function* partsOf(queries: Queries) {
    const walk = { site_id, device_id, ...spanOf(window), newest: false }
    if (limit === null) yield* walkColumns(queries, kind, walk, valuesOf(kind))
    else yield* await pageOf(queries, kind, request, limit)
  }
  return {
    async *items(queries) {
      for await (const part of partsOf(queries)) {
        yield itemsOf(kind, request, part, itemOf)
      }
    },
    ...(!itemOf && {
      async *text({ format, columns: [, ...names] }, queries) {
        for await (const part of partsOf(queries)) {
          const text = asciiText()
          addItems(text, format, [part], names)
          yield text.take()
        }
      },
    }),
  }
}

const storedItem = (reading: StoredReading): ExportItem => ({
  ...reading,
  measured_at: new Date(reading.measured_at).toISOString(),
})

/** The same readings as rows of an export that PostgreSQL writes. */
export function historyRows(kind: DeviceKind, request: DeviceHistory): ExportRows {
  const { site_id, device_id, window, limit = null } = request
  const bounds = [site_id, device_id, window.end, ...(window.start === null ? [] : [window.start])]
  return {
    columns: readingColumns(kind),
    from: sourceOf(kind, window, limit !== null),
    values: limit === null ? bounds : [...bounds, limit],
  }
}

/**
 * The readings of a window, ascending. Parameters: site, device, end, start unless the window is
 * open, and for a page the limit.
 */
function sourceOf(kind: DeviceKind, { start, newest }: SeriesWindow, is_page: boolean) {
  const { table, keys } = readingKinds[kind]
  const device = `site_id = $1 AND ${keys[0]} = $2 AND measured_at < $3`
  const whole = `FROM ${table} WHERE ${device}${start === null ? '' : ' AND measured_at >= $4'}`
  if (!is_page) return `${whole} ORDER BY measured_at`
  const limit = start === null ? '$4' : '$5'
  // The newest rows are read forwards as well, from the row that is `limit` before the end.
  const from = newest
    ? `AND measured_at >= coalesce((
         SELECT measured_at ${whole}
         ORDER BY measured_at DESC OFFSET ${limit}::int - 1 LIMIT 1), '-infinity')`
    : ''
  return `${whole} ${from} ORDER BY measured_at LIMIT ${limit}`
}

/** The columns of a reading. Numbers arrive as JSON, so none is NaN or infinite. */
function readingColumns(kind: ReadingKind): ExportColumn[] {
  const columns = Object.entries<ColumnType>(readingKinds[kind].columns)
  return [
    { name: 'measured_at', sql: 'measured_at', type: 'instant' },
    { name: 'quality', sql: 'quality', type: 'word' },
    ...columns.map(([name, type]): ExportColumn => ({ name, sql: name, type: formOf(type) })),
  ]
}

function formOf(type: ColumnType): ExportColumn['type'] {
  if (type.endsWith('[]')) return 'numbers'
  return type === 'text' ? 'text' : 'number'
}
