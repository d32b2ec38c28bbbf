import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, before } from 'node:test'
import { Webhook as Verifier } from 'standardwebhooks'
import {
  type Browser,
  type ServedPlatform,
  servedPlatform,
} from '../../access/fixtures/served-platform.ts'
import { publish } from '../../events/publish.ts'

let platform: ServedPlatform
let administrator: Browser
let url: string
const received: { headers: Record<string, string>; body: string }[] = []

const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  received.push({ headers: request.headers as Record<string, string>, body })
  response.writeHead(202).end('queued')
})

before(async () => {
  const webhooks = {
    networks: ['127.0.0.1'],
    resolve: async (host: string) => {
      if (host === 'inside.test') return [{ address: '10.1.2.3', family: 4 }]
      throw new Error(`getaddrinfo ENOTFOUND ${host}`)
    },
  }
  platform = await servedPlatform({ webhooks })
  administrator = await platform.person('administrator', 'ada@example.com')
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
})
after(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await platform.close()
})

const place = '/platform/webhooks'
const create = (body: object, by = administrator) =>
  by.ask('POST', place, { body: { name: 'Tickets', url, ...body } })

test('a webhook is made, listed, changed, rotated and deleted; its secret is shown once', async () => {
  const made = await create({ types: ['alert.raised'], site_ids: ['first'] })
  assert.equal(made.status, 201)
  const { secret, ...webhook } = made.body
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual((await administrator.ask('GET', place)).body.data, [webhook])
  const own = `${place}/${webhook.webhook_id}`
  const changed = await administrator.ask('PATCH', own, { body: { state: 'paused', types: null } })
  assert.deepEqual(changed.body, { ...webhook, state: 'paused', types: null })
  const rotated = await administrator.ask('POST', `${own}/rotate`, { body: {} })
  assert.notEqual(rotated.body.secret, secret)
  const deleted = await administrator.ask('DELETE', own)
  assert.equal(deleted.status, 200)
  assert.deepEqual((await administrator.ask('GET', place)).body.data, [])
  assert.equal((await administrator.ask('DELETE', own)).status, 404)
})

test('bad input is rejected with the name of its field', async () => {
  const bad: [field: string, body: object][] = [
    ['url', { url: 'ftp://example.com' }],
    ['url', { url: 'nonsense' }],
    ['url', { url: 'https://user@8.8.8.8' }],
    ['url', { url: 'https://127.0.0.2' }],
    ['url', { url: 'https://169.254.169.254/latest' }],
    ['url', { url: 'https://inside.test' }],
    ['url', { url: 'https://unknown.test' }],
    ['types', { types: ['alert.exploded'] }],
    ['site_ids', { site_ids: ['foreign'] }],
    ['name', { name: '' }],
  ]
  for (const [field, body] of bad) {
    const { status, body: answer } = await create(body)
    assert.equal(status, 422, JSON.stringify(body))
    const named = answer.error.details.errors[0].field
    assert.match(named, new RegExp(`^${field}`), JSON.stringify(answer))
  }
})

test('only administrators manage webhooks, and only those of their client', async () => {
  const made = await create({})
  const operator = await platform.person('operator', 'olga@example.com')
  const stranger = await platform.person('administrator', 'eve@example.com', 2)
  assert.equal((await operator.ask('GET', place)).status, 403)
  assert.deepEqual((await stranger.ask('GET', place)).body.data, [])
  const own = `${place}/${made.body.webhook_id}`
  const replay = { site_id: 'first', first_event_id: 1 }
  for (const [method, path, body] of [
    ['PATCH', own, { name: 'Mine' }],
    ['DELETE', own, undefined],
    ['POST', `${own}/rotate`, {}],
    ['POST', `${own}/test`, {}],
    ['POST', `${own}/replay`, replay],
    ['GET', `${own}/deliveries`, undefined],
  ] as const) {
    const { status } = await stranger.ask(method, path, body && { body })
    assert.equal(status, 404, `${method} ${path}`)
  }
})

test('a test message is signed and marked, and its answer is returned', async () => {
  const { body: webhook } = await create({})
  const before = received.length
  const { status, body } = await administrator.ask('POST', `${place}/${webhook.webhook_id}/test`, {
    body: {},
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.status, body.answer, body.failure], [202, 'queued', null])
  const message = received[before]!
  assert.equal(JSON.parse(message.body).type, 'webhook.test')
  const at = new Date(1000 * Number(message.headers['webhook-timestamp']))
  const signature = new Verifier(webhook.secret).sign(
    message.headers['webhook-id']!,
    at,
    message.body,
  )
  assert.equal(message.headers['webhook-signature'], signature)
})

test('deliveries are listed with their attempts, and replayed', async () => {
  const { db, clock } = platform
  const { body: webhook } = await create({ types: ['gap.opened'] })
  await db.transaction(async (tx) => {
    for (let nth = 0; nth < 60; nth += 1) {
      const event = { site_id: 'first', at: clock.now(), link: '/gaps', record: {} }
      publish(tx, { ...event, type: 'gap.opened', subject: `gap/${nth}` })
      publish(tx, { ...event, type: 'gap.closed', subject: `gap/${nth}` })
    }
  })
  const own = `${place}/${webhook.webhook_id}`
  await db.execute(
    `insert into webhook_attempts
     select site_id, event_id, webhook_id, gen_random_uuid(), $2, 84, 500, 'no', 'status 500'
     from webhook_deliveries where webhook_id = $1`,
    [webhook.webhook_id, clock.now()],
  )
  const first = await administrator.ask('GET', `${own}/deliveries`)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual([first.body.data.length, first.body.meta.count], [50, 60])
  assert.equal(first.body.data[0].attempts[0].failure, 'status 500')
  const cursor = first.body.meta.next_cursor
  const second = await administrator.ask('GET', `${own}/deliveries?cursor=${cursor}`)
  assert.equal(second.body.data.length, 10)
  await db.execute(`update webhook_deliveries set state = 'delivered'`)
  const ids = [...first.body.data, ...second.body.data].map(({ event_id }) => event_id)
  const span = { site_id: 'first', first_event_id: ids.at(-1), last_event_id: ids[0] }
  const replayed = await administrator.ask('POST', `${own}/replay`, { body: span })
  assert.deepEqual([replayed.status, replayed.body], [202, { count: 60 }])
  const waiting = await administrator.ask('GET', `${own}/deliveries?state=waiting`)
  assert.equal(waiting.body.meta.count, 60)
})
