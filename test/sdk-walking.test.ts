/** Pages and windows of the SDK over lists that a test makes up. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type CursorPage,
  everyByCursor,
  everyItem,
  everyWindow,
  isCode,
  type Page,
  type Window,
} from '@heliograph/sdk'

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const gathered: Item[] = []
  for await (const item of items) gathered.push(item)
  return gathered
}

test('every item comes until there are as many as there are', async () => {
  const asked: Page[] = []
  const read = async (page: Page) => {
    asked.push(page)
    const data = [1, 2, 3, 4, 5].slice(page.offset, page.offset + (page.limit ?? 2))
    return { data, meta: { count: 5 } }
  }
  assert.deepEqual(await all(everyItem(read)), [1, 2, 3, 4, 5])
  assert.deepEqual(asked, [{ offset: 0 }, { offset: 2 }, { offset: 4 }])
  assert.deepEqual(await all(everyItem(read, { limit: 5 })), [1, 2, 3, 4, 5])
  const shrunk = async () => ({ data: [], meta: { count: 5 } })
  assert.deepEqual(await all(everyItem(shrunk)), [], 'it ends all the same')
})

test('every item comes until no page follows, and a page that leads to itself is an error', async () => {
  const asked: CursorPage[] = []
  const read = async (page: CursorPage) => {
    asked.push(page)
    const from = Number(page.cursor ?? 0)
    const next_cursor = from + 2 < 5 ? String(from + 2) : null
    return { data: [1, 2, 3, 4, 5].slice(from, from + 2), meta: { next_cursor } }
  }
  assert.deepEqual(await all(everyByCursor(read)), [1, 2, 3, 4, 5])
  assert.deepEqual(asked, [{}, { cursor: '2' }, { cursor: '4' }])
  const stuck = async () => ({ data: [1], meta: { next_cursor: '2' } })
  await assert.rejects(all(everyByCursor(stuck)), (error) => isCode(error, 'unexpected_answer'))
})

test('every row comes once, and a series that does not go on is an error', async () => {
  const asked: Window[] = []
  const hours = ['10', '11', '12'].map((hour) => `2026-06-21T${hour}:00:00.000Z`)
  const read = async (window: Window) => {
    asked.push(window)
    const at = hours.indexOf(new Date(window.start).toISOString())
    return { data: [hours[at]!], meta: { next_start: hours[at + 1] ?? null } }
  }
  const end = '2026-06-21T13:00:00Z'
  const rows = await all(everyWindow(read, { start: new Date(hours[0]!), end }))
  assert.deepEqual(rows, hours)
  assert.deepEqual(
    asked.map((window) => window.end),
    [end, end, end],
  )
  const stuck = async () => ({ data: [1], meta: { next_start: hours[0]! } })
  await assert.rejects(all(everyWindow(stuck, { start: hours[0]! })), (error) =>
    isCode(error, 'unexpected_answer'),
  )
})
