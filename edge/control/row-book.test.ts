import assert from 'node:assert/strict'
import test from 'node:test'
import { rowOf, start_at } from '../fixtures/controlled-site.ts'
import { memoryControlStore } from './fixtures/memory-stores.ts'
import { RowBook } from './row-book.ts'

test('what is heard while the book is saved is saved once more', async () => {
  const store = memoryControlStore()
  const book = new RowBook(store, 0)
  const row = rowOf(60)
  const released = { ...row, released_at: start_at + 1000 }
  assert.deepEqual(book.hear([row], start_at, 0), [row])
  const saving = book.save()
  assert.deepEqual(book.hear([released], start_at + 1000, 1000), [released])
  await saving
  assert.equal(store.rows[0]?.row.released_at, null)
  assert.equal(book.is_saved, false)
  await book.save()
  assert.equal(book.is_saved, true)
  assert.equal(store.rows[0]?.row.released_at, start_at + 1000)
})

test('a row is durable only when it stands in the log: after a restart it is no news', async () => {
  const store = memoryControlStore()
  const noted = Promise.withResolvers<void>()
  const book = new RowBook(store, 0, () => noted.promise)
  book.hear([rowOf(60)], start_at, 0)
  const saving = book.save()
  await new Promise(setImmediate)
  assert.deepEqual(store.rows, [])
  noted.resolve()
  await saving
  assert.equal(store.rows.length, 1)
})

test('the same again is no news, and what is not mentioned stays', () => {
  const book = new RowBook(memoryControlStore(), 0)
  const other = rowOf(30, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  assert.equal(book.hear([rowOf(60), other], start_at, 0).length, 2)
  assert.equal(book.hear([rowOf(60)], start_at, 0).length, 0)
  assert.equal(book.hear([], start_at, 0).length, 0)
  assert.equal(
    book.inForce({ now: start_at, earliest: start_at, latest: start_at }).get(1)?.length,
    2,
  )
  assert.equal(book.untilNext(start_at), 3_600_000)
})

test('a row holds its own plant from its start until before its end or its release', () => {
  const book = new RowBook(memoryControlStore(), 0)
  const { end_at, ...row } = rowOf(60, { end_at: start_at + 1000 })
  book.hear([{ ...row, end_at }], start_at, 0)
  const heldAt = (now: number) => [...book.inForce({ now, earliest: now, latest: now }).keys()]
  assert.deepEqual([start_at - 1, start_at, end_at - 1, end_at].map(heldAt), [[], [1], [1], []])
  book.hear([{ ...row, end_at, released_at: start_at + 500 }], start_at + 500, 500)
  assert.deepEqual(heldAt(start_at + 600), [])
})
