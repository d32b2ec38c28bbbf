import assert from 'node:assert/strict'
import test, { after, afterEach, before } from 'node:test'
import {
  type MaintenanceSite,
  maintenanceSite,
  violations,
} from '../../fixtures/maintenance-site.ts'
import { noon } from '../../fixtures/served-site.ts'

let site: MaintenanceSite

before(async () => {
  site = await maintenanceSite()
  await site.db.query(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
    select 'demo', 'x:' || n, 'inverter_fault', 'X', 'x', 'equipment', 'major', 'active',
      'inverter', '1', now(), now(), now(), now(), now() from generate_series(1, 2) n`)
})
afterEach(() => site.clock.set(noon))
after(() => site.close())

const report = async (body: Record<string, unknown> = {}) => {
  const answer = await site.ask('POST', '/defects', {
    body: { title: 'Crack', severity: 'low', ...body },
  })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return { ...answer.body, etag: answer.etag }
}
const change = (defect_id: number, body: Record<string, unknown>, if_match?: string) =>
  site.ask('PUT', `/defects/${defect_id}`, { body, if_match })
const read = async (defect_id: number) => (await site.ask('GET', `/defects/${defect_id}`)).body
const order = async (body: Record<string, unknown> = {}) =>
  (await site.ask('POST', '/work-orders', { body: { title: 'Work', ...body } })).body

test('what is not said has its default, and every field is served', async () => {
  const { etag, ...made } = await report()
  assert.match(made.number, /^DEF-2026-\d{5}$/)
  const { defect_id, number, ...rest } = made
  const at = noon.toISOString()
  assert.deepEqual(rest, {
    title: 'Crack',
    severity: 'low',
    status: 'open',
    description: null,
    type: null,
    location_id: null,
    logger_id: null,
    inverter_id: null,
    string_index: null,
    module_position: null,
    bess_id: null,
    latitude: null,
    longitude: null,
    detection_method: null,
    temperature_delta_k: null,
    affected_module_count: null,
    affected_power_kw: null,
    estimated_loss_kwh_year: null,
    currency: null,
    estimated_loss_amount_year: null,
    warranty_reference: null,
    wo_id: null,
    assigned_to: null,
    resolution: null,
    safety_relevant: false,
    warranty_claim: false,
    alert_ids: [],
    tags: [],
    attachments: [],
    reported_by: 'c00000000001',
    resolved_at: null,
    resolved_by: null,
    verified_at: null,
    verified_by: null,
    detected_at: at,
    created_at: at,
    updated_at: at,
    version: 1,
  })
  const one = await site.ask('GET', `/defects/${defect_id}`)
  assert.deepEqual([one.etag, one.body], [etag, made])
  assert.equal((await site.ask('GET', '/defects/999')).status, 404)
})

test('only what is given changes, null takes back, and who saw another is refused', async () => {
  const { etag, ...made } = await report({ inverter_id: 3, assigned_to: 'Ada' })
  assert.equal(made.logger_id, 2)
  site.clock.set('2026-06-21T11:00:00Z')
  const body = { assigned_to: null, severity: 'critical', inverter_id: 1 }
  const changed = await change(made.defect_id, body, etag)
  const updated_at = '2026-06-21T11:00:00.000Z'
  assert.deepEqual(changed.body, {
    ...made,
    ...body,
    logger_id: 1,
    location_id: 2,
    updated_at,
    version: 2,
  })
  const stale = await change(made.defect_id, { title: 'x' }, etag)
  assert.deepEqual([stale.status, stale.body.error.code], [412, 'precondition_failed'])
  assert.deepEqual((await change(made.defect_id, {}, changed.etag)).body, changed.body)
})

test('what it names must be there', async () => {
  const refused = async (body: object) =>
    violations(
      await site.ask('POST', '/defects', { body: { title: 'x', severity: 'low', ...body } }),
    )
  assert.deepEqual(await refused({ location_id: 9, logger_id: 9, bess_id: 9 }), [
    'location_id unknown_reference',
    'logger_id unknown_reference',
    'bess_id unknown_reference',
  ])
  assert.deepEqual(await refused({ logger_id: 2, inverter_id: 1 }), ['logger_id unknown_reference'])
  assert.deepEqual(await refused({ alert_ids: [1, 9] }), ['alert_ids.1 unknown_reference'])
  assert.deepEqual(await refused({ wo_id: 999 }), ['wo_id unknown_reference'])
  assert.deepEqual(await refused({ latitude: 48 }), ['longitude required'])
  assert.deepEqual(await refused({ detected_at: '2026-06-21T10:06:00Z' }), [
    'detected_at not_allowed_value',
  ])
  assert.deepEqual(await refused({ status: 'open', number: 'DEF-1', reported_by: 'x' }), [
    'status unknown_field',
    'number unknown_field',
    'reported_by unknown_field',
  ])
  const { defect_id } = await report({ latitude: 48, longitude: 12 })
  assert.deepEqual(violations(await change(defect_id, { longitude: null })), ['longitude required'])
})

test('a loss of money is in the currency of the site, unless another is given', async () => {
  const made = await report({ estimated_loss_amount_year: 22 })
  assert.deepEqual([made.estimated_loss_amount_year, made.currency], [22, 'EUR'])
  const other = await change(made.defect_id, { currency: 'CHF' })
  assert.equal(other.body.currency, 'CHF')
})

test('it belongs to a work order that is not over, and both sides tell', async () => {
  const { wo_id, number } = await order()
  const { defect_id } = await report({ wo_id })
  const shown = async (of: number) =>
    (await site.ask('GET', `/work-orders/${of}`)).body.defect_ids as number[]
  assert.deepEqual(await shown(wo_id), [defect_id])
  const next = await order()
  assert.equal((await change(defect_id, { wo_id: next.wo_id })).body.wo_id, next.wo_id)
  assert.deepEqual([await shown(wo_id), await shown(next.wo_id)], [[], [defect_id]])
  const cancel = { status: 'cancelled', cancel_reason: 'double' }
  await site.ask('PUT', `/work-orders/${wo_id}`, { body: cancel })
  const over = await change(defect_id, { wo_id })
  assert.deepEqual(violations(over), ['wo_id not_allowed_value'])
  assert.match(over.body.error.details.errors[0].message, new RegExp(`${number} is cancelled`))
  await site.ask('PUT', `/work-orders/${next.wo_id}`, { body: cancel })
  const same = await change(defect_id, { wo_id: next.wo_id, title: 'As it was sent before' })
  assert.equal(same.status, 200)
  assert.equal((await change(defect_id, { wo_id: null })).body.wo_id, null)
})

test('alerts name the defect that explains them until it is dismissed', async () => {
  const { defect_id, alert_ids } = await report({ alert_ids: [2, 1] })
  assert.deepEqual(alert_ids, [1, 2])
  const told = async () => {
    const { body } = await site.ask('GET', '/alerts')
    return body.data.map((alert: { defect_id: number | null }) => alert.defect_id).sort()
  }
  assert.deepEqual(await told(), [defect_id, defect_id])
  assert.deepEqual((await change(defect_id, { alert_ids: [2] })).body.alert_ids, [2])
  assert.deepEqual((await told()).filter(Boolean), [defect_id])
  await change(defect_id, { status: 'dismissed' })
  assert.deepEqual((await told()).filter(Boolean), [])
})

test('who resolved and verified it is on record, and taken back it is not resolved', async () => {
  const { defect_id } = await report()
  const early = await change(defect_id, { status: 'verified' })
  assert.equal(early.status, 409)
  const { code, details } = early.body.error
  assert.equal(code, 'conflict_state')
  const allowed = ['in_progress', 'resolved', 'dismissed']
  assert.deepEqual(details, { defect_id, current_state: 'open', allowed })
  const resolve = () => change(defect_id, { status: 'resolved', resolution: 'Replaced.' })
  const resolved = (await resolve()).body
  assert.deepEqual(
    [resolved.resolved_at, resolved.resolved_by],
    [noon.toISOString(), 'c00000000001'],
  )
  const again = (await change(defect_id, { status: 'in_progress' })).body
  assert.deepEqual([again.resolved_at, again.resolved_by], [null, null])
  await resolve()
  site.clock.set('2026-06-22T10:00:00Z')
  const verify = { body: { status: 'verified' }, key: 'office' as const }
  const verified = (await site.ask('PUT', `/defects/${defect_id}`, verify)).body
  assert.deepEqual([verified.verified_by, verified.resolved_by], ['c00000000002', 'c00000000001'])
  assert.equal(verified.verified_at, '2026-06-22T10:00:00.000Z')
  const late = await change(defect_id, { title: 'x' })
  const of = { defect_id, current_state: 'verified' }
  const allowed_from = ['open', 'in_progress', 'resolved', 'dismissed']
  assert.deepEqual(late.body.error.details, { ...of, allowed_from })
  const reopened = await change(defect_id, { status: 'open' })
  assert.deepEqual(reopened.body.error.details, { ...of, allowed: [] })
  assert.deepEqual(await read(defect_id), verified)
})

test('filters narrow together, a page past the end is empty and counts all the same', async () => {
  await site.db.query('delete from defect_alerts; delete from defects')
  for (const [at, logger_id] of [1, 1, 2, null].entries()) {
    await report({ logger_id, ...(at % 2 === 0 && { severity: 'high', location_id: 2 }) })
  }
  const count = async (query: string) => {
    const { body } = await site.ask('GET', `/defects?${query}`)
    assert.equal(body.data.length, body.meta.count)
    return body.meta.count
  }
  assert.equal(await count(''), 4)
  assert.equal(await count('logger_id=1'), 2)
  assert.equal(await count('logger_id=1&severity=high'), 1)
  assert.equal(await count('location_id=2&logger_id=2&severity=high&status=open'), 1)
  assert.equal(await count('status=verified'), 0)
  const past = await site.ask('GET', '/defects?offset=9&limit=999')
  assert.deepEqual(past.body, { data: [], meta: { count: 4, limit: 200, offset: 9 } })
})

test('who reads page by page meets each once, however many are reported meanwhile', async () => {
  await site.db.query('delete from defect_alerts; delete from defects')
  const times = (count: number) => Promise.all(Array.from({ length: count }, () => report()))
  const there = await times(20)
  const reporting = times(20)
  const met: number[] = []
  for (;;) {
    const { body } = await site.ask('GET', `/defects?limit=7&offset=${met.length}`)
    met.push(...body.data.map(({ defect_id }: { defect_id: number }) => defect_id))
    assert.ok(met.length <= body.meta.count, 'more were met than there are')
    if (met.length === body.meta.count) break
  }
  await reporting
  assert.equal(new Set(met).size, met.length)
  for (const { defect_id } of there) assert.ok(met.includes(defect_id))
})

test('work orders and their defects are changed at once without waiting for each other', async () => {
  const { wo_id } = await order()
  const made = await Promise.all(Array.from({ length: 6 }, () => report()))
  const ids = made.map(({ defect_id }) => defect_id)
  const answers = await Promise.all(
    ids.flatMap((defect_id, nth) => [
      change(defect_id, { wo_id: nth % 2 ? wo_id : null }),
      site.ask('PUT', `/work-orders/${wo_id}`, { body: { defect_ids: ids.slice(nth) } }),
    ]),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
})

test('people are told that there is one, and of every change', async () => {
  await site.db.query('delete from notification_reads; delete from om_notifications')
  const { defect_id, number } = await report({ severity: 'high', assigned_to: 'Ada' })
  await change(defect_id, { status: 'in_progress' })
  await change(defect_id, { temperature_delta_k: 12 })
  await change(defect_id, {})
  const { body } = await site.ask('GET', '/om/notifications')
  const told = body.data.map((one: Record<string, unknown>) => [one['type'], one['title']])
  assert.deepEqual(told, [
    ['defect_updated', `${number} was changed`],
    ['defect_updated', `${number} is in progress`],
    ['defect_created', `${number} was reported`],
  ])
  const [{ severity, recipient, resource_type, url }] = body.data
  assert.deepEqual([severity, recipient, resource_type], ['major', 'Ada', 'defect'])
  assert.equal(url, `/v1/sites/demo/defects/${defect_id}`)
})

test('a change that changes nothing leaves version and ETag, and a device says the place', async () => {
  const { body: made, etag } = await site.ask('POST', '/defects', {
    body: { title: 'Crack', severity: 'low', inverter_id: 1, detected_at: '2026-06-20T08:30:00Z' },
  })
  assert.deepEqual([made.location_id, made.logger_id], [2, 1])
  site.clock.set('2026-06-21T10:30:00Z')
  const { title, severity, status, inverter_id } = made
  const same = { title, severity, status, inverter_id, detected_at: '2026-06-20T10:30:00+02:00' }
  const unchanged = await change(made.defect_id, same)
  assert.deepEqual([unchanged.body.version, unchanged.etag], [1, etag])
})
