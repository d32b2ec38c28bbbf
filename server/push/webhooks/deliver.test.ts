import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { Webhook as Verifier } from 'standardwebhooks'
import {
  eventually,
  type VirtualTime,
  virtualTime,
} from '../../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import { publish } from '../../events/publish.ts'
import type { Database } from '../../storage/database.ts'
import { type Deliveries, startDeliveries } from './deliver.ts'
import type { SendSettings } from './send.ts'
import { changeWebhook, createWebhook, replay, rotateSecret } from './store.ts'

interface Received {
  path: string
  headers: Record<string, string>
  body: string
}

const client_id = 1
let database: TestDatabase
let db: Database
let time: VirtualTime
let port: number
let received: Received[] = []
let answer: (request: IncomingMessage, response: ServerResponse) => void
let running: Deliveries[] = []
/** Of all timers. */
let delays_ms: number[] = []

const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  received.push({ path: request.url!, headers: request.headers as Record<string, string>, body })
  answer(request, response)
})

before(async () => {
  database = await testDatabase()
  ;({ db } = database)
  await db.query(`
    insert into clients (name, modules) values ('Sun', '{}'), ('Wind', '{}');
    insert into sites (site_id, client_id, name) values ('here', 1, 'Here'), ('other', 1, 'Other'),
      ('theirs', 2, 'Theirs');
    insert into users (id, client_id, role, name, email)
    values ('user_0123456789ab', 1, 'administrator', 'Ada', 'ada@example.com')`)
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  ;({ port } = receiver.address() as AddressInfo)
})
beforeEach(async () => {
  await db.query('truncate published_events cascade; delete from webhooks; delete from mail_outbox')
  time = virtualTime()
  received = []
  delays_ms = []
  answer = (_request, response) => response.writeHead(200).end('thanks')
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()))
  running = []
})
after(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await database.drop()
})

const sending: SendSettings = {
  networks: ['127.0.0.0/8'],
  resolve: async () => [{ address: '127.0.0.2', family: 4 }],
}
const admin = () => ({ db, clock: time.clock, randomBytes })

const made = (path = '/hook', changes: object = {}) =>
  createWebhook(
    admin(),
    client_id,
    {
      name: path,
      url: `http://127.0.0.1:${port}${path}`,
      types: null,
      site_ids: null,
      created_by: 'Ada',
      ...changes,
    },
    sending,
  )

async function start(settings: Partial<SendSettings> = {}): Promise<Deliveries> {
  const { clock } = time
  const timers = {
    after(delay_ms: number, callback: () => void) {
      delays_ms.push(delay_ms)
      return time.timers.after(delay_ms, callback)
    },
  }
  const all = { networks: ['127.0.0.0/8'], ...settings }
  const deliveries = await startDeliveries({ db, clock, timers, log: silent, settings: all })
  running.push(deliveries)
  return deliveries
}

async function happen(
  count = 1,
  site_id = 'here',
  type: 'gap.opened' | 'gap.closed' = 'gap.opened',
) {
  await db.transaction(async (tx) => {
    for (let nth = 1; nth <= count; nth += 1) {
      const at = time.clock.now()
      publish(tx, { site_id, at, type, subject: `gap/${nth}`, link: '/gaps', record: { nth } })
    }
  })
}

const until = (check: () => unknown) => eventually(async () => assert.ok(check()))

const states = () =>
  db.query<{ state: string; tries: number }>(
    'select state, tries from webhook_deliveries order by event_id',
  )

const settled = (count: number) =>
  eventually(async () => {
    const rows = await db.query('select from webhook_attempts')
    assert.equal(rows.length, count)
  })

