/** Whatever is sent, by whom and in whichever order: the API is the model that is written here. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import fc from 'fast-check'
import { type Answer, type Key, type OrderSite, orderSite } from './fixtures/order-site.ts'

let site: OrderSite

before(async () => {
  site = await orderSite()
})
after(() => site.close())

const states = ['open', 'assigned', 'in_progress', 'on_hold', 'completed', 'approved', 'cancelled']
/** By a change of status; by hand, so that the table of the server has something to be held to. */
const next: Record<string, readonly string[]> = {
  open: ['assigned', 'in_progress', 'on_hold', 'cancelled'],
  assigned: ['open', 'in_progress', 'on_hold', 'cancelled'],
  in_progress: ['assigned', 'on_hold', 'completed', 'cancelled'],
  on_hold: ['open', 'assigned', 'in_progress', 'cancelled'],
  completed: ['in_progress'],
  approved: [],
  cancelled: [],
}

interface Item {
  item_id: number
  required: boolean
  status: string
  value: number | null
}

/** A work order as the model has it. `seen` are its validators, the current one last. */
interface Order {
  wo_id: number
  status: string
  assigned_to: string | null
  completed_by: Key | null
  items: Item[]
  seen: string[]
}

type Match = 'none' | 'current' | 'stale'
type Step =
  | { is: 'create'; items: boolean[]; assigned_to: string | null }
  | { is: 'status'; nth: number; status: string; match: Match; key: Key }
  | { is: 'assign'; nth: number; to: string | null; match: Match; key: Key }
  | { is: 'fill'; nth: number; item: number; status: string; value: number; match: Match }
  | { is: 'approve'; nth: number; match: Match; key: Key }
  | { is: 'list'; status: string }

const nth = fc.nat(1)
const key = fc.constantFrom<Key>('crew', 'office')
const person = fc.constantFrom('Ada', 'Bob')
const match = fc.constantFrom<Match>('none', 'none', 'current', 'stale')
/** Mostly the way to the end, where the rules are. */
const status = fc.constantFrom(
  ...states,
  ...Array(4).fill('in_progress'),
  ...Array(6).fill('completed'),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    is: fc.constant('create' as const),
    items: fc.array(fc.boolean(), { maxLength: 3 }),
    assigned_to: fc.option(person),
  }),
  {
    arbitrary: fc.record({ is: fc.constant('status' as const), nth, status, match, key }),
    weight: 4,
  },
  fc.record({ is: fc.constant('assign' as const), nth, to: fc.option(person), match, key }),
  {
    arbitrary: fc.record({
      is: fc.constant('fill' as const),
      nth,
      item: fc.nat(2),
      match,
      value: fc.integer({ min: -1, max: 3 }),
      status: fc.constantFrom('pending', 'passed', 'failed', 'not_applicable'),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ is: fc.constant('approve' as const), nth, match, key }), weight: 2 },
  fc.record({ is: fc.constant('list' as const), status }),
)

test('no sequence of requests leaves the state machine, or is counted wrongly', async () => {
  const steps = fc.array(step, { minLength: 20, maxLength: 40 })
  const property = fc.asyncProperty(
    steps,
    fc.boolean(),
    async (sequence, approver_not_completer) => {
      await forgetAll(approver_not_completer)
      const orders: Order[] = []
      for (const one of sequence) {
        if (one.is === 'create') orders.push(await create(one))
        else if (one.is === 'list') await assertListed(orders, one.status)
        else if (orders.length > 0) {
          await take(one, orders[one.nth % orders.length]!, approver_not_completer)
        }
      }
      for (const order of orders) await assertStored(order)
    },
  )
  await fc.assert(property, { numRuns: 10, endOnFailure: true })
})

async function forgetAll(approver_not_completer: boolean): Promise<void> {
  await site.db.query(`
    delete from work_order_items; delete from work_orders;
    delete from notification_reads; delete from om_notifications;
    delete from maintenance_settings;
    insert into maintenance_settings values ('demo', ${approver_not_completer})`)
}

async function create({ items, assigned_to }: Step & { is: 'create' }): Promise<Order> {
  const checklist = items.map((required, at) => ({
    title: `Item ${at}`,
    type: 'measurement',
    required,
    unit: 'MΩ',
    min_value: 1,
  }))
  const { wo_id, etag, ...made } = await site.create({ assigned_to, checklist })
  assert.equal(made.status, assigned_to === null ? 'open' : 'assigned')
  return {
    wo_id,
    status: made.status,
    assigned_to,
    completed_by: null,
    seen: [etag],
    items: made.checklist.map(({ item_id, required, status, value_number: value }) => ({
      item_id,
      required,
      status,
      value,
    })),
  }
}

type Asked = Exclude<Step, { is: 'create' | 'list' }>

