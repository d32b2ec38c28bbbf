/** What proves something stays what it was, and who entered it stays who did. */
import assert from 'node:assert/strict'
import test, { after, afterEach, before } from 'node:test'
import { noon } from '../../fixtures/served-site.ts'
import { type OrderSite, orderSite, violations } from './fixtures/order-site.ts'

let site: OrderSite

before(async () => {
  site = await orderSite()
})
afterEach(() => site.clock.set(noon))
after(() => site.close())

const change = (wo_id: number, body: Record<string, unknown>) =>
  site.ask('PUT', `/work-orders/${wo_id}`, { body })
const post = (body: object) => site.ask('POST', '/work-orders', { body: { title: 'x', ...body } })
const report = (body: object) =>
  site.ask('POST', '/defects', { body: { title: 'x', severity: 'low', ...body } })
const faultOf = ({ body }: { body: { error: { details: { errors: { message: string }[] } } } }) =>
  body.error.details.errors[0]!.message

const picture = { file_name: 'a.jpg', content_type: 'image/jpeg', url: 'https://example.com/a' }
const idsOf = (body: { attachments: { attachment_id: number }[] }) =>
  body.attachments.map(({ attachment_id }) => attachment_id)

test('an attachment stays the same under its id, which no other ever gets', async () => {
  const made = [
    { path: '/work-orders', of: (await post({ attachments: [picture, picture] })).body },
    { path: '/defects', of: (await report({ attachments: [picture, picture] })).body },
  ]
  for (const { path, of } of made) {
    const at = `${path}/${of.wo_id ?? of.defect_id}`
    const send = (attachments: object[]) => site.ask('PUT', at, { body: { attachments } })
    const other = { file_name: 'b.jpg', content_type: 'image/png', url: 'https://example.com/b' }
    for (const [field, value] of Object.entries({ ...other, size_bytes: 9 })) {
      const answer = await send([picture, { ...picture, attachment_id: 1, [field]: value }])
      assert.deepEqual(violations(answer), [`attachments.1.${field} not_allowed_value`])
    }
    const kept = await send([
      { ...picture, attachment_id: 2 },
      { ...picture, attachment_id: 1 },
    ])
    assert.deepEqual(idsOf(kept.body), [2, 1])
    assert.deepEqual(idsOf((await send([])).body), [])
    assert.deepEqual(idsOf((await send([picture])).body), [3])
  }
})

test('its address is one that can be asked, and its name that of a file', async () => {
  const refused = async (more: object) =>
    violations(await post({ attachments: [{ ...picture, ...more }] }))
  for (const url of ['https://example.com:99999/a', 'https://exa mple.com', 'ftp://example.com']) {
    assert.deepEqual(await refused({ url }), ['attachments.0.url invalid_format'], url)
  }
  for (const url of ['HTTPS://example.com/a', 'Http://example.com:8080']) {
    assert.equal((await post({ attachments: [{ ...picture, url }] })).status, 201, url)
  }
  for (const file_name of ['../a.jpg', 'a\\b.jpg', 'a\nb.jpg', '\u200b', ' ', 'a\u0007.jpg']) {
    assert.deepEqual(await refused({ file_name }), ['attachments.0.file_name invalid_format'])
  }
  assert.equal((await post({ attachments: [{ ...picture, file_name: 'Süd 3.jpg' }] })).status, 201)
})