test('an event is sent once, signed, with the record of the list', async () => {
  const { secret } = await made()
  await start()
  await happen()
  await until(() => received.length === 1)
  const [{ headers, body }] = received as [Received]
  const message = new Verifier(secret, {}).sign(
    headers['webhook-id']!,
    new Date(1000 * Number(headers['webhook-timestamp'])),
    body,
  )
  assert.equal(headers['webhook-signature'], message)
  const { type, timestamp, data } = JSON.parse(body)
  assert.deepEqual([type, timestamp], ['gap.opened', time.clock.now().toISOString()])
  assert.deepEqual([data.site_id, data.record], ['here', { nth: 1 }])
  assert.equal(headers['webhook-id'], `here_${data.event_id}`)
  await settled(1)
  assert.deepEqual(await states(), [{ state: 'delivered', tries: 1 }])
  const [attempt] = await db.query('select status, answer, failure from webhook_attempts')
  assert.deepEqual(attempt, { status: 200, answer: 'thanks', failure: null })
})

test('a webhook has the types and sites that it names, of its client alone', async () => {
  await made('/all')
  await made('/some', { types: ['gap.closed'], site_ids: ['here'] })
  await start()
  await happen(1, 'here')
  await happen(1, 'other', 'gap.closed')
  await happen(1, 'here', 'gap.closed')
  await happen(1, 'theirs', 'gap.closed')
  await settled(4)
  assert.deepEqual(received.map(({ path }) => path).toSorted(), ['/all', '/all', '/all', '/some'])
})

test('a failed attempt is repeated after growing pauses with the same id', async () => {
  await made()
  answer = (_request, response) => response.writeHead(503).end('later')
  await start()
  await happen()
  for (const [nth, pause_s] of [5, 30, 120].entries()) {
    await settled(nth + 1)
    await until(() => delays_ms.at(-1) === 1000 * pause_s)
    assert.deepEqual(await states(), [{ state: 'waiting', tries: nth + 1 }])
    if (pause_s === 120) answer = (_request, response) => response.writeHead(204).end()
    time.advance(1000 * pause_s - 1)
    assert.equal(received.length, nth + 1)
    time.advance(1)
  }
  await settled(4)
  assert.deepEqual(await states(), [{ state: 'delivered', tries: 4 }])
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
})

