/** A site is added on the platform, and a gateway becomes its edge by a one-time code. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { authenticateEdge } from '../link/presence.ts'
import { type Browser, origin, platformOfFile } from './fixtures/served-platform.ts'
import { deleteOldSignIns } from './sign-in-lock.ts'

const platform = platformOfFile({ public_url: origin })
let administrator: Browser
let count = 0

test('an administrator adds a site in safe mode, and nobody else does', async () => {
  administrator = await platform.person('administrator', 'admin@example.com')
  const operator = await platform.person('operator', 'operator@example.com')
  const add = async (change: object = {}, by = administrator) => {
    const body = { site_id: 'north-field', name: 'North field', ...change }
    const { status, body: answer } = await by.ask('POST', '/platform/sites', { body })
    const [wrong] = answer.error?.details?.errors ?? []
    return [status, wrong?.field ?? answer.error?.code ?? answer]
  }
  assert.deepEqual(await add({}, operator), [403, 'forbidden_role'])
  const site = { site_id: 'north-field', name: 'North field', commissioning_safe_mode: true }
  assert.deepEqual(await add(), [201, site])
  assert.deepEqual(await add(), [422, 'site_id'], 'of this client')
  assert.deepEqual(await add({ site_id: 'foreign' }), [422, 'site_id'], 'of another client')
  for (const site_id of ['', 'North', '-north', 'a'.repeat(65), 'a b']) {
    assert.deepEqual(await add({ site_id }), [422, 'site_id'])
  }
  for (const name of ['', ' x', 'a'.repeat(101), 'a\u0007b', 'a\u202eb']) {
    assert.deepEqual(await add({ site_id: 'other', name }), [422, 'name'], name)
  }
  const sites = await administrator.ask('GET', '/v1/sites')
  const listed = sites.body.data.find((one: { site_id: string }) => one.site_id === 'north-field')
  assert.equal(listed.commissioning_safe_mode, true)
  assert.equal(
    (await operator.ask('POST', '/v1/sites/north-field/work-orders', { body: { title: 'x' } })).body
      .error.code,
    'conflict_safe_mode',
  )
})

async function newSite(): Promise<string> {
  count += 1
  const body = { site_id: `site-${count}`, name: `Site ${count}` }
  assert.equal((await administrator.ask('POST', '/platform/sites', { body })).status, 201)
  return body.site_id
}

async function newCode(site_id: string) {
  const made = await administrator.ask('POST', '/platform/enrolments', { body: { site_id } })
  assert.equal(made.status, 201)
  return made.body as { code: string; enrolment_id: string; server_url: string }
}

async function exchange(code: string, gateway = 'gateway-1', by = platform.browser()) {
  const body = { code, gateway, agent_version: '9.8.7' }
  const { status, body: answer } = await by.ask('POST', '/platform/enrolments/exchange', { body })
  assert.equal(status, 200, JSON.stringify(answer))
  return answer
}

const look = async (token: string) =>
  (await platform.browser().ask('POST', '/platform/enrolments/look', { body: { token } })).body
    .state

const stateOf = async (site_id: string, id: string) => {
  const { body } = await administrator.ask('GET', `/platform/enrolments?site_id=${site_id}`)
  return body.data.find((one: { enrolment_id: string }) => one.enrolment_id === id).state
}

const decide = async (method: 'POST' | 'DELETE', id: string) => {
  const path = `/platform/enrolments/${id}${method === 'POST' ? '/confirm' : ''}`
  const { status, body } = await administrator.ask(method, path, { body: {} })
  return [status, body.state ?? body.error.details?.current_state ?? body.error.code]
}

const isAccepted = async (token: string) =>
  (await authenticateEdge(platform.db, `Bearer ${token}`)) !== null

/** As if the agent with the token had connected. */
const connect = (token: string) =>
  platform.db.execute('update edges set last_seen_at = $2 where edge_id = $1', [
    token.split('_')[1],
    platform.clock.now(),
  ])

