import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { type EventType, eventTypes } from '../events/event-types.ts'
import { publish } from '../events/publish.ts'
import { addKey, noon, type ServedSite, servedSite } from '../fixtures/served-site.ts'
import type { EventStream } from '../http/endpoint.ts'
import { streams_per_key_max } from '../http/event-stream.ts'
import type { Database } from '../storage/database.ts'
import { createEventFeed } from './feed.ts'

let served: ServedSite
let db: ServedSite['db']
let key: string
let plant_key: string
let port: number
let streams: TestStream[] = []

before(async () => {
  served = await servedSite()
  ;({ db } = served)
  key = await addKey(db, { key_id: 'aaaaaaaaaaaa' })
  plant_key = await addKey(db, { key_id: 'bbbbbbbbbbbb', scopes: ['plant:read', 'alerts:read'] })
  await served.app.listen({ port: 0 })
  ;({ port } = served.app.server.address() as AddressInfo)
})
beforeEach(() => db.query('truncate published_events, event_counters cascade'))
afterEach(async () => {
  for (const stream of streams) stream.close()
  streams = []
})
after(() => served.close())

/** Publishes an event of each type; returns their ids. */
async function happen(...types: EventType[]): Promise<number[]> {
  await db.transaction(async (tx) => {
    for (const type of types) {
      const record = { is: type }
      publish(tx, { site_id: 'demo', at: noon, type, subject: 'a/1', link: '/overview', record })
    }
  })
  const rows = await db.query<{ event_id: number }>(
    'select event_id from published_events order by event_id desc limit $1',
    [types.length],
  )
  return rows.map(({ event_id }) => event_id).reverse()
}

const typesOf = (body: { data: { type: string }[] }) => body.data.map(({ type }) => type)

test('events are listed oldest first, with what it takes to read them', async () => {
  const [first] = await happen('alert.raised', 'gap.opened')
  const { status, body } = await served.get('/events')
  assert.equal(status, 200)
  assert.deepEqual(body.data[0], {
    event_id: first,
    type: 'alert.raised',
    at: noon.toISOString(),
    site_id: 'demo',
    subject: 'a/1',
    scope: 'alerts:read',
    link: '/v1/sites/demo/overview',
    record: { is: 'alert.raised' },
  })
  assert.deepEqual(typesOf(body), ['alert.raised', 'gap.opened'])
  assert.deepEqual(body.meta, { count: 2, next_cursor: null })
  assert.deepEqual(typesOf((await served.get(`/events?after=${first}`)).body), ['gap.opened'])
  assert.deepEqual(typesOf((await served.get('/events?types=gap.opened')).body), ['gap.opened'])
})

test('pages by cursor have each event once', async () => {
  const ids = await happen(...Array.from({ length: 250 }, () => 'gap.opened' as const))
  const read: number[] = []
  let cursor = ''
  do {
    const { body } = await served.get(`/events${cursor}`)
    assert.equal(body.meta.count, 250)
    read.push(...body.data.map(({ event_id }: { event_id: number }) => event_id))
    cursor = body.meta.next_cursor && `?cursor=${body.meta.next_cursor}`
  } while (cursor)
  assert.deepEqual(read, ids)
})

test('a key sees the events of its scopes, and may not name others', async () => {
  await happen(...eventTypes)
  const { body } = await served.get('/events', plant_key)
  assert.deepEqual(
    new Set(body.data.map(({ scope }: { scope: string }) => scope)),
    new Set(['plant:read', 'alerts:read']),
  )
  assert.equal(body.meta.count, body.data.length)
  const refused = await served.get('/events?types=work_order.created', plant_key)
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error.code, 'forbidden_scope')
  assert.equal(refused.body.error.details.required_scope, 'om:read')
  for (const [query, field] of [
    ['types=alert.exploded', 'types'],
    ['after=-1', 'after'],
    ['cursor=x', 'cursor'],
  ]) {
    const { status, body } = await served.get(`/events?${query}`)
    assert.equal(status, 422)
    assert.equal(body.error.details.errors[0].field, field)
  }
})

interface Message {
  id?: string
  event?: string
  data?: string
}

class TestStream {
  readonly response: IncomingMessage
  #text = ''

  constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text) => {
      this.#text += text
    })
    response.on('error', () => {})
  }

  get messages(): Message[] {
    return this.#text
      .split('\n\n')
      .slice(0, -1)
      .map((block) =>
        Object.fromEntries(
          block
            .split('\n')
            .map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(':') + 2)]),
        ),
      )
  }

  get events(): Message[] {
    return this.messages.filter(({ event }) => event !== undefined)
  }

  /** Resolves with the events once there are as many. */
  async until(count: number): Promise<Message[]> {
    while (this.events.length < count) await once(this.response, 'data')
    return this.events
  }

  close(): void {
    this.response.destroy()
  }
}

