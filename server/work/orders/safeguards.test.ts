/** What keeps a record from saying what was not so. */
import assert from 'node:assert/strict'
import test, { after, afterEach, before } from 'node:test'
import { noon } from '../../fixtures/served-site.ts'
import { type OrderSite, orderSite, violations } from './fixtures/order-site.ts'

let site: OrderSite

before(async () => {
  site = await orderSite()
  await site.db.query(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, logger_id, inverter_id, string_index, location_id, started_at,
      detected_at, last_seen_at, created_at, updated_at)
    select 'demo', 'x:' || n, 'x', 'X', 'x', 'equipment', 'major', 'active', 'inverter', '1',
      logger, inverter, string, place, now(), now(), now(), now(), now()
    from (values (1, 1, 1, 3, 2), (2, 1, 1, 2, 2), (3, 2, 3, null, null), (4, null, null, null, 2))
      as alert (n, logger, inverter, string, place)`)
})
afterEach(() => site.clock.set(noon))
after(() => site.close())

const change = (wo_id: number, body: Record<string, unknown>) =>
  site.ask('PUT', `/work-orders/${wo_id}`, { body })
const post = (body: object) => site.ask('POST', '/work-orders', { body: { title: 'x', ...body } })

const working = ['open', 'assigned', 'in_progress', 'on_hold']

test('a 409 says what may come next, or where it would have to stand already', async () => {
  const { wo_id, checklist } = await site.create({ checklist: [{ title: 'A', required: false }] })
  const details = async (method: 'PUT' | 'POST', path: string, body: object) => {
    const answer = await site.ask(method, `/work-orders/${wo_id}${path}`, { body })
    assert.equal(answer.status, 409)
    return answer.body.error.details
  }
  const item = `/items/${checklist[0]!.item_id}`
  assert.deepEqual(await details('POST', '/approve', {}), {
    wo_id,
    current_state: 'open',
    allowed_from: ['completed'],
  })
  assert.deepEqual(await details('PUT', '', { status: 'completed' }), {
    wo_id,
    current_state: 'open',
    allowed: ['assigned', 'in_progress', 'on_hold', 'cancelled'],
  })
  await change(wo_id, { status: 'in_progress' })
  await change(wo_id, { status: 'completed' })
  assert.deepEqual(await details('PUT', item, { note: 'late' }), {
    wo_id,
    current_state: 'completed',
    allowed_from: working,
  })
  await site.ask('POST', `/work-orders/${wo_id}/approve`, { body: {} })
  assert.deepEqual(await details('PUT', '', { title: 'Other' }), {
    wo_id,
    current_state: 'approved',
    allowed_from: [...working, 'completed'],
  })
  assert.deepEqual(await details('PUT', '', { status: 'open' }), {
    wo_id,
    current_state: 'approved',
    allowed: [],
  })
})

test('the name is that of whose work it is', async () => {
  const ada = { assigned_to: 'ada', assigned_to_name: 'Ada Brandt' }
  const { wo_id } = await site.create(ada)
  const names = async (body: object) => {
    const { body: order } = await change(wo_id, { ...body })
    return [order.assigned_to, order.assigned_to_name]
  }
  assert.deepEqual(await names({ assigned_to: 'ada', labour_h: 1 }), ['ada', 'Ada Brandt'])
  assert.deepEqual(await names({ assigned_to: 'bob' }), ['bob', null])
  assert.deepEqual(await names({ assigned_to_name: 'Bob Lee' }), ['bob', 'Bob Lee'])
  assert.deepEqual(await names({ status: 'open' }), [null, null])
  assert.deepEqual(violations(await change(wo_id, { assigned_to_name: 'Bob' })), [
    'assigned_to required',
  ])
  assert.deepEqual(violations(await post({ assigned_to_name: 'Bob' })), ['assigned_to required'])
})

test('an order made from alerts is about what they agree on', async () => {
  const about = async (body: Record<string, unknown>) => {
    const { location_id, logger_id, inverter_id, string_index } = await site.create(body)
    return [location_id, logger_id, inverter_id, string_index]
  }
  assert.deepEqual(await about({ alert_ids: [1] }), [2, 1, 1, 3])
  assert.deepEqual(await about({ alert_ids: [1, 2] }), [2, 1, 1, null])
  assert.deepEqual(await about({ alert_ids: [1, 3] }), [null, null, null, null])
  assert.deepEqual(await about({ alert_ids: [1], inverter_id: 3 }), [null, 2, 3, null])
  assert.deepEqual(await about({ alert_ids: [4] }), [2, null, null, null])
  assert.deepEqual(await about({ alert_ids: [1], location_id: 1 }), [1, 1, 1, 3])
})

test('a device stands at the place of its order or below it', async (t) => {
  await site.db.execute(
    `insert into locations (site_id, location_id, parent_location_id, type, name, created_at,
       updated_at) values ('demo', 3, 1, 'plot', 'East', now(), now())`,
  )
  t.after(() => site.db.execute('delete from locations where location_id = 3'))
  const refused = async (body: object) => violations(await post(body))
  assert.deepEqual(await refused({ location_id: 3, inverter_id: 1 }), [
    'inverter_id unknown_reference',
  ])
  assert.deepEqual(await refused({ location_id: 3, logger_id: 1 }), ['logger_id unknown_reference'])
  assert.equal((await post({ location_id: 1, inverter_id: 1 })).body.location_id, 1)
  const unplaced = await site.create({ location_id: 3, inverter_id: 3 })
  assert.equal(unplaced.location_id, 3)
  const { body: moved } = await change(unplaced.wo_id, { inverter_id: 1 })
  assert.deepEqual([moved.location_id, moved.logger_id], [2, 1])
  assert.deepEqual(violations(await change(unplaced.wo_id, { location_id: 3 })), [
    'inverter_id unknown_reference',
  ])
})

test('what was late stays late', async () => {
  const { wo_id } = await site.create({ priority: 'urgent', team: 'South' })
  await change(wo_id, { status: 'in_progress' })
  site.clock.set('2026-06-22T11:00:00Z')
  await change(wo_id, { status: 'completed' })
  const { body } = await change(wo_id, { priority: 'low' })
  assert.deepEqual([body.priority, body.sla_breached], ['low', true])
  assert.equal(body.resolution_due_at, '2026-06-22T10:00:00.000Z')
  assert.deepEqual(violations(await change(wo_id, { due_at: '2027-01-01T00:00:00Z' })), [
    'due_at not_allowed_field',
  ])
})

test("the contract's date lies ahead, and counts", async () => {
  const past = await post({ due_at: '2026-06-21T09:59:59Z' })
  assert.deepEqual(violations(past), ['due_at not_allowed_value'])
  const { wo_id, sla_breached } = await site.create({ due_at: '2026-06-21T11:00:00Z' })
  assert.equal(sla_breached, false)
  site.clock.set('2026-06-21T11:00:01Z')
  const { body } = await site.ask('GET', `/work-orders/${wo_id}`)
  assert.equal(body.sla_breached, true)
})

test('titles and names are one line with something to see', async () => {
  for (const title of ['a\nb', 'a\u2028b', '\u200b', '\u00a0', 'a\tb']) {
    assert.deepEqual(violations(await post({ title })), ['title invalid_format'])
  }
  for (const field of ['assigned_to', 'team', 'contractor']) {
    assert.deepEqual(violations(await post({ [field]: ' ' })), [`${field} invalid_format`])
  }
  assert.equal((await post({ title: 'Zaun \u200b prüfen 太 😀' })).status, 201)
})

test('attachments hold no user and no password', async () => {
  const attach = (url: string) =>
    post({ attachments: [{ file_name: 'a.jpg', content_type: 'image/jpeg', url }] })
  for (const url of ['https://me:secret@example.com/a', 'https://me@example.com', 'https:///a']) {
    assert.deepEqual(violations(await attach(url)), ['attachments.0.url invalid_format'])
  }
  for (const url of ['https://example.com', 'https://[::1]:8443/a?b=c@d#e', 'http://a/@b']) {
    assert.equal((await attach(url)).status, 201, url)
  }
})

test('a change that changes nothing leaves version and ETag', async () => {
  const made = await site.create({
    title: 'Same',
    due_at: '2026-07-01T00:00:00Z',
    tags: ['b', 'a'],
    alert_ids: [2, 1],
    team: 'South',
    cost_amount: 12,
    category_id: 2,
    priority: 'high',
    inverter_id: 1,
    attachments: [{ file_name: 'a.jpg', content_type: 'image/jpeg', url: 'https://example.com' }],
    parts: [{ sku: null, name: 'Fuse', quantity: 2, unit: 'piece' }],
  })
  site.clock.set('2026-06-21T10:30:00Z')
  const { due_at: _due_at, ...rest } = made
  const { title, tags, team, cost_amount, priority, inverter_id, attachments, parts } = rest
  const same = {
    title,
    tags,
    team,
    cost_amount,
    priority,
    inverter_id,
    parts,
    status: 'assigned',
    due_at: '2026-07-01T02:00:00+02:00',
    alert_ids: [1, 2],
    defect_ids: [],
    attachments: attachments.map(({ uploaded_at: _at, ...one }) => one),
  }
  const unchanged = await change(made.wo_id, same)
  assert.deepEqual([unchanged.body.version, unchanged.etag], [1, made.etag])
  const other = await change(made.wo_id, { ...same, alert_ids: [1] })
  assert.deepEqual([other.body.version, other.body.alert_ids], [2, [1]])
  const { item_id } = made.checklist[3]!
  const item = `/work-orders/${made.wo_id}/items/${item_id}`
  const entered = {
    status: 'passed',
    value_number: 735,
    min_value: 700,
    max_value: 770,
    calibration_due_date: '2027-03-31',
  }
  const filled = await site.ask('PUT', item, { body: entered })
  const again = await site.ask('PUT', item, { body: entered })
  assert.deepEqual([filled.body.version, again.body.version, again.etag], [3, 3, filled.etag])
})
