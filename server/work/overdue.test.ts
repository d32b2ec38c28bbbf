import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import type { Database } from '../storage/database.ts'
import { notification_days, notify } from './notifications.ts'
import { watchWorkOrders } from './overdue.ts'

const noon = new Date('2026-06-21T10:00:00Z')
const after_h = (hours: number) => new Date(noon.getTime() + hours * 3_600_000)
const { signal } = new AbortController()

let db: Database
let drop: () => Promise<void>

before(async () => {
  ;({ db, drop } = await testDatabase())
  await db.query(`
    insert into clients (name, modules) values ('Owner', '{om}');
    insert into sites (site_id, client_id, name) values ('demo', 1, 'Demo'), ('park', 1, 'Park')`)
})
beforeEach(async () => {
  await db.query(`delete from notification_reads; delete from om_notifications;
    delete from work_orders`)
})
after(() => drop())

/** To be taken up within 4 h of noon and done within 24 h. */
const addOrder = (number: string, more: { status?: string; acknowledged?: boolean } = {}) =>
  db.execute(
    `insert into work_orders (site_id, number, title, description, type, priority, status,
       assigned_to, created_by, created_at, updated_at, acknowledged_at, response_due_at,
       resolution_due_at)
     values ('demo', $1, 'Fuse', '', 'corrective', 'urgent', $2, 'Ada', 'x', $3, $3, $4, $5, $6)`,
    [number, more.status ?? 'open', noon, more.acknowledged ? noon : null, after_h(4), after_h(24)],
  )
const watch = (hours: number) => watchWorkOrders(db, { now: after_h(hours), signal })
const told = () =>
  db.query<Record<string, unknown>>(
    'select site_id, type, title, recipient from om_notifications order by notification_id',
  )

test('what was not taken up or not done in time is told of once, and nothing else', async () => {
  await addOrder('WO-1')
  await addOrder('WO-2', { status: 'in_progress', acknowledged: true })
  await addOrder('WO-3', { status: 'completed', acknowledged: true })
  await addOrder('WO-4', { status: 'cancelled' })
  await watch(4)
  assert.deepEqual(await told(), [])
  await watch(4.1)
  const overdue = { site_id: 'demo', type: 'work_order_overdue', recipient: 'Ada' }
  const first = { ...overdue, title: 'WO-1 is overdue: not acknowledged in time' }
  assert.deepEqual(await told(), [first])
  await watch(24.1)
  const second = { ...overdue, title: 'WO-2 is overdue: not completed in time' }
  assert.deepEqual(await told(), [first, second])
  await watch(99)
  assert.equal((await told()).length, 2)
  const marked = await db.query(
    'select number, overdue_notified_at as at, version from work_orders order by number',
  )
  assert.deepEqual(marked, [
    { number: 'WO-1', at: after_h(4.1), version: 1 },
    { number: 'WO-2', at: after_h(24.1), version: 1 },
    { number: 'WO-3', at: null, version: 1 },
    { number: 'WO-4', at: null, version: 1 },
  ])
})

test('at once from two servers, and more than one batch, each is told of once', async () => {
  await Promise.all(Array.from({ length: 250 }, (_, nth) => addOrder(`WO-${nth}`)))
  await Promise.all([watch(5), watch(5)])
  const titles = (await told()).map(({ title }) => title)
  assert.equal(titles.length, 250)
  assert.equal(new Set(titles).size, 250)
})

test('one that somebody is changing waits for the next look', async () => {
  await addOrder('WO-1')
  await db.transaction(async (tx) => {
    await tx.query("select from work_orders where site_id = 'demo' for no key update")
    await watch(5)
  })
  assert.deepEqual(await told(), [])
  await watch(5)
  assert.equal((await told()).length, 1)
})

test('what expired is forgotten with who read it, and the rest stays', async () => {
  const tell = (site_id: string, hours: number) =>
    notify(db, {
      site_id,
      at: after_h(hours),
      type: 'system',
      title: 'x',
      body: 'x',
      severity: 'info',
      recipient: null,
    })
  await tell('demo', 0)
  await tell('park', 0)
  await tell('demo', 1)
  const count = async () => {
    const [counts] = await db.query(`select (select count(*) from om_notifications) as told,
      (select count(*) from notification_reads) as reads`)
    return counts
  }
  await watch(notification_days * 24 - 0.1)
  assert.deepEqual(await count(), { told: 3, reads: 3 })
  await watch(notification_days * 24)
  assert.deepEqual(await count(), { told: 1, reads: 1 })
})
