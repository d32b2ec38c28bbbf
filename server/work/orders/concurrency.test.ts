/** Several clients at once: numbers, pages, and who changes what. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { noon } from '../../fixtures/served-site.ts'
import { type OrderSite, orderSite } from './fixtures/order-site.ts'

let site: OrderSite

before(async () => {
  site = await orderSite()
})
after(() => site.close())

const times = <Of>(count: number, make: (at: number) => Of) =>
  Array.from({ length: count }, (_, at) => make(at))

test('of changes that saw the same work order one is made', async () => {
  const { wo_id, etag } = await site.create()
  const answers = await Promise.all(
    times(12, (at) =>
      site.ask('PUT', `/work-orders/${wo_id}`, {
        body: { title: `Title ${at}` },
        if_match: etag,
        key: at % 2 ? 'crew' : 'office',
      }),
    ),
  )
  const statuses = answers.map(({ status }) => status).toSorted()
  assert.deepEqual(statuses, [200, ...times(11, () => 412)])
  const { body } = await site.ask('GET', `/work-orders/${wo_id}`)
  assert.equal(body.version, 2)
  assert.equal(body.title, answers.find(({ status }) => status === 200)!.body.title)
})

test('items that are filled in at once are all kept, and the work is completed after them', async () => {
  const { wo_id, checklist } = await site.create({
    checklist: times(8, (at) => ({ title: `${at}` })),
  })
  await site.ask('PUT', `/work-orders/${wo_id}`, { body: { status: 'in_progress' } })
  const complete = () => site.ask('PUT', `/work-orders/${wo_id}`, { body: { status: 'completed' } })
  const filled = checklist.map(({ item_id }) =>
    site.ask('PUT', `/work-orders/${wo_id}/items/${item_id}`, { body: { status: 'passed' } }),
  )
  const early = await complete()
  const answers = await Promise.all(filled)
  const { body } = await site.ask('GET', `/work-orders/${wo_id}`)
  if (early.status === 200) assert.ok(answers.every(({ status }) => status === 200))
  else assert.deepEqual([early.status, body.checklist_done], [409, 8])
  assert.equal((await complete()).status, 200)
})

test('numbers are given once, in the order of the ids, and begin anew with the year', async () => {
  const made = await Promise.all(times(20, () => site.create()))
  const byId = made.toSorted((a, b) => a.wo_id - b.wo_id).map(({ number }) => number)
  assert.equal(new Set(byId).size, 20)
  assert.deepEqual(byId, byId.toSorted())
  site.clock.set('2027-01-01T00:00:00Z')
  assert.equal((await site.create()).number, 'WO-2027-00001')
  site.clock.set(noon)
  const last = Number(byId.at(-1)!.slice(-5))
  assert.equal((await site.create()).number, `WO-2026-${String(last + 1).padStart(5, '0')}`)
})

test('who reads page by page meets each once, however many are created meanwhile', async () => {
  await site.db.query('delete from work_order_items; delete from work_orders')
  const there = await Promise.all(times(30, () => site.create()))
  const creating = Promise.all(times(30, () => site.create()))
  const met: number[] = []
  for (;;) {
    const { body } = await site.ask('GET', `/work-orders?limit=7&offset=${met.length}`)
    met.push(...body.data.map(({ wo_id }: { wo_id: number }) => wo_id))
    assert.ok(met.length <= body.meta.count, 'more were met than there are')
    if (met.length === body.meta.count) break
  }
  await creating
  assert.equal(new Set(met).size, met.length)
  for (const { wo_id } of there) assert.ok(met.includes(wo_id))
})

test('a page and its count are of one time, while states change', async () => {
  await site.db.query('delete from work_order_items; delete from work_orders')
  const made = await Promise.all(times(10, () => site.create()))
  let is_over = false
  const changing = Promise.all(
    made.map(async ({ wo_id }) => {
      for (const status of ['in_progress', 'on_hold', 'open', 'in_progress', 'completed']) {
        await site.ask('PUT', `/work-orders/${wo_id}`, { body: { status } })
      }
    }),
  ).finally(() => {
    is_over = true
  })
  while (!is_over) {
    const { body } = await site.ask('GET', '/work-orders?status=in_progress&limit=200')
    assert.equal(body.data.length, body.meta.count)
    for (const { status } of body.data) assert.equal(status, 'in_progress')
  }
  await changing
})

test('filters narrow together, a page past the end is empty and counts all the same', async () => {
  await site.db.query('delete from work_order_items; delete from work_orders')
  for (const [at, logger_id] of [1, 1, 2, null].entries()) {
    site.clock.set(`2026-06-21T1${at}:00:00Z`)
    await site.create({ logger_id, ...(at % 2 === 0 && { assigned_to: 'Ada', location_id: 2 }) })
  }
  site.clock.set(noon)
  const count = async (query: string) => {
    const { body } = await site.ask('GET', `/work-orders?${query}`)
    assert.equal(body.data.length, body.meta.count)
    return body.meta.count
  }
  assert.equal(await count(''), 4)
  assert.equal(await count('logger_id=1'), 2)
  assert.equal(await count('logger_id=1&status=assigned'), 1)
  assert.equal(await count('assigned_to=Ada'), 2)
  assert.equal(await count('assigned_to=ada'), 0)
  assert.equal(await count('location_id=2&logger_id=2'), 1)
  assert.equal(await count('start=2026-06-21T11:00:00Z'), 3)
  assert.equal(await count('start=2026-06-21T11:00:00Z&end=2026-06-21T13:00:00Z'), 2)
  const past = await site.ask('GET', '/work-orders?offset=9&limit=999')
  assert.deepEqual(past.body, { data: [], meta: { count: 4, limit: 200, offset: 9 } })
})
