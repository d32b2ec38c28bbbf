import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import {
  type Browser,
  type ServedPlatform,
  servedPlatform,
} from '../access/fixtures/served-platform.ts'
import { addBatteries, bessValues } from '../batteries/fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../batteries/fixtures/schedule-site.ts'
import { addKey, addReading } from '../fixtures/served-site.ts'

const site_id = 'first'
/** Sessions are dated by the clock of the machine. */
const today = utcDate(Date.now() + day_ms)
const noon = new Date(`${today}T10:00:00Z`)

let platform: ServedPlatform
let operator: Browser
let key: string

before(async () => {
  platform = await servedPlatform()
  const { db, clock, person } = platform
  clock.set(noon)
  operator = await person('operator', 'operator@example.com')
  key = await addKey(db, { key_id: 'aaaaaaaaaaaa' })
  await db.query(`
    create table bess_readings_any partition of bess_readings default;
    update sites set inventory = '{"timezone": "Europe/Berlin", "currency": "EUR"}',
      inventory_at = now(), safe_mode_since_at = null;
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at)
    select 'first', id, 'Plant ' || id, 100, 100, now(), now() from generate_series(1, 2) as id`)
  await addBatteries(db, { site_id })
  await assignMarket(db, { site_id })
})
after(() => platform.close())
beforeEach(async () => {
  const { db, clock } = platform
  await db.query(`truncate proposals, published_events, om_notifications cascade;
    delete from curtailment_rows; delete from curtailment_groups; delete from battery_schedules;
    delete from market_prices;
    update sites set safe_mode_since_at = null; update loggers set retired_at = null;
    update api_keys set revoked_at = null`)
  clock.set(new Date(noon))
  await addPrices(db, { date: today })
  await addReading(db, 'bess', {
    ...bessValues({ soc_pct: 60 }),
    site_id,
    bess_id: 1,
    measured_at: clock.now().toISOString(),
  })
})

const window = { start_at: `${today}T11:00:00Z`, end_at: `${today}T13:30:00Z` }
const limit = { scope: 'site', limit_mode: 'percent', limit_value: 60, ...window }
const reason = 'The price is below 0.'

async function propose(path: string, body: object, authorization = `Bearer ${key}`) {
  const url = `/mcp/sites/${site_id}/${path}`
  return platform.browser().ask('POST', url, { body, headers: { authorization } })
}

async function proposed(path = 'curtailment-proposals', body: object = { ...limit, reason }) {
  const answer = await propose(path, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

const decide = (
  verb: 'approve' | 'reject',
  { proposal_id }: { proposal_id: number },
  note?: string,
) =>
  operator.ask('POST', `/platform/proposals/${verb}`, {
    body: { site_id, proposal_id, ...(verb === 'reject' && { note: note ?? null }) },
  })

/** What an approval is refused with. */
async function refusal(proposal: { proposal_id: number }) {
  const { status, body } = await decide('approve', proposal)
  const { code, details } = body.error
  return [status, code, details?.current_state ?? details?.errors?.[0].field]
}

const groups = () => platform.db.query('select created_by from curtailment_groups')
const schedules = () =>
  platform.db.query('select state, created_by, approved_by from battery_schedules')

test('a proposal commands nothing, and is executed as the person who approves it', async () => {
  const { db } = platform
  const made = await proposed()
  assert.equal(made.status, 'waiting')
  assert.equal(Date.parse(made.lapses_at) - Date.parse(made.made_at), hour_ms)
  assert.deepEqual(made.curtailment.limits[0], {
    logger_id: 1,
    rated_power_kw: 100,
    max_power_kw: 60,
  })
  assert.deepEqual(made.curtailment.warnings, ['logger_offline'])
  assert.deepEqual(await groups(), [])
  const [event] = await db.query<{ type: string; record: object }>(
    'select type, record from published_events',
  )
  assert.equal(event?.type, 'proposal.made')
  assert.ok(!JSON.stringify(event.record).includes('limit_value'), 'the command needs its scope')
  const [notice] = await db.query<{ title: string }>('select title from om_notifications')
  assert.equal(notice?.title, 'aaaaaaaaaaaa proposes a curtailment')
  const { body: listed } = await operator.ask('GET', `/platform/proposals?site_id=${site_id}`)
  assert.deepEqual(listed, { data: [made], meta: { count: 1, next_cursor: null } })
  const { status, body } = await decide('approve', made)
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.status, body.decided_by], ['approved', 'The operator'])
  assert.deepEqual(await groups(), [{ created_by: 'The operator' }])
  const [group] = await db.query('select group_id from curtailment_groups')
  assert.deepEqual(group, { group_id: body.result_id })
  assert.deepEqual(await refusal(made), [409, 'conflict_state', 'approved'])
  assert.equal((await groups()).length, 1)
})

test('the audit names the agent and the person', async () => {
  const made = await proposed()
  await decide('approve', made)
  const [by_key] = await platform.db.query<{ key_name: string; path: string }>(
    'select key_name, path from write_audit order by at desc limit 1',
  )
  assert.deepEqual(by_key, {
    key_name: 'aaaaaaaaaaaa',
    path: '/mcp/sites/first/curtailment-proposals',
  })
  const [approval] = await platform.db.query<{ key_name: string; path: string; answer: string }>(
    `select key_name, path, answer from client_audit
     where path like '%approve' and (body::json ->> 'proposal_id')::int = $1`,
    [made.proposal_id],
  )
  assert.equal(approval?.key_name, 'The operator')
  assert.match(approval.answer, /"made_by":"aaaaaaaaaaaa"/)
})

