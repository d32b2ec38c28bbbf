import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import test, { after, before } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { silent } from '../../test/postgres.ts'
import { addBatteries, addBatteryReadings } from '../batteries/fixtures/battery-site.ts'
import { addKey, addReading, type ServedSite, servedSite } from '../fixtures/served-site.ts'
import { createMcp, tools } from './mcp.ts'

const at = '2026-06-21T09:59:50Z'
const public_url = 'https://plants.example.com'

let site: ServedSite
let address: string
let key: string

before(async () => {
  const keyed_path = createMcp({ public_url, version: '1', log: silent })
  site = await servedSite({ keyed_path })
  const { db } = site
  key = await addKey(db, { key_id: 'aaaaaaaaaaaa' })
  await addReading(db, 'inverter', {
    inverter_id: 1,
    measured_at: at,
    ac_power_kw: 40,
    state: 'mppt',
  })
  await addBatteries(db)
  await addBatteryReadings(db, at)
  await db.execute(
    `INSERT INTO alerts (site_id, alert_id, code, title, message, category, severity, status,
       source_type, source_id, inverter_id, string_index, started_at, detected_at, last_seen_at,
       dedup_key, lost_energy_kwh, created_at, updated_at)
     VALUES ('demo', 118, 'string_zero_current', 'A string delivers no current',
       'String 3 of inverter 1 | carries 0 A.', 'production', 'major', 'active', 'string', '1.3',
       1, 3, $1, $1, $1, 'string_zero_current:string:1.3', 8.075, $1, $1)`,
    [at],
  )
  await site.app.listen({ port: 0 })
  const { port } = site.app.server.address() as AddressInfo
  address = `http://127.0.0.1:${port}/mcp`
})
after(() => site.close())

async function connected(presented: string, mode: 'auto' | 'legacy' = 'auto') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${presented}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }),
  )
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given })
    const [first] = content
    assert.ok(first?.type === 'text')
    return { text: first.text, is_error: isError === true }
  }
  return { client, call }
}

test('an agent asks in the order that the descriptions suggest', async (t) => {
  const { client, call } = await connected(key)
  t.after(() => client.close())
  assert.match(client.getInstructions() ?? '', /Begin with list_sites/)
  const listed = await client.listTools()
  assert.deepEqual(
    listed.tools.map(({ name }) => name),
    tools.map(({ name }) => name),
  )
  const first = listed.tools.find(({ description }) => description?.startsWith('Start here'))!
  const sites = await call(first.name)
  assert.match(sites.text, /\| demo \| Demo Park \|/)
  const problems = await call('current_problems')
  assert.match(problems.text, /^1 open alerts at 1 sites, lost energy 8.075 kWh/)
  assert.match(problems.text, /\| demo \| 118 \| major \|/)
  assert.match(problems.text, /inverter 1 \\\| carries/)
  assert.match(problems.text, /https:\/\/plants\.example\.com\/sites\/demo\/alerts/)
  const alert = await call('explain_alert', { site_id: 'demo', alert_id: 118 })
  assert.match(alert.text, /recommended_action: \w/)
  for (const { name, proposes } of tools) {
    if (name === 'list_sites' || name === 'explain_alert' || proposes) continue
    const { text, is_error } = await call(name, { site_id: 'demo' })
    if (name === 'market_prices') assert.match(text, /no_market/)
    else assert.equal(is_error, false, `${name}: ${text}`)
    assert.ok(text.length < 8000, `${name} answers with ${text.length} characters`)
  }
  const limit = { scope: 'site', limit_mode: 'kw', limit_value: 150 }
  const window = { start_at: '2026-06-21T11:00:00Z', end_at: '2026-06-21T12:00:00Z' }
  const order = { site_id: 'demo', ...limit, ...window, reason: 'The price is below 0.' }
  const proposal = await call('propose_curtailment', order)
  assert.match(proposal.text, /^Proposal 1 waits for a person until 2026-06-21T11:00:00.000Z/)
  assert.match(proposal.text, /\| 1 \| 200 \| 100 \|/)
  const past = { ...order, start_at: '2026-06-21T08:00:00Z', end_at: '2026-06-21T09:00:00Z' }
  assert.match((await call('propose_curtailment', past)).text, /^validation_error: .*"end_at"/)
  const own = await call('list_proposals', { site_id: 'demo' })
  assert.match(own.text, /\| 1 \| curtailment \| waiting \| The price is below 0. \|/)
  const plan = await call('propose_battery_plan', {
    site_id: 'demo',
    bess_id: 1,
    reason: 'Prices.',
  })
  assert.match(plan.text, /^conflict_state: .*"current_state":"no_market"/)
  const batteries = await call('battery_plan', { site_id: 'demo' })
  assert.match(batteries.text, /## Battery 1: Battery South/)
})

test('a key has the tools of its scopes, and the sites that it may see', async (t) => {
  const scopes = ['plant:read' as const]
  const few = await connected(await addKey(site.db, { key_id: 'bbbbbbbbbbbb', scopes }))
  t.after(() => few.client.close())
  const names = (await few.client.listTools()).tools.map(({ name }) => name)
  assert.deepEqual(names, ['list_sites', 'site_now', 'list_proposals'])
  assert.match((await few.call('current_problems')).text, /^unknown_tool/)
  const none = await connected(
    await addKey(site.db, { key_id: 'cccccccccccc', site_ids: ['other'] }),
  )
  t.after(() => none.client.close())
  assert.deepEqual(await none.call('site_now', { site_id: 'demo' }), {
    text: 'not_found: The resource does not exist.',
    is_error: true,
  })
})

test('errors name the field', async (t) => {
  const { client, call } = await connected(key)
  t.after(() => client.close())
  const bad = await call('explain_alert', { alert_id: 'x', more: 1 })
  assert.equal(bad.is_error, true)
  for (const field of ['site_id', 'alert_id', 'more'])
    assert.match(bad.text, new RegExp(`"${field}"`))
  const late = await call('energy_report', { site_id: 'demo', start: '2026-06-21T00:00:00' })
  assert.match(late.text, /^validation_error:.*"start"/)
  const none = await call('explain_alert', { site_id: '../sites', alert_id: 1 })
  assert.match(none.text, /^not_found/)
})

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'older', version: '1' },
  },
}