/** Sends it, and holds the answer against what the model makes of it. */
async function take(one: Asked, order: Order, is_another: boolean): Promise<void> {
  const item = one.is === 'fill' ? order.items[one.item] : undefined
  if (one.is === 'fill' && !item) return
  const answer = await send(one, order, item)
  const is_stale = one.match === 'stale' && order.seen.length > 1
  const expected = is_stale ? 412 : verdict(one, order, item, is_another)
  assert.equal(answer.status, expected, `${JSON.stringify(one)} ${JSON.stringify(answer.body)}`)
  if (expected === 409) {
    const { current_state, allowed } = answer.body.error.details
    assert.equal(current_state, order.status)
    if (one.is === 'status') {
      const without = one.status === 'completed' ? ['completed'] : []
      assert.deepEqual(
        allowed,
        next[order.status]!.filter((state) => !without.includes(state)),
      )
    }
  }
  if (expected !== 200) return
  apply(one, order, item)
  if (order.seen.at(-1) !== answer.etag) order.seen.push(answer.etag!)
}

function send(one: Asked, order: Order, item: Item | undefined): Promise<Answer> {
  const path = `/work-orders/${order.wo_id}`
  const if_match =
    one.match === 'none' ? undefined : one.match === 'current' ? order.seen.at(-1) : order.seen[0]
  switch (one.is) {
    case 'status':
      return site.ask('PUT', path, { body: { status: one.status }, if_match, key: one.key })
    case 'assign':
      return site.ask('PUT', path, { body: { assigned_to: one.to }, if_match, key: one.key })
    case 'fill': {
      const body = { status: one.status, value_number: one.value, note: 'why' }
      return site.ask('PUT', `${path}/items/${item!.item_id}`, { body, if_match })
    }
    case 'approve':
      return site.ask('POST', `${path}/approve`, { body: {}, if_match, key: one.key })
  }
}

function verdict(one: Asked, order: Order, item: Item | undefined, is_another: boolean): number {
  const is_over = order.status === 'approved' || order.status === 'cancelled'
  switch (one.is) {
    case 'status': {
      if (is_over) return 409
      if (one.status === order.status) return 200
      if (!next[order.status]!.includes(one.status)) return 409
      const pending = order.items.some((each) => each.required && each.status === 'pending')
      return one.status === 'completed' && pending ? 409 : 200
    }
    case 'assign':
      return is_over ? 409 : 200
    case 'fill':
      if (is_over || order.status === 'completed') return 409
      return one.status === 'passed' && one.value < 1 ? 422 : item ? 200 : 404
    case 'approve':
      if (order.status !== 'completed') return 409
      return is_another && order.completed_by === one.key ? 409 : 200
  }
}

function apply(one: Asked, order: Order, item: Item | undefined): void {
  if (one.is === 'fill') Object.assign(item!, { status: one.status, value: one.value })
  if (one.is === 'approve') order.status = 'approved'
  if (one.is === 'assign') {
    order.assigned_to = one.to
    if (order.status === 'open' || order.status === 'assigned') {
      order.status = one.to === null ? 'open' : 'assigned'
    }
  }
  if (one.is !== 'status') return
  if (one.status === 'completed' && order.status !== 'completed') order.completed_by = one.key
  if (one.status === 'open') order.assigned_to = null
  if (one.status === 'assigned') {
    order.assigned_to ??= one.key === 'crew' ? 'c00000000001' : 'c00000000002'
  }
  order.status = one.status
}

async function assertListed(orders: readonly Order[], status: string): Promise<void> {
  const { body } = await site.ask('GET', `/work-orders?status=${status}&limit=2`)
  const matching = orders.filter((order) => order.status === status).map(({ wo_id }) => wo_id)
  assert.deepEqual(body.meta, { count: matching.length, limit: 2, offset: 0 })
  assert.deepEqual(
    body.data.map(({ wo_id }: Order) => wo_id),
    matching.slice(0, 2),
  )
}

async function assertStored(order: Order): Promise<void> {
  const { body, etag } = await site.ask('GET', `/work-orders/${order.wo_id}`)
  assert.equal(etag, order.seen.at(-1))
  assert.equal(body.status, order.status)
  assert.equal(body.assigned_to, order.assigned_to)
  const items = body.checklist.map((item: Item & { value_number: number | null }) => ({
    item_id: item.item_id,
    required: item.required,
    status: item.status,
    value: item.value_number,
  }))
  assert.deepEqual(items, order.items)
  const is_done = body.status === 'completed' || body.status === 'approved'
  assert.equal(body.completed_at !== null, is_done)
  assert.equal(body.checklist_total, order.items.length)
  const done = order.items.filter((item) => item.status !== 'pending')
  assert.equal(body.checklist_done, done.length)
  const failed = order.items.filter((item) => item.status === 'failed')
  assert.equal(body.checklist_failed, failed.length)
  if (!is_done) return
  assert.ok(order.items.every((item) => !item.required || item.status !== 'pending'))
}