test('who entered a value stays who did, whoever adds to it', async () => {
  const { body: found } = await report({})
  const { wo_id, checklist } = await site.create({
    attachments: [picture],
    checklist: [{ title: 'Look' }, { title: 'Photo', type: 'photo', required: false }],
  })
  const fill = async (nth: number, body: object, key: 'crew' | 'office') => {
    const path = `/work-orders/${wo_id}/items/${checklist[nth]!.item_id}`
    const answer = await site.ask('PUT', path, { body, key })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const { done_at, done_by } = answer.body.checklist[nth]
    return [done_by, done_at]
  }
  const by = ['c00000000001', noon.toISOString()]
  const later = ['c00000000002', '2026-06-21T11:00:00.000Z']
  assert.deepEqual(await fill(0, { status: 'passed', value_bool: true }, 'crew'), by)
  assert.deepEqual(await fill(1, { photo_ids: [1] }, 'crew'), [null, null])
  assert.deepEqual(await fill(1, { status: 'passed' }, 'crew'), by)
  site.clock.set('2026-06-21T11:00:00Z')
  const added = { note: 'seen', defect_id: found.defect_id, instrument: 'Lamp' }
  assert.deepEqual(await fill(0, added, 'office'), by)
  assert.deepEqual(await fill(0, { status: 'passed', note: 'seen twice' }, 'office'), by)
  assert.deepEqual(await fill(0, { value_bool: null }, 'office'), later)
  assert.deepEqual(await fill(0, { status: 'failed' }, 'crew'), [by[0], later[1]])
  assert.deepEqual(await fill(1, { note: 'sharp' }, 'office'), by)
  assert.deepEqual(await fill(0, { status: 'pending' }, 'office'), [null, null])
})

test('a string goes with its inverter', async () => {
  const of = { inverter_id: 1, string_index: 1 }
  const order = (await post(of)).body
  const defect = (await report(of)).body
  for (const path of [`/work-orders/${order.wo_id}`, `/defects/${defect.defect_id}`]) {
    const named = async (body: object) => {
      const { body: after } = await site.ask('PUT', path, { body })
      return [after.logger_id, after.inverter_id, after.string_index]
    }
    assert.deepEqual(await named({ inverter_id: 1 }), [1, 1, 1])
    assert.deepEqual(await named({ inverter_id: 3 }), [2, 3, null])
    assert.deepEqual(await named({ inverter_id: 1, string_index: 2 }), [1, 1, 2])
    assert.deepEqual(await named({ inverter_id: null }), [1, null, null])
  }
  const placed = await site.create({ ...of, location_id: 1 })
  const same = await change(placed.wo_id, { inverter_id: 1 })
  assert.deepEqual([same.body.location_id, same.body.version], [1, 1])
})

test('planned work ends within 92 days', async () => {
  const scheduled_start_at = '2026-07-01T00:00:00Z'
  const planned = (scheduled_end_at: string) => post({ scheduled_start_at, scheduled_end_at })
  assert.deepEqual(violations(await planned('2026-10-01T00:00:01Z')), [
    'scheduled_end_at window_too_long',
  ])
  const { status, body } = await planned('2026-10-01T00:00:00Z')
  assert.equal(status, 201)
  assert.deepEqual(
    violations(await change(body.wo_id, { scheduled_end_at: '2099-01-01T00:00Z' })),
    ['scheduled_end_at invalid_timestamp'],
  )
  const longer = await change(body.wo_id, { scheduled_end_at: '2099-01-01T00:00:00Z' })
  assert.deepEqual(violations(longer), ['scheduled_end_at window_too_long'])
})

test('what nobody sees is no text', async () => {
  const refused: [body: object, field: string][] = [
    ...['\u200b', ' ', '\n', 'a\nb'].flatMap((text): [object, string][] => [
      [{ tags: ['a', text] }, 'tags.1'],
      [{ checklist: [{ title: text }] }, 'checklist.0.title'],
      [{ checklist: [{ title: 'a', type: 'measurement', unit: text }] }, 'checklist.0.unit'],
      [{ parts: [{ sku: null, name: 'a', quantity: 1, unit: text }] }, 'parts.0.unit'],
      [{ parts: [{ sku: null, name: text, quantity: 1, unit: 'a' }] }, 'parts.0.name'],
    ]),
  ]
  for (const [body, field] of refused) {
    const answer = await post(body)
    assert.deepEqual(violations(answer), [`${field} invalid_format`])
    assert.equal(faultOf(answer), 'must be one line with a visible character')
  }
  assert.deepEqual(violations(await report({ tags: ['\u200b'] })), ['tags.0 invalid_format'])
  const { wo_id, checklist } = await site.create({
    checklist: [{ title: 'Signed', type: 'signature' }, { title: 'Look' }],
  })
  const fill = (nth: number, body: object) =>
    site.ask('PUT', `/work-orders/${wo_id}/items/${checklist[nth]!.item_id}`, { body })
  for (const unseen of ['\u200b', ' \u2060\t', '\u3164']) {
    assert.deepEqual(violations(await fill(0, { status: 'passed', value_text: unseen })), [
      'value_text required',
    ])
    assert.deepEqual(violations(await fill(1, { status: 'not_applicable', note: unseen })), [
      'note required',
    ])
  }
  assert.equal((await fill(0, { status: 'passed', value_text: 'A. Bee' })).status, 200)
})