async function open(
  query = '',
  { last_event_id, presented = key }: { last_event_id?: number | string; presented?: string } = {},
) {
  const request = get({
    port,
    path: `/v1/sites/demo/events${query}`,
    agent: false,
    headers: {
      authorization: `Bearer ${presented}`,
      accept: 'text/event-stream',
      ...(last_event_id !== undefined && { 'last-event-id': String(last_event_id) }),
    },
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const stream = new TestStream(response)
  streams.push(stream)
  return stream
}

/** Resolves when the stream has its place, and with it sees what happens from then on. */
async function joined(stream: TestStream): Promise<TestStream> {
  while (!stream.messages.some(({ id }) => id !== undefined)) await once(stream.response, 'data')
  return stream
}

test('a stream has what happens from its start on, with the ids of the list', async () => {
  await happen('alert.raised')
  const stream = await joined(await open())
  assert.equal(stream.response.statusCode, 200)
  assert.equal(stream.response.headers['content-type'], 'text/event-stream; charset=utf-8')
  const [first, second] = await happen('gap.opened', 'gap.closed')
  const events = await stream.until(2)
  assert.deepEqual(
    events.map(({ id, event }) => [id, event]),
    [
      [String(first), 'gap.opened'],
      [String(second), 'gap.closed'],
    ],
  )
  const { body } = await served.get(`/events?after=${first}`)
  assert.deepEqual(JSON.parse(events[1]!.data!), body.data[0])
})

test('a stream has the types that were asked for and that the key may read', async () => {
  const some = await joined(await open('?types=gap.closed&types=alert.raised'))
  const plant = await joined(await open('', { presented: plant_key }))
  await happen('gap.opened', 'gap.closed', 'work_order.created', 'alert.raised')
  const named = (messages: Message[]) => messages.map(({ event }) => event)
  assert.deepEqual(named(await some.until(2)), ['gap.closed', 'alert.raised'])
  assert.deepEqual(named(await plant.until(3)), ['gap.opened', 'gap.closed', 'alert.raised'])
  const refused = await open('?types=work_order.created', { presented: plant_key })
  assert.equal(refused.response.statusCode, 403)
})

test('a client that resumes while events are published has each of them once', async () => {
  const ids: number[] = []
  const seen: number[] = []
  const turns = 60
  const publishing = (async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      ids.push(...(await happen('gap.opened', 'gap.closed')))
    }
  })()
  let last_event_id = 0
  while (seen.length < 2 * turns) {
    const stream = await open('', { last_event_id })
    await stream.until(1)
    stream.close()
    for (const { id } of stream.events) seen.push(Number(id))
    last_event_id = seen.at(-1)!
  }
  await publishing
  assert.deepEqual(seen, ids)
})

test('a start that is no id is rejected with the name of the header', async () => {
  for (const last_event_id of ['x', '-1', '1'.repeat(30)]) {
    const { response } = await open('', { last_event_id })
    assert.equal(response.statusCode, 422, last_event_id)
  }
})

test('a key has at most its number of streams, and another one after one has ended', async () => {
  const own = await addKey(db, { key_id: 'cccccccccccc' })
  const all: TestStream[] = []
  for (let nth = 0; nth < streams_per_key_max; nth += 1) {
    all.push(await joined(await open('', { presented: own })))
  }
  const refused = await open('', { presented: own })
  assert.equal(refused.response.statusCode, 429)
  assert.ok(Number(refused.response.headers['retry-after']) > 0)
  all[0]!.close()
  let status: number | undefined
  do status = (await open('', { presented: own })).response.statusCode
  while (status === 429)
  assert.equal(status, 200)
})

test('without streams nothing listens and no query runs', async () => {
  let statements = 0
  let listeners = 0
  const counted: Database = {
    ...db,
    query: (...given) => {
      statements += 1
      return db.query(...given)
    },
    async listen(channel, listener) {
      const subscription = await db.listen(channel, listener)
      listeners += 1
      return {
        async stop() {
          await subscription.stop()
          listeners -= 1
        },
      }
    },
  }
  const feed = createEventFeed(counted)
  const ended = new AbortController()
  const sent: string[] = []
  const stream: EventStream = {
    ended: ended.signal,
    send: (text) => void sent.push(text),
    async drained() {},
    end() {},
  }
  await happen('gap.opened')
  assert.deepEqual([statements, listeners], [0, 0])
  await feed.join(stream, { site_id: 'demo', types: eventTypes, after: 0 })
  assert.equal(listeners, 1)
  while (sent.length < 2) await db.query('select')
  ended.abort()
  while (listeners > 0) await db.query('select')
  const before = statements
  await happen('gap.closed')
  await happen('gap.closed')
  assert.equal(statements, before)
})

test('streams of a server that stops end with the reason', async () => {
  const other = await servedSite()
  const presented = await addKey(other.db, { key_id: 'aaaaaaaaaaaa' })
  await other.app.listen({ port: 0 })
  const before_port = port
  ;({ port } = other.app.server.address() as AddressInfo)
  const stream = await joined(await open('', { presented }))
  port = before_port
  const ended = once(stream.response, 'end')
  await other.close()
  await ended
  assert.deepEqual(stream.events.at(-1), { event: 'closed', data: '{"reason":"server_stops"}' })
})
