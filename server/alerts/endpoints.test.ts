import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { silent } from '../../test/postgres.ts'
import { addKey, noon, type ServedSite, servedSite } from '../fixtures/served-site.ts'
import { page_size } from './endpoints.ts'
import { evaluateSite, type RoundParts } from './evaluate.ts'
import type { Finding } from './finding.ts'

const minutes = (count: number) => new Date(noon.getTime() + 60_000 * count)

const fault = (inverter_id: number, changes: Partial<Finding> = {}): Finding => ({
  code: 'inverter_fault',
  source_type: 'inverter',
  source_id: String(inverter_id),
  inverter_id,
  since: minutes(-inverter_id),
  message: `Inverter ${inverter_id} is in fault.`,
  value: 3,
  unit: 'code',
  affected_power_kw: 60,
  vendor_codes: ['E14'],
  ...changes,
})

let served: ServedSite
let db: ServedSite['db']
let get: ServedSite['get']
let key: string

before(async () => {
  served = await servedSite()
  ;({ db, get } = served)
  key = await addKey(db, { key_id: 'aaaaaaaaaaaa' })
})
after(() => served.close())
beforeEach(() =>
  db.query(`
    delete from alert_transitions;
    delete from alerts;
    truncate site_ids`),
)

/** A round at that minute, which finds this. */
function round(minute: number, findings: Finding[]) {
  served.clock.set(minutes(minute))
  const parts: RoundParts = {
    db,
    log: silent,
    listeners: [],
    readSuppression: async () => () => null,
    sources: [
      {
        name: 'test',
        codes: ['inverter_fault'],
        scan: async () => ({ findings, isUnknown: () => false }),
      },
    ],
  }
  return evaluateSite(parts, 'demo', minutes(minute))
}

async function post(path: string, body?: unknown, presented = key) {
  const response = await served.app.inject({
    method: 'POST',
    url: `/v1/sites/demo/alerts/${path}`,
    headers: { authorization: `Bearer ${presented}` },
    ...(body === undefined ? {} : { payload: body as object }),
  })
  return { status: response.statusCode, body: response.json() }
}

const transitions = () =>
  db.query(
    `select at, from_status, to_status, changed_by, note from alert_transitions
     where alert_id = 1 order by transition_id`,
  )

const ids = (body: { data: { alert_id: number }[] }) => body.data.map(({ alert_id }) => alert_id)

test('alerts are listed by status, the newest start first', async () => {
  assert.deepEqual((await get('/alerts')).body, {
    data: [],
    meta: { count: 0, next_cursor: null },
  })
  await round(1, [fault(3), fault(1), fault(2)])
  const { body } = await get('/alerts')
  assert.deepEqual(
    body.data.map(({ inverter_id }: { inverter_id: number }) => inverter_id),
    [1, 2, 3],
  )
  const [newest, next, oldest] = ids(body)
  await post(`${next}/acknowledge`)
  await post(`${oldest}/resolve`)
  assert.deepEqual(ids((await get('/alerts')).body), [newest, next])
  const of = async (query: string) => {
    const { body } = await get(`/alerts?${query}`)
    assert.equal(body.meta.count, body.data.length)
    return ids(body)
  }
  assert.deepEqual(await of('status=active'), [newest])
  assert.deepEqual(await of('status=acknowledged'), [next])
  assert.deepEqual(await of('status=resolved'), [oldest])
  assert.deepEqual(await of('status=resolved&status=active&status=active'), [newest, oldest])
  for (const bad of [
    'status=open',
    'status=',
    'status=active,resolved',
    'limit=5',
    'state=active',
  ]) {
    assert.equal((await get(`/alerts?${bad}`)).status, 422, bad)
  }
})

