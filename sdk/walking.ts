/** Iterates over lists and series that span several answers. */
import { unexpected } from './errors.ts'

export interface Page {
  offset: number
  limit?: number
}

export interface PageAnswer<Item> {
  data: Item[]
  meta: { count: number }
}

/**
 * Iterates over a list with `offset` pages. Items may be repeated or skipped when the list changes
 * meanwhile.
 *
 *     const read = (page: Page) => heliograph.workOrdersList({ site_id, ...page })
 *     for await (const order of everyItem(read)) report(order)
 */
export async function* everyItem<Item>(
  read: (page: Page) => Promise<PageAnswer<Item>>,
  { limit }: { limit?: number } = {},
): AsyncGenerator<Item, void, undefined> {
  for (let offset = 0; ; ) {
    const { data, meta } = await read(limit === undefined ? { offset } : { offset, limit })
    yield* data
    offset += data.length
    if (data.length === 0 || offset >= meta.count) return
  }
}

export interface CursorPage {
  cursor?: string
}

export interface CursorAnswer<Item> {
  data: Item[]
  meta: { next_cursor: string | null }
}

/**
 * Iterates over a list with `cursor` pages, in the order of the operation. No existing item is
 * repeated or skipped when the list grows meanwhile.
 *
 *     const read = (page: CursorPage) => heliograph.alertsList({ site_id, ...page })
 *     for await (const alert of everyByCursor(read)) report(alert)
 */
export async function* everyByCursor<Item>(
  read: (page: CursorPage) => Promise<CursorAnswer<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let page: CursorPage = {}; ; ) {
    const { data, meta } = await read(page)
    yield* data
    if (meta.next_cursor === null) return
    if (meta.next_cursor === page.cursor) throw unexpected('next_cursor leads to the same page')
    page = { cursor: meta.next_cursor }
  }
}

export interface Window {
  start: Date | string
  end?: Date | string
}

export interface SeriesAnswer<Row> {
  data: Row[]
  meta: { next_start: string | null }
}

/**
 * Iterates over a series in ascending order, from `start` up to `end`, or up to the newest row.
 *
 *     const read = (window: Window) =>
 *       heliograph.invertersHistoryList({ site_id, inverter_id: 1, ...window })
 *     for await (const row of everyWindow(read, { start, end })) add(row)
 */
export async function* everyWindow<Row>(
  read: (window: Window) => Promise<SeriesAnswer<Row>>,
  window: Window,
): AsyncGenerator<Row, void, undefined> {
  for (let { start } = window; ; ) {
    const { data, meta } = await read({ ...window, start })
    yield* data
    if (meta.next_start === null) return
    if (!(Date.parse(meta.next_start) > new Date(start).getTime())) {
      throw unexpected(`next_start ${meta.next_start} is not later than start`)
    }
    start = meta.next_start
  }
}
