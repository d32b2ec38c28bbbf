/** The list of writes as operators see it, after writes to the API as it is. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'
import { addAuditCommand } from '@heliograph/cli/audit'
import { type Cli, Reporting } from '@heliograph/cli/command'
import { confirm } from '@heliograph/cli/terminal'
import { AdminError } from '../server/access/admin.ts'
import { auditOperator, auditSignIn } from '../server/access/sign-in-audit.ts'
import { addKey, noon, type ServedSite, servedSite } from '../server/fixtures/served-site.ts'

let site: ServedSite
let owner: string
let reader: string
before(async () => {
  site = await servedSite()
  owner = await addKey(site.db, { key_id: 'aaaaaaaaaaaa' })
  reader = await addKey(site.db, { key_id: 'bbbbbbbbbbbb', scopes: ['curtailment:read'] })
  await site.db.execute("update api_keys set name = 'trader' where key_id = 'aaaaaaaaaaaa'")
  await site.db.execute("insert into sites (site_id, client_id, name) values ('other', 1, 'Other')")
  await addWrites()
})
after(() => site.close())

let group_id: string

async function write(
  method: 'POST' | 'DELETE',
  path: string,
  { key = owner, payload, id }: { key?: string; payload?: object; id: string },
) {
  const { statusCode, json } = await site.app.inject({
    method,
    url: `/v1/sites/demo/curtailment${path}`,
    headers: { authorization: `Bearer ${key}`, 'x-request-id': id, 'idempotency-key': `k-${id}` },
    ...(payload && { payload }),
  })
  return { status: statusCode, body: json() }
}

const half = { scope: 'site', limit_mode: 'percent', limit_value: 50 }

/** At noon, and at one and two hours after it. */
async function addWrites() {
  site.clock.set(noon)
  const made = await write('POST', '/immediate', { payload: half, id: 'r1' })
  assert.equal(made.status, 201)
  group_id = made.body.group_id
  await write('POST', '/immediate', { payload: half, id: 'r1' })
  site.clock.set(hours(1))
  assert.equal(
    (await write('POST', '/immediate', { payload: half, id: 'r2', key: reader })).status,
    403,
  )
  const none = { ...half, limit_value: -1 }
  assert.equal((await write('POST', '/immediate', { payload: none, id: 'r3' })).status, 422)
  await site.db.execute(
    `update curtailment_rows set acknowledged_at = $1, applied_at = $1 where logger_id = 1`,
    [hours(1)],
  )
  site.clock.set(hours(2))
  const over = { ...half, start_at: '2026-07-01T10:00:00Z', end_at: '2026-07-01T11:00:00Z' }
  const later = await write('POST', '/window', { payload: over, id: 'r4' })
  const released = await write('DELETE', `/group/${later.body.group_id}`, { id: 'r5' })
  assert.deepEqual([later.status, released.status], [201, 200])
}

const hours = (count: number) => new Date(noon.getTime() + count * 3_600_000)

async function audit(...args: string[]) {
  const [output, notes] = [new PassThrough(), new PassThrough()]
  const terminal = { input: new PassThrough(), output, notes, is_interactive: false }
  const cli: Cli = {
    terminal,
    confirm: (question) => confirm(terminal, question),
    operator: 'test',
    withAdmin: (work) => work({ db: site.db, clock: site.clock, randomBytes }),
  }
  const program = new Reporting('heliograph', cli)
  addAuditCommand(program, cli)
  await program.parseAsync(['audit', ...args], { from: 'user' })
  return { out: String(output.read() ?? ''), notes: String(notes.read() ?? '') }
}

const listed = async (...args: string[]) => JSON.parse((await audit(...args, '--json')).out)
const idsOf = async (...args: string[]) =>
  (await listed(...args)).writes.map(({ request_id }: { request_id: string }) => request_id)

test('every write once, with who, when, the answer and how far the limit has come', async () => {
  site.clock.set(hours(3))
  const { from, to, count, writes } = await listed('--site', 'demo')
  assert.deepEqual([from, to], [hours(3 - 30 * 24).toISOString(), hours(3).toISOString()])
  assert.equal(count, 5)
  const [set, refused, wrong, later, release] = writes
  assert.deepEqual(
    [set.at, set.key_id, set.key_name, set.method, set.path, set.status, set.idempotency_key],
    [noon.toISOString(), 'aaaaaaaaaaaa', 'trader', 'POST', '/curtailment/immediate', 201, 'k-r1'],
  )
  assert.deepEqual(JSON.parse(set.body), half)
  assert.equal(JSON.parse(set.answer).group_id, group_id)
  assert.equal(set.curtailment.group_id, group_id)
  const [south, east] = set.curtailment.plants
  assert.deepEqual(
    [south.logger_id, south.max_power_kw, south.start_at],
    [1, 100, noon.toISOString()],
  )
  assert.deepEqual([south.applied_at, south.verified_at], [hours(1).toISOString(), null])
  assert.deepEqual([east.logger_id, east.applied_at], [2, null])
  assert.deepEqual(
    [refused.key_id, refused.status, refused.body, refused.curtailment],
    ['bbbbbbbbbbbb', 403, null, null],
  )
  assert.deepEqual([wrong.status, JSON.parse(wrong.body).limit_value], [422, -1])
  assert.deepEqual([release.method, release.status], ['DELETE', 200])
  assert.equal(release.path, `/curtailment/group/${later.curtailment.group_id}`)
  assert.deepEqual(release.curtailment, later.curtailment)
  assert.equal(release.curtailment.released_by, 'trader')
})