test('the money of an alert is shown to nobody without `earnings:read`', async () => {
  await round(1, [fault(1)])
  await db.execute("update alerts set lost_amount = 0.73, currency = 'EUR'")
  const blind = await addKey(db, {
    key_id: 'cacacacacaca',
    scopes: ['alerts:read', 'alerts:write'],
  })
  const moneyOf = ({ lost_amount, lost_amount_reason, currency }: Record<string, unknown>) => [
    lost_amount,
    lost_amount_reason,
    currency,
  ]
  assert.deepEqual(moneyOf((await get('/alerts')).body.data[0]), [0.73, null, 'EUR'])
  const hidden = [null, 'forbidden_scope', null]
  const [alert] = (await get('/alerts', blind)).body.data
  assert.deepEqual(moneyOf(alert), hidden)
  const path = `${alert.alert_id}/acknowledge`
  assert.deepEqual(moneyOf((await post(path, undefined, blind)).body), hidden)
})

test('an alert tells what, where, since when and how much, and what sees to it', async () => {
  await round(1, [fault(1)])
  await round(3, [fault(1)])
  await db.query(`
    insert into work_orders (site_id, number, title, description, type, priority, status,
      created_by, created_at, updated_at)
    select 'demo', 'WO-' || n, 'Mend', '', 'corrective', 'normal', status, 'x', now(), now()
    from (values (1, 'approved'), (2, 'open'), (3, 'cancelled')) as w (n, status);
    insert into defects (site_id, number, title, severity, status, detected_at, reported_by,
      created_at, updated_at)
    values ('demo', 'DEF-1', 'Burnt', 'high', 'open', now(), 'x', now(), now());
    insert into work_order_alerts select 'demo', wo_id, 1 from work_orders;
    insert into defect_alerts values ('demo', 1, 1)`)
  const [alert] = (await get('/alerts')).body.data
  assert.deepEqual(alert, {
    alert_id: 1,
    code: 'inverter_fault',
    rule_id: 'inverter_fault',
    dedup_key: 'inverter_fault:inverter:1',
    title: 'An inverter is in fault',
    message: 'Inverter 1 is in fault.',
    category: 'equipment',
    severity: 'major',
    status: 'active',
    source_type: 'inverter',
    source_id: '1',
    logger_id: 1,
    inverter_id: 1,
    string_index: null,
    bess_id: null,
    node_id: null,
    location_id: 2,
    started_at: minutes(-1).toISOString(),
    detected_at: minutes(1).toISOString(),
    last_seen_at: minutes(3).toISOString(),
    ended_at: null,
    duration_s: 240,
    occurrence_count: 1,
    value: 3,
    threshold: null,
    unit: 'code',
    affected_power_kw: 60,
    lost_energy_kwh: 2,
    lost_amount: null,
    lost_amount_reason: null,
    currency: null,
    acknowledged_at: null,
    acknowledged_by: null,
    ack_note: null,
    resolved_at: null,
    resolved_by: null,
    resolution: null,
    resolution_note: null,
    suppressed: false,
    suppressed_reason: null,
    vendor_codes: ['E14'],
    recommended_action: "Look up its codes in the maker's manual; reset it only when that is safe.",
    work_order_id: 2,
    defect_id: 1,
    created_at: minutes(1).toISOString(),
    updated_at: minutes(3).toISOString(),
  })
})