test('what has lapsed, lost its key or was rejected is not approved', async () => {
  const { db, clock } = platform
  const lapsed = await proposed()
  clock.set(new Date(noon.getTime() + 61 * minute_ms))
  assert.deepEqual(await refusal(lapsed), [409, 'conflict_state', 'lapsed'])
  const revoked = await proposed()
  await db.execute('update api_keys set revoked_at = $1', [clock.now()])
  assert.deepEqual(await refusal(revoked), [409, 'conflict_state', 'key_ended'])
  await db.execute("update api_keys set revoked_at = null, scopes = '{plant:read}'")
  assert.deepEqual(await refusal(revoked), [409, 'conflict_state', 'key_ended'])
  await db.execute("update api_keys set scopes = '{curtailment:write,bess:write}'")
  const { body } = await decide('reject', revoked, 'No.')
  assert.deepEqual([body.status, body.note], ['rejected', 'No.'])
  assert.deepEqual(await refusal(revoked), [409, 'conflict_state', 'rejected'])
  assert.deepEqual(await refusal({ proposal_id: 4711 }), [404, 'not_found', undefined])
  assert.deepEqual(await groups(), [])
})

test('an approval is checked anew', async () => {
  const { db, clock } = platform
  const made = await proposed()
  await db.execute('update sites set safe_mode_since_at = $1', [clock.now()])
  assert.deepEqual(await refusal(made), [409, 'conflict_safe_mode', undefined])
  await db.execute('update sites set safe_mode_since_at = null')
  await db.execute('update loggers set retired_at = $1', [clock.now()])
  assert.deepEqual(await refusal(made), [409, 'conflict_state', 'no_plants'])
  await db.execute('update loggers set retired_at = null')
  assert.equal((await decide('approve', made)).status, 200)
})

test('a battery plan is made and approved as it was shown', async () => {
  const made = await proposed('battery-plan-proposals', { bess_id: 1, reason })
  const { hours, target_date, totals } = made.battery_plan
  assert.equal(target_date, today)
  assert.ok(hours.some(({ power_kw }: { power_kw: number }) => power_kw > 0))
  assert.equal(totals.currency, 'EUR')
  assert.deepEqual(await schedules(), [])
  const { status, body } = await decide('approve', made)
  assert.equal(status, 200, JSON.stringify(body))
  const by = 'The operator'
  assert.deepEqual(await schedules(), [{ state: 'approved', created_by: by, approved_by: by }])
})

test('a battery plan that has changed is not approved', async () => {
  const { db } = platform
  const made = await proposed('battery-plan-proposals', { bess_id: 1, reason })
  await db.execute('update market_prices set price = 200 - price')
  assert.deepEqual(await refusal(made), [409, 'conflict_state', 'plan_changed'])
  assert.deepEqual(await schedules(), [])
})

test('only a key with the scope proposes, and no key decides', async () => {
  const { db } = platform
  const body = { ...limit, reason }
  const scopes = ['plant:read', 'curtailment:read', 'bess:write'] as const
  const reader = await addKey(db, { key_id: 'bbbbbbbbbbbb', scopes: [...scopes] })
  const codeOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [
    status,
    body.error.code,
  ]
  assert.deepEqual(codeOf(await propose('curtailment-proposals', body, `Bearer ${reader}`)), [
    403,
    'forbidden_scope',
  ])
  const foreign = await addKey(db, { key_id: 'cccccccccccc', client_id: 2 })
  assert.deepEqual(codeOf(await propose('curtailment-proposals', body, `Bearer ${foreign}`)), [
    404,
    'not_found',
  ])
  const url = `/mcp/sites/${site_id}/curtailment-proposals`
  assert.deepEqual(codeOf(await operator.ask('POST', url, { body })), [401, 'missing_api_key'])
  const { proposal_id } = await proposed()
  const headers = { authorization: `Bearer ${key}` }
  const asked = { body: { site_id, proposal_id }, headers }
  const by_key = await platform.browser().ask('POST', '/platform/proposals/approve', asked)
  assert.deepEqual(codeOf(by_key), [401, 'not_signed_in'])
})

test('bad input is refused by the name of its field, and few proposals wait', async () => {
  const fieldOf = async (path: string, body: object) => {
    const answer = await propose(path, body)
    return [answer.status, answer.body.error.details?.errors?.[0].field]
  }
  const curtailment = 'curtailment-proposals'
  assert.deepEqual(await fieldOf(curtailment, limit), [422, 'reason'])
  assert.deepEqual(await fieldOf(curtailment, { ...limit, reason, scope: 'logger' }), [
    422,
    'logger_id',
  ])
  const over = {
    ...limit,
    reason,
    start_at: '2026-06-20T11:00:00Z',
    end_at: '2026-06-20T12:00:00Z',
  }
  assert.deepEqual(await fieldOf(curtailment, over), [422, 'end_at'])
  const late = { bess_id: 1, reason, target_date: '2036-07-21' }
  assert.deepEqual(await fieldOf('battery-plan-proposals', late), [422, 'target_date'])
  assert.equal((await propose('battery-plan-proposals', { bess_id: 9, reason })).status, 404)
  for (let nth = 0; nth < 20; nth += 1) {
    platform.clock.set(new Date(noon.getTime() + nth * minute_ms))
    await proposed()
  }
  const { status, body } = await propose(curtailment, { ...limit, reason })
  assert.deepEqual([status, body.error.details.current_state], [409, 'too_many_waiting'])
})
