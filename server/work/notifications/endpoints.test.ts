import assert from 'node:assert/strict'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { type MaintenanceSite, maintenanceSite } from '../../fixtures/maintenance-site.ts'
import { addKey, noon } from '../../fixtures/served-site.ts'
import { type NewNotification, notify } from '../notifications.ts'

let site: MaintenanceSite

before(async () => {
  site = await maintenanceSite()
})
beforeEach(async () => {
  await site.db.query('delete from notification_reads; delete from om_notifications')
})
afterEach(() => site.clock.set(noon))
after(() => site.close())

const tell = (more: Partial<NewNotification> = {}) =>
  notify(site.db, {
    site_id: 'demo',
    at: site.clock.now(),
    type: 'system',
    title: 'T',
    body: 'B',
    severity: 'info',
    recipient: null,
    ...more,
  })
const list = async (query = '') => (await site.ask('GET', `/om/notifications${query}`)).body
const idsOf = ({ data }: { data: { notification_id: number }[] }) =>
  data.map(({ notification_id }) => notification_id)
const mark = (id: number, key: 'crew' | 'office' = 'crew') =>
  site.ask('PUT', `/om/notifications/${id}/read`, { key })
const unread = async () => (await site.ask('GET', '/om/notifications/unread-count')).body

test('the newest first, each with the path of what it is about', async () => {
  await tell({ type: 'work_order_overdue', resource_type: 'work_order', resource_id: '42' })
  await tell({ type: 'alert_escalated', resource_type: 'alert', resource_id: '7', recipient: 'A' })
  const { data, meta } = await list()
  assert.deepEqual(meta, { count: 2, limit: 50, offset: 0 })
  const [{ notification_id, ...newest }, oldest] = data
  assert.ok(notification_id > oldest.notification_id)
  assert.deepEqual(idsOf(await list('?limit=1')), [notification_id])
  assert.deepEqual(newest, {
    type: 'alert_escalated',
    title: 'T',
    body: 'B',
    severity: 'info',
    recipient: 'A',
    is_read: false,
    read_at: null,
    created_at: noon.toISOString(),
    resource_type: 'alert',
    resource_id: '7',
    url: null,
    expires_at: '2026-09-19T10:00:00.000Z',
  })
  assert.equal(oldest.url, '/v1/sites/demo/work-orders/42')
})

test('read by one key it is read for the client, once, and no longer listed as unread', async () => {
  await tell()
  await tell()
  const [newest, oldest] = idsOf(await list())
  site.clock.set('2026-06-21T11:00:00Z')
  const read_at = '2026-06-21T11:00:00.000Z'
  const first = await mark(newest!)
  assert.equal(first.status, 200)
  assert.deepEqual([first.body.is_read, first.body.read_at], [true, read_at])
  site.clock.set('2026-06-21T12:00:00Z')
  const again = await mark(newest!, 'office')
  assert.deepEqual([again.status, again.body], [200, first.body])
  assert.deepEqual(idsOf(await list('?unread_only=true')), [oldest])
  assert.deepEqual(idsOf(await list('?unread_only=false')), [newest, oldest])
  assert.equal((await list('?unread_only=true')).meta.count, 1)
  assert.equal((await mark(999_999)).status, 404)
})

test('those that are unread are counted by their type, and the oldest says since when', async () => {
  const none = await unread()
  assert.deepEqual([none.unread_count, none.oldest_unread_at], [0, null])
  await tell({ type: 'defect_created' })
  site.clock.set('2026-06-21T11:00:00Z')
  await tell({ type: 'defect_created' })
  await tell({ type: 'comment' })
  const { by_type, ...counted } = await unread()
  assert.deepEqual(counted, { unread_count: 3, oldest_unread_at: noon.toISOString() })
  assert.equal(Object.keys(by_type).length, 11)
  assert.deepEqual([by_type.defect_created, by_type.comment, by_type.system], [2, 1, 0])
  await mark(idsOf(await list()).at(-1)!)
  const later = await unread()
  assert.deepEqual([later.unread_count, later.by_type.defect_created], [2, 1])
  assert.equal(later.oldest_unread_at, '2026-06-21T11:00:00.000Z')
})

test('what expired is gone at once, before it is forgotten', async () => {
  await tell()
  const [id] = idsOf(await list())
  site.clock.set('2026-09-19T10:00:00Z')
  assert.equal((await list()).meta.count, 0)
  assert.equal((await list('?unread_only=true')).meta.count, 0)
  assert.equal((await unread()).unread_count, 0)
  assert.equal((await mark(id!)).status, 404)
})

test('another client sees nothing of it', async () => {
  await tell()
  await site.db.query(`insert into clients (name, modules) values ('Other', '{om}');
    insert into sites (site_id, client_id, name) values ('other', 2, 'Other')`)
  const key = await addKey(site.db, { key_id: 'c00000000009', client_id: 2 })
  assert.equal((await site.get('/om/notifications', key)).status, 404)
  const own = await site.get('/v1/sites/other/om/notifications', key)
  assert.deepEqual([own.status, own.body.meta.count], [200, 0])
  const [id] = idsOf(await list())
  const { statusCode } = await site.app.inject({
    method: 'PUT',
    url: `/v1/sites/other/om/notifications/${id}/read`,
    headers: { authorization: `Bearer ${key}` },
  })
  assert.equal(statusCode, 404)
  assert.equal((await unread()).unread_count, 1)
})

test('who reads page by page while more come leaves none out', async () => {
  for (let nth = 0; nth < 20; nth += 1) await tell()
  const there = idsOf(await list('?limit=200'))
  const met = new Set<number>()
  let received = 0
  for (;;) {
    const page = await list(`?limit=7&offset=${received}`)
    for (const id of idsOf(page)) met.add(id)
    received += page.data.length
    if (received >= page.meta.count) break
    if (received < 21) await tell()
  }
  for (const id of there) assert.ok(met.has(id), `${id}`)
})