test('people acknowledge and resolve, and every transition is recorded with who and when', async () => {
  await round(1, [fault(1)])
  served.clock.set(minutes(2))
  const first = await post('1/acknowledge', { note: 'On our way.' })
  assert.equal(first.status, 200)
  assert.equal(first.body.status, 'acknowledged')
  assert.deepEqual(
    [first.body.acknowledged_at, first.body.acknowledged_by, first.body.ack_note],
    [minutes(2).toISOString(), 'aaaaaaaaaaaa', 'On our way.'],
  )
  served.clock.set(minutes(3))
  const again = await post('1/acknowledge', { note: 'I, too.' })
  assert.deepEqual(again.body, { ...first.body, duration_s: 240 }, 'nothing but time passed')
  const resolved = await post('1/resolve', { note: 'It was reset.' })
  assert.equal(resolved.status, 200)
  const { status, resolution, resolved_by, resolution_note, ack_note } = resolved.body
  assert.deepEqual(
    [status, resolution, resolved_by, resolution_note, ack_note],
    ['resolved', 'manual', 'aaaaaaaaaaaa', 'It was reset.', 'On our way.'],
  )
  for (const action of ['acknowledge', 'resolve']) {
    const refused = await post(`1/${action}`)
    assert.equal(refused.status, 409)
    assert.equal(refused.body.error.code, 'conflict_state')
    assert.deepEqual(refused.body.error.details, {
      alert_id: 1,
      current_state: 'resolved',
      allowed_from: ['active', 'acknowledged'],
    })
  }
  assert.deepEqual(await round(4, [fault(1)]), [], 'it still holds, and was resolved by a person')
  await round(5, [])
  await round(10, [])
  await round(11, [fault(1)])
  const by = { changed_by: 'aaaaaaaaaaaa' }
  const system = { changed_by: 'system', note: null }
  assert.deepEqual(await transitions(), [
    { at: minutes(1), from_status: null, to_status: 'active', ...system },
    {
      at: minutes(2),
      from_status: 'active',
      to_status: 'acknowledged',
      ...by,
      note: 'On our way.',
    },
    {
      at: minutes(3),
      from_status: 'acknowledged',
      to_status: 'resolved',
      ...by,
      note: 'It was reset.',
    },
    { at: minutes(11), from_status: 'resolved', to_status: 'active', ...system },
  ])
  const [alert] = (await get('/alerts')).body.data
  assert.equal(alert.occurrence_count, 2)
  assert.equal(alert.acknowledged_by, 'aaaaaaaaaaaa', 'who took note of it before')
  assert.deepEqual([alert.resolved_by, alert.resolution], [null, null])
})

test('writes are refused where they must be', async () => {
  await round(1, [fault(1)])
  for (const id of ['2', '2147483647']) assert.equal((await post(`${id}/resolve`)).status, 404)
  for (const id of ['0', '-1', '1.5', 'a', '9999999999']) {
    assert.equal((await post(`${id}/resolve`)).status, 422, id)
  }
  for (const body of [
    { notes: 'x' },
    { note: 7 },
    { note: null },
    { note: 'x'.repeat(2001) },
    [],
  ]) {
    assert.equal((await post('1/resolve', body)).status, 422, JSON.stringify(body))
  }
  const reader = await addKey(db, { key_id: 'bbbbbbbbbbbb', scopes: ['alerts:read'] })
  assert.equal((await post('1/resolve', {}, reader)).status, 403)
  const strange = 'näh \u202e<script>=1+1 \u{1f525}'
  assert.equal((await post('1/resolve', { note: strange })).body.resolution_note, strange)
})

test('an alert of another site is not there', async () => {
  await round(1, [fault(1)])
  await db.query(`
    insert into sites (site_id, client_id, name) values ('other', 1, 'Other');
    delete from alert_transitions;
    update alerts set site_id = 'other'`)
  assert.equal((await get('/alerts')).body.meta.count, 0)
  assert.equal((await post('1/acknowledge')).status, 404)
})

test('of more than the answer holds the newest are listed, and all are counted', async () => {
  await db.execute(
    `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
       source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at,
       resolved_at, resolution)
     select 'demo', 'k' || n, 'gone_code', 'Of old', 'Of old.', 'equipment', 'info',
       case when n % 2 = 0 then 'active' else 'resolved' end, 'inverter', n::text,
       $1::timestamptz - n / 3 * interval '1 minute', now(), now(), now(), now(),
       case when n % 2 = 1 then now() end, case when n % 2 = 1 then 'auto' end
     from generate_series(1, $2) n`,
    [noon, 2 * page_size + 100],
  )
  const check = async (query: string, count: number) => {
    const { body } = await get(`/alerts${query}`)
    assert.equal(body.meta.count, count)
    assert.equal(body.data.length, page_size)
    const keys = body.data.map(
      ({ started_at, alert_id }: { started_at: string; alert_id: number }) =>
        `${started_at} ${String(alert_id).padStart(9, '0')}`,
    )
    assert.deepEqual(keys, [...keys].sort().reverse())
    assert.equal(body.data[0].recommended_action, null)
  }
  await check('', page_size + 50)
  await check('?status=resolved', page_size + 50)
  await check('?status=resolved&status=active', 2 * page_size + 100)
})