test('a code enrols the first gateway of a site, once, however it is typed', async () => {
  const site_id = await newSite()
  const made = await newCode(site_id)
  assert.match(made.code, /^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
  assert.equal(made.server_url, origin)
  const typed = made.code
    .toLowerCase()
    .replaceAll('-', ' ')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
  const { token, ...rest } = await exchange(typed)
  const name = `Site ${count}`
  assert.deepEqual(rest, { state: 'enrolled', reason: null, site_id, site_name: name })
  assert.deepEqual(await isAccepted(token), true)
  assert.equal(await look(token), 'enrolled')
  assert.equal(
    await look(token.replace(/.$/, (digit: string) => (digit === '0' ? '1' : '0'))),
    'refused',
  )
  const again = await exchange(made.code)
  assert.deepEqual([again.state, again.reason, again.token], ['refused', 'used', null])
  await platform.db.execute("update edges set agent_version = '0.10.0' where site_id = $1", [
    site_id,
  ])
  const edges = await administrator.ask('GET', `/platform/edges?site_id=${site_id}`)
  assert.deepEqual(
    edges.body.data.map((edge: Record<string, unknown>) => [
      edge['name'],
      edge['is_connected'],
      edge['server_version'],
      edge['is_outdated'],
    ]),
    [['gateway-1', false, '1.0.0', true]],
  )
})

test('the code and the token are in no table and no list', async () => {
  const site_id = await newSite()
  const { code } = await newCode(site_id)
  const { token } = await exchange(code)
  const [row] = await platform.db.query<{ text: string }>(
    `select string_agg(e::text, '') || (select string_agg(c::text, '') from client_audit c) ||
       (select string_agg(x::text, '') from edges x) as text from enrolments e`,
  )
  const secret = code.replaceAll('-', '').slice(6)
  for (const hidden of [code, secret, token, token.split('_')[2]]) {
    assert.ok(!row!.text.includes(hidden))
  }
})

test('a code lives for an hour, for five tries, and until it is revoked or replaced', async () => {
  const site_id = await newSite()
  const replaced = await newCode(site_id)
  const revoked = await newCode(site_id)
  assert.equal((await exchange(replaced.code)).reason, 'revoked')
  assert.deepEqual(await decide('DELETE', revoked.enrolment_id), [200, 'revoked'])
  assert.equal((await exchange(revoked.code)).reason, 'revoked')
  assert.equal((await exchange('0000-0000-0000-0000')).reason, 'unknown')
  assert.equal((await exchange('not a code')).reason, 'unknown')

  const guessed = await newCode(site_id)
  const wrong = `${guessed.enrolment_id}0000000000`
  for (let nth = 0; nth < 4; nth += 1) assert.equal((await exchange(wrong)).reason, 'unknown')
  assert.equal(await stateOf(site_id, guessed.enrolment_id), 'open')
  assert.equal((await exchange(wrong)).reason, 'unknown')
  assert.equal(await stateOf(site_id, guessed.enrolment_id), 'locked')
  assert.equal((await exchange(guessed.code)).reason, 'locked')

  const late = await newCode(site_id)
  const made_at = platform.clock.now()
  platform.clock.set(new Date(made_at.getTime() + hour_ms))
  assert.equal((await exchange(late.code)).reason, 'expired')
  assert.equal(await stateOf(site_id, late.enrolment_id), 'expired')
  platform.clock.set(made_at)
})

test('a gateway takes a site over only when a person confirms, and the old token ends', async () => {
  const site_id = await newSite()
  const old = await exchange((await newCode(site_id)).code, 'old')
  await connect(old.token)
  const refused = await newCode(site_id)
  const first = await exchange(refused.code, 'wrong one')
  assert.equal(first.state, 'waiting')
  assert.deepEqual([await isAccepted(first.token), await look(first.token)], [false, 'waiting'])
  assert.deepEqual(await decide('DELETE', refused.enrolment_id), [200, 'revoked'])
  assert.equal(await look(first.token), 'refused')
  assert.deepEqual(await decide('POST', refused.enrolment_id), [409, 'revoked'])

  const taken = await newCode(site_id)
  const waiting = await exchange(taken.code, 'new one')
  assert.deepEqual([await isAccepted(old.token), await isAccepted(waiting.token)], [true, false])
  const others = await platform.person('administrator', 'others@example.com', 2)
  const foreign = await others.ask('POST', `/platform/enrolments/${taken.enrolment_id}/confirm`)
  assert.equal(foreign.status, 404)
  assert.deepEqual(await decide('POST', taken.enrolment_id), [200, 'enrolled'])
  assert.deepEqual([await isAccepted(old.token), await isAccepted(waiting.token)], [false, true])
  assert.deepEqual([await look(old.token), await look(waiting.token)], ['refused', 'enrolled'])
  assert.deepEqual(await decide('POST', taken.enrolment_id), [409, 'enrolled'])
  assert.deepEqual(await decide('DELETE', taken.enrolment_id), [200, 'enrolled'])
  assert.equal(await isAccepted(waiting.token), true)
})

test('a confirmation has an hour of its own, and an edge that never connected needs none', async () => {
  const site_id = await newSite()
  const unused = await exchange((await newCode(site_id)).code)
  const { code } = await newCode(site_id)
  const second = await exchange(code)
  assert.deepEqual([second.state, await isAccepted(unused.token)], ['enrolled', false])
  await connect(second.token)
  const made = await newCode(site_id)
  const made_at = platform.clock.now().getTime()
  platform.clock.set(new Date(made_at + 59 * minute_ms))
  const waiting = await exchange(made.code)
  platform.clock.set(new Date(made_at + 118 * minute_ms))
  assert.equal(await look(waiting.token), 'waiting')
  platform.clock.set(new Date(made_at + 120 * minute_ms))
  assert.equal(await look(waiting.token), 'refused')
  assert.deepEqual(await decide('POST', made.enrolment_id), [409, 'expired'])
  platform.clock.set(new Date(made_at))
})

test('only one of several gateways gets a token for a code', async () => {
  const site_id = await newSite()
  const { code } = await newCode(site_id)
  const answers = await Promise.all([1, 2, 3, 4].map((nth) => exchange(code, `gateway-${nth}`)))
  assert.deepEqual(answers.map(({ reason }) => reason).sort(), [null, 'used', 'used', 'used'])
})

test('what is wrong in an exchange is named', async () => {
  const wrong = async (change: object, path = 'exchange') => {
    const given = { code: '0000-0000-0000-0000', gateway: 'gateway', agent_version: '1.0.0' }
    const body = path === 'exchange' ? { ...given, ...change } : change
    const asked = await platform.browser().ask('POST', `/platform/enrolments/${path}`, { body })
    return [asked.status, asked.body.error.details.errors[0].field]
  }
  assert.deepEqual(await wrong({ code: '' }), [422, 'code'])
  assert.deepEqual(await wrong({ gateway: ' x' }), [422, 'gateway'])
  assert.deepEqual(await wrong({ agent_version: 'x'.repeat(61) }), [422, 'agent_version'])
  assert.deepEqual(await wrong({ token: 'edge_x' }, 'look'), [422, 'token'])
  const order = { body: { site_id: 'foreign' } }
  const made = await administrator.ask('POST', '/platform/enrolments', order)
  assert.deepEqual([made.status, made.body.error.details.errors[0].field], [422, 'site_id'])
})

test('exchanges are audited, and old enrolments are deleted', async () => {
  const site_id = await newSite()
  const { code, enrolment_id } = await newCode(site_id)
  await exchange(`${enrolment_id}0000000000`, 'guess', platform.browser('203.0.113.9'))
  await exchange(code, 'cabinet', platform.browser('203.0.113.9'))
  const { body } = await administrator.ask('GET', '/platform/audit')
  const noted = body.data
    .filter(({ address }: { address: string }) => address === '203.0.113.9')
    .map((one: { by: string; by_name: string; body: string; address: string }) => [
      one.by,
      one.by_name,
      JSON.parse(one.body).state,
      one.address,
    ])
  assert.deepEqual(noted, [
    ['gateway', 'cabinet', 'enrolled', '203.0.113.9'],
    ['gateway', 'guess', 'refused', '203.0.113.9'],
  ])
  const later = new Date(platform.clock.now().getTime() + 31 * 24 * hour_ms)
  await deleteOldSignIns(platform.db, later)
  assert.deepEqual(await platform.db.query('select from enrolments'), [])
})