test('a text of the wrong form is told in words', async () => {
  assert.equal(
    faultOf(await post({ title: '\u200b' })),
    'must be one line with a visible character',
  )
  const url = 'https://me:secret@example.com/a'
  const address = await post({ attachments: [{ ...picture, url }] })
  assert.equal(
    faultOf(address),
    'must be a URL that starts with http:// or https://, without user or password',
  )
  const file = await post({ attachments: [{ ...picture, file_name: 'a/b' }] })
  assert.equal(faultOf(file), 'must be a file name: one line, without / and \\')
})

test('an inspection has a checklist', async () => {
  const empty = await post({ category_id: 2, checklist: [] })
  assert.deepEqual(violations(empty), ['checklist too_short'])
  assert.equal((await post({ checklist: [] })).status, 201)
})

test('a currency is one that there is', async () => {
  const paid = (currency: string) => post({ cost_amount: 1, currency })
  assert.deepEqual(violations(await paid('ZZZ')), ['currency not_allowed_value'])
  assert.deepEqual(violations(await post({ currency: 'ZZZ' })), ['currency not_allowed_value'])
  assert.equal((await paid('CHF')).status, 201)
  const lost = await report({ estimated_loss_amount_year: 1, currency: 'ZZZ' })
  assert.deepEqual(violations(lost), ['currency not_allowed_value'])
})

test('what is created as assigned is acknowledged when its status changes', async () => {
  const { wo_id, status, acknowledged_at, assigned_at } = await site.create({ team: 'South' })
  assert.deepEqual([status, acknowledged_at, assigned_at], ['assigned', null, noon.toISOString()])
  site.clock.set('2026-06-21T11:00:00Z')
  assert.equal((await change(wo_id, { labour_h: 1 })).body.acknowledged_at, null)
  assert.equal((await change(wo_id, { status: 'open' })).body.acknowledged_at, null)
  await change(wo_id, { team: 'South' })
  const { body } = await change(wo_id, { status: 'in_progress' })
  assert.equal(body.acknowledged_at, '2026-06-21T11:00:00.000Z')
})

test('when it was created follows the order of the ids', async () => {
  for (const [kind, path] of [
    ['work_order', '/work-orders'],
    ['defect', '/defects'],
  ] as const) {
    const body = kind === 'defect' ? { title: 'x', severity: 'low' } : { title: 'x' }
    await site.ask('POST', path, { body })
    site.clock.set(noon)
    const held = await site.db.transaction(async (tx) => {
      await tx.query('select from maintenance_numbers where kind = $1 for update', [kind])
      const asked = site.ask('POST', path, { body })
      for (let waiting = 0; waiting === 0; ) {
        const [found] = await site.db.query<{ count: number }>(
          `select count(*) from pg_stat_activity
           where wait_event_type = 'Lock' and datname = current_database()`,
        )
        waiting = found!.count
      }
      site.clock.set('2026-06-21T10:00:05Z')
      return { asked }
    })
    const { body: made } = await held.asked
    assert.equal(made.created_at, '2026-06-21T10:00:05.000Z', kind)
    assert.equal(made.updated_at, made.created_at)
  }
})