const post = (headers: Record<string, string>, payload: object = initialize) =>
  site.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    payload,
  })

test('clients of both generations of the protocol are answered, and no stream stays open', async (t) => {
  for (const mode of ['auto', 'legacy'] as const) {
    const { client, call } = await connected(key, mode)
    t.after(() => client.close())
    assert.equal(client.getProtocolEra(), mode === 'auto' ? 'modern' : 'legacy')
    assert.match((await call('list_sites')).text, /Demo Park/)
    await assert.rejects(client.listen({ toolsListChanged: true }))
  }
})

test('requests need a key, and pages of other origins are refused', async () => {
  const codeOf = async (headers: Record<string, string>) => {
    const { statusCode, payload } = await post(headers)
    return [statusCode, JSON.parse(payload).error.code]
  }
  assert.deepEqual(await codeOf({ authorization: '' }), [401, 'missing_api_key'])
  const rebound = { origin: 'http://evil.example:8080', host: 'evil.example:8080' }
  assert.deepEqual(await codeOf(rebound), [403, 'cross_site_request'])
  assert.deepEqual(await codeOf({ origin: 'null' }), [403, 'cross_site_request'])
  assert.equal((await post({ origin: public_url })).statusCode, 200)
  const { statusCode, headers } = await site.app.inject({ url: '/mcp' })
  assert.deepEqual([statusCode, headers['allow']], [405, 'POST'])
})

test('operations of a tool count in the rate of the key', async () => {
  const slow = await addKey(site.db, { key_id: 'dddddddddddd' })
  await site.db.execute("UPDATE api_keys SET general_per_minute = 5 WHERE key_id = 'dddddddddddd'")
  const headers = { authorization: `Bearer ${slow}` }
  const answers: string[] = []
  for (const id of [1, 2, 3]) {
    const params = { name: 'list_sites', arguments: {} }
    answers.push(
      (await post(headers, { jsonrpc: '2.0', id, method: 'tools/call', params })).payload,
    )
  }
  assert.match(answers[1]!, /Demo Park/)
  assert.match(answers[2]!, /"text":"rate_limited: /)
})

test('malformed messages are refused, and none fails the server', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const messages: object[] = [
    {},
    { jsonrpc: '2.0', id: {}, method: 5 },
    { ...call, params: null },
    { ...call, params: { name: {} } },
    { ...call, params: { name: 'site_now', arguments: [] } },
    { ...call, params: { name: 'site_now', arguments: { site_id: 'a\u0000b' } } },
    { ...call, params: { name: '__proto__', arguments: {} } },
    { ...call, method: 'subscriptions/listen', params: {} },
  ]
  for (const message of messages) {
    const { statusCode, payload } = await post({}, message)
    assert.ok(statusCode < 500, `${statusCode} ${JSON.stringify(message)}`)
    assert.ok(!payload.includes('internal_error'), payload)
  }
  for (const batch of [[], [null], [{ ...call, method: 'ping' }]]) {
    assert.equal((await post({}, batch)).statusCode, 422)
  }
  const accept = await post({ accept: 'text/html' })
  assert.equal(accept.statusCode, 406)
})

test('nothing runs after the answer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await post({})
  const before = timers()
  for (let nth = 0; nth < 20; nth += 1) await post({})
  assert.equal(timers(), before)
})