test('as a table: one line each', async () => {
  const { out, notes } = await audit('--to', '2026-06-21T11:30:00Z')
  const lines = out.trimEnd().split('\n')
  assert.match(
    lines[0]!,
    /^AT +CLIENT +SITE +KEY +NAME +ADDRESS +WRITE +STATUS +OUTCOME +REQUEST +BODY$/,
  )
  assert.match(
    lines[1]!,
    /^2026-06-21 10:00:00Z {2}Owner +demo +aaaaaaaaaaaa +trader +127\.0\.0\.1 +POST \/curtailment\/immediate +201 +2 plants, 1 acknowledged, 1 applied +r1 +\{"scope"/,
  )
  assert.match(lines[2]!, /bbbbbbbbbbbb .* 403 +forbidden_scope +r2 +-$/)
  assert.match(lines[3]!, / 422 +validation_error +r3 /)
  assert.equal(lines.length, 4)
  assert.equal(notes, '')
})

test('by site, key and time, and the newest so many', async () => {
  site.clock.set(hours(3))
  assert.deepEqual(await idsOf(), ['r1', 'r2', 'r3', 'r4', 'r5'])
  assert.deepEqual(await idsOf('--site', 'other'), [])
  assert.deepEqual(await idsOf('--key', 'bbbbbbbbbbbb'), ['r2'])
  assert.deepEqual(await idsOf('--key', 'trader'), ['r1', 'r3', 'r4', 'r5'])
  const [from, to] = ['2026-06-21T11:00:00Z', '2026-06-21T12:00:00Z']
  assert.deepEqual(await idsOf('--from', from, '--to', to), ['r2', 'r3'])
  assert.deepEqual(await idsOf('--limit', '2'), ['r4', 'r5'])
  const { notes } = await audit('--limit', '2')
  assert.equal(notes, 'heliograph: 3 older entries are omitted (--limit)\n')
  assert.equal((await audit('--site', 'other')).out, 'No entries.\n')
  await assert.rejects(audit('--site', 'nowhere'), (error) => {
    return error instanceof AdminError && error.code === 'not_found'
  })
})

test('what a client sent cannot break the lines', async () => {
  site.clock.set(hours(4))
  const odd = { ...half, limit_mode: 'percent\u202e\u2028\u0085' }
  assert.equal((await write('POST', '/immediate', { payload: odd, id: 'r6' })).status, 422)
  const { out } = await audit('--from', '2026-06-21T14:00:00Z', '--to', '2026-06-21T15:00:00Z')
  assert.match(out.trimEnd().split('\n')[1]!, /percent\\u202e\\u2028\\u0085/)
})

test('a release that was refused has nothing to do with what became of the limit', async () => {
  site.clock.set(hours(6))
  assert.equal((await write('DELETE', `/group/${group_id}`, { id: 'r7', key: reader })).status, 403)
  site.clock.set(hours(7))
  const { writes } = await listed('--from', '2026-06-21T16:00:00Z')
  assert.deepEqual(
    writes.map(({ request_id, curtailment }: Record<string, unknown>) => [request_id, curtailment]),
    [['r7', null]],
  )
})

test('who signed in, to which client and from where, and what the operator did', async () => {
  await site.db.execute(`
    insert into clients (name, modules) values ('Neighbour', '{}');
    insert into users (id, client_id, role, name, email, email_verified)
    values ('user_00000000ada0', 1, 'viewer', 'Ada', 'ada@example.com', true),
      ('user_00000000b0b0', 2, 'viewer', 'Bob', 'bob@example.com', true)`)
  const asked = { path: '/platform/auth/sign-in/email', address: '203.0.113.7', request_id: 'r8' }
  await auditSignIn(site.db, { who: 'ada@example.com', at: hours(20), status: 200, ...asked })
  await auditSignIn(site.db, { who: 'bob@example.com', at: hours(20), status: 401, ...asked })
  const command = 'users password-link'
  await auditOperator(site.db, { user_id: 'user_00000000ada0', at: hours(21), command })
  site.clock.set(hours(22))
  const since = ['--from', '2026-06-22T06:00:00Z']
  const { count, writes } = await listed(...since)
  assert.equal(count, 3)
  assert.deepEqual(
    writes.map((each: Record<string, unknown>) => [
      each['client'],
      each['site_id'],
      each['key_name'],
      each['path'],
      each['status'],
      each['address'],
      each['request_id'],
      each['curtailment'],
    ]),
    [
      ['Owner', null, 'Ada', asked.path, 200, asked.address, 'r8', null],
      ['Neighbour', null, 'Bob', asked.path, 401, asked.address, 'r8', null],
      ['Owner', null, 'The operator of the server', command, 200, null, null, null],
    ],
  )
  assert.match(
    (await audit(...since)).out.split('\n')[1]!,
    /Z {2}Owner +- +user_00000000ada0 +Ada +203\.0\.113\.7 +POST \/platform\/auth\/sign-in\/email +200 +- +r8 +-$/,
  )
  assert.equal((await listed(...since, '--key', 'user_00000000b0b0')).count, 1)
  assert.equal((await listed(...since, '--site', 'demo')).count, 0)
})
