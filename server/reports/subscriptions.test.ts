/** Subscriptions over HTTP: what can be ordered, and what is refused and told. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { addKey } from '../fixtures/served-site.ts'
import { modules } from '../http/endpoint.ts'
import { order, type ServedReports, servedReports } from './fixtures/served-reports.ts'
import { makeReports } from './making.ts'
import { planReports } from './planning.ts'
import { isWithheld } from './reader.ts'

let served: ServedReports
before(async () => {
  served = await servedReports()
})
beforeEach(() => served.clear())
after(() => served.close())

interface Violation {
  location: string
  field: string
  code: string
}

/** The faults of an order, as `field code`. */
async function faultsOf(body: object, path = '/subscriptions', method = 'POST') {
  const answer = await served.ask(method, path, { body })
  assert.equal(answer.status, 422, JSON.stringify(answer.body))
  const errors: Violation[] = answer.body.error.details.errors
  assert.ok(errors.every(({ location }) => location === 'body'))
  return errors.map(({ field, code }) => `${field} ${code}`)
}

test('omitted fields have defaults, and the time zone of the site', async () => {
  const { etag: _, ...made } = await served.subscribe()
  assert.deepEqual(made, {
    sub_id: 1,
    name: 'Every morning',
    template_id: 'small',
    enabled: true,
    frequency: 'daily',
    day_of_week: null,
    day_of_month: null,
    time_of_day: '06:00',
    timezone: 'Europe/Berlin',
    period: 'previous_day',
    format: 'pdf',
    language: 'en',
    recipients: ['one@example.com'],
    webhook_id: null,
    parameters: { top_count: 10 },
    logger_ids: null,
    pending_recipients: [],
    next_run_at: '2026-06-22T04:00:00.000Z',
    last_run_at: null,
    last_run_status: null,
    last_run_id: null,
    failure_count: 0,
    created_by: '0123456789ab',
    ended_reason: null,
    created_at: '2026-06-21T10:00:00.000Z',
    updated_at: '2026-06-21T10:00:00.000Z',
  })
  const { body } = await served.ask('GET', '/subscriptions')
  assert.deepEqual(body, { data: [made], meta: { count: 1 } })
})

test('a day that not every month has is refused with the allowed days', async () => {
  const message = async (day_of_month: number) => {
    const body = { ...order, frequency: 'monthly', day_of_month }
    return (await served.ask('POST', '/subscriptions', { body })).body.error.details.errors[0]
      .message
  }
  assert.equal(await message(31), 'must be at most 28, or one of "last"')
  assert.equal(await message(0), 'must be at least 1, or one of "last"')
})

test('all faults of an order are reported at once, by field', async () => {
  const faults = await faultsOf({
    ...order,
    frequency: 'weekly',
    day_of_month: 3,
    timezone: '+02:00',
    period: 'previous_week',
    format: 'xlsx',
    recipients: ['one@example.com', 'ONE@example.com', 'a@b, c@d', 'x@y\r\nBcc: z@y'],
    webhook_id: 4,
    parameters: { top_count: 0, colour: 'red' },
    logger_ids: [1, 2],
  })
  assert.deepEqual(faults.toSorted(), [
    'day_of_month not_allowed_value',
    'day_of_week required',
    'format not_allowed_value',
    'logger_ids.1 unknown_logger',
    'parameters.colour unknown_field',
    'parameters.top_count out_of_range',
    'period not_allowed_value',
    'recipients.1 repeated_value',
    'recipients.2 invalid_format',
    'recipients.3 invalid_format',
    'timezone invalid_format',
    'webhook_id not_allowed_value',
  ])
  assert.deepEqual(await faultsOf({ ...order, template_id: 'none' }), [
    'template_id not_allowed_value',
  ])
  assert.deepEqual(
    await faultsOf({ ...order, name: 'two\nlines', recipients: [], day_of_week: 0, colour: 1 }),
    [
      'colour unknown_field',
      'name invalid_format',
      'day_of_week out_of_range',
      'recipients too_short',
    ],
  )
  for (const name of [' ', '\u200b\u00a0', '\u3164']) {
    assert.deepEqual(await faultsOf({ ...order, name }), ['name invalid_format'], name)
  }
  for (const logger_id of [-1, 2 ** 31, 1e15]) {
    const faults = await faultsOf({ ...order, logger_ids: [1, logger_id] })
    assert.deepEqual(faults, ['logger_ids.1 unknown_logger'])
  }
  const many = Array.from({ length: 51 }, (_, nth) => `n${nth}@example.com`)
  assert.deepEqual(await faultsOf({ ...order, recipients: many }), ['recipients too_long'])
  assert.equal((await served.ask('GET', '/subscriptions')).body.meta.count, 0)
})

test('a site has at most 200 subscriptions, also by simultaneous requests', async () => {
  const { sub_id } = await served.subscribe()
  await served.db.execute(
    `insert into report_subscriptions (site_id, name, template_id, enabled, frequency, time_of_day,
       timezone, period, format, language, recipients, parameters, created_by, created_at,
       updated_at)
     select site_id, name, template_id, false, frequency, time_of_day, timezone, period, format,
       language, recipients, parameters, created_by, created_at, updated_at
     from report_subscriptions, generate_series(1, 198) where sub_id = $1`,
    [sub_id],
  )
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => served.ask('POST', '/subscriptions', { body: order })),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted(),
    [201, 409, 409, 409, 409, 409, 409, 409],
  )
  assert.equal((await served.ask('GET', '/subscriptions')).body.meta.count, 200)
})

