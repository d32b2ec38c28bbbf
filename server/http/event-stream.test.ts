import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { virtualTime } from '../../test/conventions/virtual-time.ts'
import { silent } from '../../test/postgres.ts'
import type { Caller } from './endpoint.ts'
import { ApiError } from './errors.ts'
import {
  behind_kib_max,
  createEventStreams,
  heartbeat_s,
  messageOf,
  prefersStream,
  unread_s_max,
} from './event-stream.ts'

const caller: Caller = {
  key_id: 'aaaaaaaaaaaa',
  key_name: 'test',
  client_id: 1,
  scopes: new Set(['plant:read']),
  modules: new Set(),
  site_ids: null,
}

function opened(of = caller) {
  const time = virtualTime()
  let pending = 0
  const timers = {
    after(delay_ms: number, callback: () => void) {
      pending += 1
      const cancel = time.timers.after(delay_ms, () => {
        pending -= 1
        callback()
      })
      return () => {
        pending -= 1
        cancel()
      }
    },
  }
  const streams = createEventStreams({ clock: time.clock, timers, log: silent })
  const response = Object.assign(new EventEmitter(), {
    closed: false,
    destroy() {
      response.closed = true
      response.emit('close')
    },
  })
  const rights = { caller: of, refusal: null as Error | null }
  const { stream, bytes } = streams.open({
    caller: of,
    response: response as unknown as ServerResponse,
    async admit() {
      if (rights.refusal) throw rights.refusal
      const principal = { caller: rights.caller, general_per_minute: 1, write_per_minute: 1 }
      return { principal, site: null }
    },
  })
  return {
    stream,
    rights,
    response,
    timers: () => pending,
    read() {
      let text = ''
      for (let part = bytes.read(); part !== null; part = bytes.read()) text += String(part)
      return text
    },
    /** Lets time pass second by second, with all that is called meanwhile. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        time.advance(1000)
        for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
      }
    },
  }
}

const closed = (reason: string) => messageOf({ event: 'closed', data: { reason } })

test('a message has its id, its name and its data on one line', () => {
  assert.equal(
    messageOf({ id: 7, event: 'gap.opened', data: { text: 'a\nb' } }),
    'id: 7\nevent: gap.opened\ndata: {"text":"a\\nb"}\n\n',
  )
  assert.equal(messageOf({ id: 7 }), 'id: 7\n\n')
})

test('a stream is sent where Accept prefers it to JSON', () => {
  assert.ok(prefersStream('text/event-stream'))
  assert.ok(prefersStream('text/event-stream, */*;q=0.5'))
  assert.ok(!prefersStream('application/json, text/event-stream'))
  assert.ok(!prefersStream('*/*'))
  assert.ok(!prefersStream(undefined))
})

test('a comment follows the time without messages', async () => {
  const { stream, read, pass } = opened()
  read()
  await pass(heartbeat_s - 1)
  assert.equal(read(), '')
  stream.send('data: 1\n\n')
  assert.equal(read(), 'data: 1\n\n')
  await pass(heartbeat_s - 1)
  assert.equal(read(), '')
  await pass(1)
  assert.equal(read(), ': heartbeat\n\n')
})

test('a stream ends within a second of the end of its key, with the code', async () => {
  const { stream, rights, read, pass, response } = opened()
  read()
  rights.refusal = new ApiError('revoked_api_key')
  await pass(1)
  assert.equal(read(), closed('revoked_api_key'))
  assert.ok(stream.ended.aborted)
  await pass(5)
  assert.ok(response.closed)
})

test('a stream of a session ends with the heartbeat after the session', async () => {
  const { rights, read, pass } = opened({ ...caller, role: 'viewer' })
  read()
  rights.refusal = new ApiError('not_signed_in')
  await pass(heartbeat_s - 1)
  assert.equal(read(), '')
  await pass(1)
  assert.equal(read(), closed('not_signed_in'))
})

test('a stream ends when the rights of its key change, and stays while they cannot be read', async () => {
  const { rights, read, pass } = opened()
  read()
  rights.refusal = new ApiError('service_unavailable')
  await pass(3)
  assert.equal(read(), '')
  rights.refusal = null
  rights.caller = { ...caller, scopes: new Set(['plant:read', 'om:read']) }
  await pass(1)
  assert.equal(read(), closed('rights_changed'))
})

test('a reader that is too far behind is disconnected, and later messages are dropped', async () => {
  const { stream, read } = opened()
  const message = `data: ${'x'.repeat(64 * 1024)}\n\n`
  for (let sent = 0; sent < 2 * behind_kib_max; sent += 64) stream.send(message)
  assert.ok(stream.ended.aborted)
  const text = read()
  assert.ok(text.endsWith(closed('slow_consumer')))
  assert.ok(text.length < 1024 * (behind_kib_max + 192))
})

test('a reader that reads nothing is disconnected', async () => {
  const { stream, pass } = opened()
  stream.send(`data: ${'x'.repeat(100_000)}\n\n`)
  await pass(unread_s_max - 1)
  assert.ok(!stream.ended.aborted)
  await pass(3)
  assert.ok(stream.ended.aborted)
})

test('without streams no timer runs', async () => {
  const { response, timers, pass } = opened()
  assert.equal(timers(), 1)
  response.destroy()
  await pass(1)
  assert.equal(timers(), 0)
})