test('redirects are not followed, and an answer is stored to its first kilobyte', async () => {
  await made()
  answer = (_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${port}/inside` }).end('x'.repeat(5000))
  await start()
  await happen()
  await settled(1)
  const [attempt] = await db.query<{ status: number; answer: string; failure: string }>(
    'select status, answer, failure from webhook_attempts',
  )
  assert.deepEqual(
    [attempt!.status, attempt!.answer.length, attempt!.failure],
    [302, 1024, 'redirects are not followed'],
  )
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/hook'],
  )
})

test('a receiver that never answers holds up no other', async () => {
  await made('/slow')
  await made('/quick')
  answer = ({ url }, response) => {
    if (url === '/quick') response.writeHead(200).end()
  }
  await start({ networks: ['127.0.0.0/8'], timeout_ms: 2000 })
  await happen(15)
  await eventually(async () => {
    assert.equal(received.filter(({ path }) => path === '/quick').length, 15)
  })
  assert.ok(received.filter(({ path }) => path === '/slow').length <= 5)
})

test('deliveries of a server that died are made by another after the lease', async () => {
  await made()
  await happen(3)
  // Claimed, and never settled.
  await db.query(`update webhook_deliveries set tries = 1, next_try_at = $1, first_tried_at = $2`, [
    new Date(time.clock.now().getTime() + 60_000),
    time.clock.now(),
  ])
  await start()
  assert.equal(received.length, 0)
  time.advance(60_000)
  await settled(3)
  assert.deepEqual(
    (await states()).map(({ state }) => state),
    ['delivered', 'delivered', 'delivered'],
  )
})

test('two servers share the deliveries, each made once', async () => {
  await made()
  await start()
  await start()
  await happen(20)
  await settled(20)
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 20)
  assert.equal(received.length, 20)
})

test('a webhook that fails for three days is switched off, with mail to administrators', async () => {
  const { webhook_id } = await made()
  answer = (_request, response) => response.writeHead(500).end()
  await start()
  await happen()
  await settled(1)
  await eventually(async () => {
    time.advance(day_ms / 4)
    const [row] = await db.query<{ state: string }>('select state from webhooks')
    assert.equal(row!.state, 'off')
  })
  const mails = await db.query<{ recipient: string; subject: string }>(
    'select recipient, subject from mail_outbox',
  )
  assert.deepEqual(mails, [
    { recipient: 'ada@example.com', subject: 'Webhook switched off: /hook' },
  ])
  assert.equal((await states())[0]!.state, 'failed')
  await happen()
  assert.equal((await states()).length, 1, 'nothing is queued for it')
  answer = (_request, response) => response.writeHead(200).end()
  await changeWebhook(admin(), { client_id, webhook_id }, { state: 'active' }, sending)
  const events = await db.query<{ event_id: number }>(
    'select event_id from published_events order by event_id',
  )
  const span = {
    site_id: 'here',
    first_event_id: events[0]!.event_id,
    last_event_id: events[1]!.event_id,
  }
  assert.equal(await replay(admin(), { client_id, webhook_id }, span), 2)
  await eventually(async () => {
    assert.deepEqual(
      (await states()).map(({ state }) => state),
      ['delivered', 'delivered'],
    )
  })
})

test('a paused webhook gets what happened meanwhile when it goes on', async () => {
  const { webhook_id } = await made()
  await start()
  await changeWebhook(admin(), { client_id, webhook_id }, { state: 'paused' }, sending)
  await happen(2)
  await db.query('select pg_sleep(0.05)')
  assert.equal(received.length, 0)
  await changeWebhook(admin(), { client_id, webhook_id }, { state: 'active' }, sending)
  await settled(2)
})

test('after a rotation both secrets sign until the overlap ends', async () => {
  const { webhook_id, secret } = await made()
  const rotated = await rotateSecret(admin(), { client_id, webhook_id }, 3600)
  await start()
  await happen()
  await settled(1)
  const verifies = ({ headers, body }: Received, by: string) => {
    const at = new Date(1000 * Number(headers['webhook-timestamp']))
    const signature = new Verifier(by).sign(headers['webhook-id']!, at, body)
    return headers['webhook-signature']!.split(' ').includes(signature)
  }
  assert.deepEqual(
    [verifies(received[0]!, secret), verifies(received[0]!, rotated.secret)],
    [true, true],
  )
  time.advance(3_600_001)
  await happen()
  await settled(2)
  assert.deepEqual(
    [verifies(received[1]!, secret), verifies(received[1]!, rotated.secret)],
    [false, true],
  )
})

test('secrets are stored encrypted', async () => {
  const { secret } = await made()
  const [row] = await db.query<{ secret: Buffer }>('select secret from webhooks')
  assert.ok(!row!.secret.includes(Buffer.from(secret)))
  assert.ok(!row!.secret.includes(Buffer.from(secret.slice(6), 'base64')))
})

test('a name that resolves differently a moment later leads nowhere else', async () => {
  await made('/hook', { url: `http://receiver.test:${port}/hook` })
  const answers = ['127.0.0.2', '127.0.0.1', '127.0.0.1']
  let resolved = 0
  await start({
    networks: ['127.0.0.2/32'],
    async resolve() {
      resolved += 1
      return [{ address: answers.shift()!, family: 4 }]
    },
  })
  await happen()
  await settled(1)
  assert.equal(resolved, 1)
  const failureOf = async () => {
    const rows = await db.query<{ failure: string }>(
      'select failure from webhook_attempts order by at desc limit 1',
    )
    return rows[0]!.failure
  }
  assert.equal(await failureOf(), 'ECONNREFUSED')
  await eventually(async () => {
    time.advance(1000)
    assert.equal(resolved, 2)
  })
  await settled(2)
  assert.match(await failureOf(), /not of a network/)
  assert.equal(received.length, 0)
})

test('without webhooks no timer runs and no delivery is stored', async () => {
  let timers = 0
  const counted = {
    after(delay_ms: number, callback: () => void) {
      timers += 1
      return time.timers.after(delay_ms, callback)
    },
  }
  const settings = { networks: [] }
  const { clock } = time
  running.push(await startDeliveries({ db, clock, timers: counted, log: silent, settings }))
  await happen(3)
  assert.equal(timers, 0)
  assert.deepEqual(await states(), [])
})
