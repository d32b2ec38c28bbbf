import assert from 'node:assert/strict'
import test, { after, afterEach, before } from 'node:test'
import { noon } from '../../fixtures/served-site.ts'
import { type OrderSite, orderSite, violations } from './fixtures/order-site.ts'

let site: OrderSite

before(async () => {
  site = await orderSite()
  await site.db.query(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
    select 'demo', 'x:' || n, 'x', 'X', 'x', 'equipment', 'major', 'active', 'inverter', '1', now(),
      now(), now(), now(), now() from generate_series(1, 2) n;
    insert into defects (site_id, number, title, severity, status, detected_at, reported_by,
      created_at, updated_at)
    select 'demo', 'DEF-' || n, 'Crack', 'low', 'open', now(), 'x', now(), now()
    from generate_series(1, 2) n`)
})
afterEach(() => site.clock.set(noon))
after(() => site.close())

const change = (wo_id: number, body: Record<string, unknown>) =>
  site.ask('PUT', `/work-orders/${wo_id}`, { body })
const fill = (wo_id: number, item_id: number, body: Record<string, unknown>) =>
  site.ask('PUT', `/work-orders/${wo_id}/items/${item_id}`, { body })
const read = async (wo_id: number) => (await site.ask('GET', `/work-orders/${wo_id}`)).body

test('what is not said has its default, and the priority says until when', async () => {
  const made = await site.create({ title: 'Look', priority: 'urgent' })
  assert.match(made.number, /^WO-2026-\d{5}$/)
  assert.equal(made.status, 'open')
  assert.equal(made.description, '')
  assert.equal(made.type, 'corrective')
  assert.equal(made.response_due_at, '2026-06-21T14:00:00.000Z')
  assert.equal(made.resolution_due_at, '2026-06-22T10:00:00.000Z')
  assert.equal(made.sla_breached, false)
  site.clock.set('2026-06-21T14:00:01Z')
  assert.equal((await read(made.wo_id)).sla_breached, true)
  const lower = await change(made.wo_id, { priority: 'low' })
  assert.equal(lower.body.response_due_at, '2026-06-28T10:00:00.000Z')
  assert.equal(lower.body.sla_breached, false)
})

test('any text is kept as it is; what is no text is refused', async () => {
  const description = '=HYPERLINK("x") <b>fett</b> \u0301é 太阳能 \u{1F31E}‮ ﷽ \t\r\n--'
  const made = await site.create({ description, tags: ['ä', '😀'] })
  assert.equal(made.description, description)
  assert.equal((await read(made.wo_id)).description, description)
  assert.deepEqual(made.tags, ['ä', '😀'])
  const post = (body: object) => site.ask('POST', '/work-orders', { body })
  assert.deepEqual(violations(await post({ title: 'a\0' })), ['title invalid_character'])
  assert.deepEqual(violations(await post({ title: 'a\ud800' })), ['title invalid_character'])
  assert.deepEqual(violations(await post({ title: ' ' })), ['title invalid_format'])
  assert.deepEqual(violations(await post({ title: '😀'.repeat(201) })), ['title too_long'])
  assert.equal((await post({ title: '😀'.repeat(200) })).status, 201)
})

test('unknown fields and fields of the server are refused by name', async () => {
  const body = { title: 'x', wo_id: 1, number: 'WO-1', status: 'approved', checklists: [] }
  assert.deepEqual(violations(await site.ask('POST', '/work-orders', { body })), [
    'wo_id unknown_field',
    'number unknown_field',
    'status unknown_field',
    'checklists unknown_field',
  ])
  const { wo_id } = await site.create()
  assert.deepEqual(violations(await change(wo_id, { category_id: 2, created_by: 'me' })), [
    'category_id read_only_field',
    'created_by read_only_field',
  ])
})

test('what it names must be there', async () => {
  const refused = async (body: object) =>
    violations(await site.ask('POST', '/work-orders', { body: { title: 'x', ...body } }))
  assert.deepEqual(await refused({ location_id: 9, logger_id: 9, inverter_id: 9, bess_id: 9 }), [
    'location_id unknown_reference',
    'logger_id unknown_reference',
    'inverter_id unknown_reference',
    'bess_id unknown_reference',
  ])
  assert.deepEqual(await refused({ inverter_id: 1, string_index: 4, node_id: 'x' }), [
    'node_id unknown_reference',
    'string_index unknown_reference',
  ])
  assert.deepEqual(await refused({ string_index: 0 }), ['string_index unknown_reference'])
  assert.deepEqual(await refused({ logger_id: 2, inverter_id: 1 }), ['logger_id unknown_reference'])
  assert.deepEqual(await refused({ category_id: 99 }), ['category_id unknown_reference'])
  assert.deepEqual(await refused({ alert_ids: [1, 9] }), ['alert_ids.1 unknown_reference'])
  assert.deepEqual(await refused({ defect_ids: [9] }), ['defect_ids.0 unknown_reference'])
  const { logger_id, wo_id } = await site.create({ inverter_id: 3, string_index: 1 })
  assert.equal(logger_id, 2)
  const moved = await change(wo_id, { inverter_id: 1 })
  assert.equal(moved.body.logger_id, 1)
})

test('a defect belongs to one work order until that is cancelled', async () => {
  const first = await site.create({ alert_ids: [2, 1], defect_ids: [1, 2] })
  assert.deepEqual(
    [first.alert_ids, first.defect_ids],
    [
      [1, 2],
      [1, 2],
    ],
  )
  const second = await site.create({ alert_ids: [1] })
  const taken = await change(second.wo_id, { defect_ids: [2] })
  assert.deepEqual(violations(taken), ['defect_ids.0 not_allowed_value'])
  const less = await change(first.wo_id, { defect_ids: [1], alert_ids: [] })
  assert.deepEqual([less.body.alert_ids, less.body.defect_ids], [[], [1]])
  assert.deepEqual((await change(second.wo_id, { defect_ids: [2] })).body.defect_ids, [2])
  await change(first.wo_id, { status: 'cancelled', cancel_reason: 'double' })
  const both = await change(second.wo_id, { defect_ids: [1, 2] })
  assert.deepEqual(both.body.defect_ids, [1, 2])
  assert.deepEqual((await read(first.wo_id)).defect_ids, [])
})

test('planned work has both ends, and an amount its currency', async () => {
  const { wo_id } = await site.create()
  const start = { scheduled_start_at: '2026-06-22T08:00:00+02:00' }
  assert.deepEqual(violations(await change(wo_id, start)), ['scheduled_end_at required'])
  const reversed = await change(wo_id, { ...start, scheduled_end_at: '2026-06-22T06:00:00Z' })
  assert.deepEqual(violations(reversed), ['scheduled_end_at end_not_after_start'])
  const planned = await change(wo_id, { ...start, scheduled_end_at: '2026-06-22T06:00:01Z' })
  assert.equal(planned.body.scheduled_start_at, '2026-06-22T06:00:00.000Z')
  const paid = await change(wo_id, { cost_amount: 12.5 })
  assert.deepEqual([paid.body.cost_amount, paid.body.currency], [12.5, 'EUR'])
  const other = await change(wo_id, { currency: 'CHF' })
  assert.deepEqual([other.body.cost_amount, other.body.currency], [12.5, 'CHF'])
})

test('only what is given changes, and null takes back', async () => {
  const { wo_id, ...made } = await site.create({ team: 'South', labour_h: 2, location_id: 2 })
  site.clock.set('2026-06-21T11:00:00Z')
  const { body } = await change(wo_id, { labour_h: null, root_cause: 'Fuse' })
  const updated_at = '2026-06-21T11:00:00.000Z'
  const { etag: _etag, ...before } = { wo_id, ...made }
  assert.deepEqual(body, {
    ...before,
    labour_h: null,
    root_cause: 'Fuse',
    version: 2,
    updated_at,
  })
  const nothing = await change(wo_id, {})
  assert.deepEqual(nothing.body, body)
})

test('whose it is and its status go together until work begins', async () => {
  const { wo_id, status, acknowledged_at } = await site.create()
  assert.deepEqual([status, acknowledged_at], ['open', null])
  site.clock.set('2026-06-21T10:30:00Z')
  const assigned = (await change(wo_id, { assigned_to: 'Ada' })).body
  const at = '2026-06-21T10:30:00.000Z'
  assert.deepEqual(
    [assigned.status, assigned.assigned_at, assigned.acknowledged_at],
    ['assigned', at, at],
  )
  const given_back = (await change(wo_id, { status: 'open' })).body
  assert.deepEqual([given_back.assigned_to, given_back.assigned_at], [null, null])
  const taken = (await change(wo_id, { status: 'assigned' })).body
  assert.equal(taken.assigned_to, 'c00000000001')
  assert.equal(taken.acknowledged_at, at)
  const odd = await change(wo_id, { status: 'open', assigned_to: 'Ada' })
  assert.deepEqual(violations(odd), ['status not_allowed_value'])
  const nobody = await change(wo_id, { status: 'assigned', assigned_to: null })
  assert.deepEqual(violations(nobody), ['assigned_to required'])
})

test('an inspection has its checklist, whose limits hold', async () => {
  const { wo_id, checklist, checklist_total } = await site.create({ category_id: 2 })
  assert.equal(checklist_total, 10)
  const item = (code: string) => checklist.find((one) => one.code === code)!
  const insulation = item('insulation_positive_mohm')
  assert.deepEqual([insulation.unit, insulation.min_value, insulation.category_id], ['MΩ', 1, 2])
  const put = (code: string, body: object) => fill(wo_id, item(code).item_id, { ...body })
  const out = { status: 'passed', value_number: 0.4 }
  assert.deepEqual(violations(await put('insulation_positive_mohm', out)), [
    'status not_allowed_value',
  ])
  const lowered = { min_value: 0.1, ...out }
  assert.ok(
    violations(await put('insulation_positive_mohm', lowered)).includes(
      'min_value not_allowed_field',
    ),
  )
  const failed = await put('insulation_positive_mohm', { status: 'failed', value_number: 0.4 })
  const found = failed.body.checklist.find((one: { code: string }) => one.code === insulation.code)
  assert.deepEqual([found.within_limits, found.done_by], [false, 'c00000000001'])
  assert.equal(failed.body.checklist_failed, 1)
  const open = { min_value: 700, max_value: 770, value_number: 735, status: 'passed' }
  const voc = (await put('voc_v', open)).body.checklist[3]
  assert.deepEqual([voc.code, voc.within_limits], ['voc_v', true])
  assert.deepEqual(violations(await put('voc_v', { max_value: 730 })), ['status not_allowed_value'])
  const again = (await put('voc_v', { status: 'pending' })).body.checklist[3]
  assert.deepEqual([again.done_at, again.done_by, again.value_number], [null, null, 735])
  assert.equal((await fill(wo_id, 2_000_000_000, {})).status, 404)
})

test('pictures of a checklist are attachments, which stay while they are shown', async () => {
  const picture = { file_name: 'a.jpg', content_type: 'image/jpeg', url: 'https://example.com/a' }
  const { wo_id, checklist } = await site.create({
    attachments: [picture],
    checklist: [{ title: 'Photo', type: 'photo' }],
  })
  const { item_id } = checklist[0]!
  const other = await fill(wo_id, item_id, { status: 'passed', photo_ids: [2] })
  assert.deepEqual(violations(other), ['photo_ids.0 unknown_reference'])
  assert.equal((await fill(wo_id, item_id, { status: 'passed', photo_ids: [1] })).status, 200)
  assert.deepEqual(violations(await change(wo_id, { attachments: [] })), [
    'attachments not_allowed_value',
  ])
  const both = {
    attachments: [
      { ...picture, attachment_id: 1 },
      { ...picture, file_name: 'b.jpg' },
    ],
  }
  assert.deepEqual(
    (await change(wo_id, both)).body.attachments.map(
      (one: { attachment_id: number; file_name: string }) => [one.attachment_id, one.file_name],
    ),
    [
      [1, 'a.jpg'],
      [2, 'b.jpg'],
    ],
  )
})

test('completed with required items pending it is not, and says which', async () => {
  const checklist = [{ title: 'A' }, { title: 'B', required: false }, { title: 'C' }]
  const order = await site.create({ checklist })
  const [a, , c] = order.checklist
  await change(order.wo_id, { status: 'in_progress' })
  await fill(order.wo_id, a!.item_id, { status: 'failed' })
  const { status, body } = await change(order.wo_id, { status: 'completed' })
  assert.equal(status, 409)
  const { current_state, allowed, pending_item_ids } = body.error.details
  assert.deepEqual([current_state, pending_item_ids], ['in_progress', [c!.item_id]])
  assert.deepEqual(allowed, ['assigned', 'on_hold', 'cancelled'])
  await fill(order.wo_id, c!.item_id, { status: 'not_applicable', note: 'none here' })
  assert.equal((await change(order.wo_id, { status: 'completed' })).status, 200)
  assert.equal((await fill(order.wo_id, c!.item_id, { status: 'passed' })).status, 409)
})

test('where the site asks for it another key approves, and people are told', async (t) => {
  await site.db.query(`
    insert into maintenance_settings values ('demo', true);
    delete from notification_reads; delete from om_notifications`)
  t.after(() => site.db.execute('delete from maintenance_settings'))
  const { wo_id, number } = await site.create({ assigned_to: 'Ada', priority: 'high' })
  await change(wo_id, { status: 'in_progress' })
  await change(wo_id, { labour_h: 1 })
  await change(wo_id, { status: 'completed' })
  const approve = (key: 'crew' | 'office') =>
    site.ask('POST', `/work-orders/${wo_id}/approve`, { key, body: { note: 'good' } })
  const own = await approve('crew')
  assert.equal(own.status, 409)
  assert.match(own.body.error.details.message, /another key/)
  const { status, body } = await approve('office')
  assert.equal(status, 200)
  assert.deepEqual([body.approved_by, body.approval_note], ['c00000000002', 'good'])
  assert.deepEqual([body.completed_by, body.status], ['c00000000001', 'approved'])
  assert.deepEqual(await site.told(), [
    `${number} is assigned to Ada`,
    `${number} is in progress`,
    `${number} is completed`,
    `${number} is approved`,
  ])
  const unread = await site.db.query(
    'select client_id, type, read_at from notification_reads order by notification_id limit 1',
  )
  assert.deepEqual(unread, [{ client_id: 1, type: 'work_order_assigned', read_at: null }])
})

test('categories have an ETag, and are there only with their module', async () => {
  const { status, body, etag } = await site.ask('GET', '/om/categories')
  assert.equal(status, 200)
  assert.equal(body.meta.count, body.data.length)
  assert.ok(etag)
  const codes = body.data.map(({ code }: { code: string }) => code)
  for (const code of ['pv_string_test', 'thermography', 'transformer', 'bess', 'met', 'civil']) {
    assert.ok(codes.includes(code), code)
  }
})