test('a change keeps omitted fields, except those that do not fit it', async () => {
  const { sub_id } = await served.subscribe({ frequency: 'weekly', day_of_week: 5 })
  const patch = (body: object) => served.ask('PATCH', `/subscriptions/${sub_id}`, { body })
  served.later(1000)
  const monthly = (await patch({ frequency: 'monthly', day_of_month: 'last' })).body
  assert.deepEqual(
    [monthly.day_of_week, monthly.day_of_month, monthly.name, monthly.next_run_at],
    [null, 'last', 'Every morning', '2026-06-30T04:00:00.000Z'],
  )
  assert.equal(monthly.updated_at, '2026-06-21T10:00:01.000Z')
  const stopped = (await patch({ enabled: false })).body
  assert.deepEqual([stopped.enabled, stopped.next_run_at], [false, null])
  const faults = await faultsOf({ frequency: 'weekly' }, `/subscriptions/${sub_id}`, 'PATCH')
  assert.deepEqual(faults, ['day_of_week required'])
  assert.equal((await served.ask('PATCH', '/subscriptions/99', { body: {} })).status, 404)
})

test('a due report stays due after a change of other fields than the schedule', async () => {
  const { sub_id } = await served.subscribe()
  served.at('2026-06-22T04:00:20Z')
  await served.ask('PATCH', `/subscriptions/${sub_id}`, { body: { name: 'Renamed' } })
  await planReports(served.server)
  assert.equal((await served.ask('GET', '/runs')).body.meta.count, 1)
})

test('a change or deletion with an outdated ETag is refused', async () => {
  const { sub_id, etag } = await served.subscribe()
  const path = `/subscriptions/${sub_id}`
  const match = { headers: { 'if-match': etag } }
  const renamed = await served.ask('PATCH', path, { body: { name: 'Other' }, ...match })
  assert.equal(renamed.status, 200)
  const late = await served.ask('PATCH', path, { body: { name: 'Late' }, ...match })
  assert.equal(late.status, 412)
  assert.equal(late.body.error.details.current_etag, renamed.headers.etag)
  assert.equal((await served.ask('DELETE', path, match)).status, 412)
  const unchanged = await served.ask('PATCH', path, { body: {} })
  assert.equal(unchanged.headers.etag, renamed.headers.etag)
  const now = { headers: { 'if-match': String(renamed.headers.etag) } }
  assert.equal((await served.ask('DELETE', path, now)).status, 204)
  assert.equal((await served.ask('DELETE', path)).status, 404)
})

test('a key without a scope gets the report without its sections', async () => {
  const narrow = await addKey(served.db, {
    key_id: 'aaaaaaaaaaaa',
    scopes: ['reports:read', 'reports:write'],
  })
  const file = async (run_id: string, key?: string) =>
    served.ask('GET', `/runs/${run_id}/file`, key ? { key } : {})
  const run = async (sub_id: number, key?: string) => {
    const queued = await served.ask('POST', `/subscriptions/${sub_id}/run`, key ? { key } : {})
    assert.equal(queued.status, 202)
    await makeReports(served.server)
    const { data } = (await served.ask('GET', '/runs', { key: narrow })).body
    return data.find(({ run_id }: { run_id: string }) => run_id === queued.body.run_id)
  }
  const { sub_id } = await served.subscribe()
  const whole = await run(sub_id, narrow)
  assert.deepEqual([whole.required_scopes, whole.omitted_sections], [['energy:read'], []])
  const refused = await file(whole.run_id, narrow)
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden_scope'])
  assert.equal(refused.body.error.details.required_scope, 'energy:read')
  assert.equal((await file(whole.run_id)).status, 200)

  const path = `/subscriptions/${sub_id}`
  const changed = await served.ask('PATCH', path, { body: { enabled: false }, key: narrow })
  assert.equal(changed.status, 200)
  const rest = await run(sub_id)
  assert.deepEqual([rest.required_scopes, rest.omitted_sections], [[], ['Order']])
  const { status, bytes } = await file(rest.run_id, narrow)
  const { sections, notes, data_completeness_pct } = JSON.parse(bytes.toString())
  assert.deepEqual([status, sections, data_completeness_pct], [200, [], null])
  assert.match(notes[0], /^Omitted: Order\..*lacks energy:read/)
  const made = await served.ask('POST', '/subscriptions', { body: order, key: narrow })
  assert.equal(made.status, 201)
})

test('sections of a lost module are omitted, and a queued mail is withheld', async () => {
  const { sub_id } = await served.subscribe()
  const { run_id } = (await served.ask('POST', `/subscriptions/${sub_id}/run`)).body
  await makeReports(served.server)
  const withheld = () =>
    isWithheld(served.db, { site_id: 'demo', run_id }, new Date('2026-06-21T10:00:00Z'))
  assert.equal(await withheld(), false)
  await served.db.execute("update clients set modules = '{bess}'")
  try {
    assert.equal(await withheld(), true)
  } finally {
    await served.db.execute('update clients set modules = $1', [modules])
  }
  await served.db.execute("update api_keys set revoked_at = '2026-06-21T09:00Z'")
  assert.equal(await withheld(), true)
  await served.db.execute('update api_keys set revoked_at = null')
})
