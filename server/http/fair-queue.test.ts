import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FairQueue, type QueueBounds } from './fair-queue.ts'

const bounds: QueueBounds = {
  running: 2,
  running_per_client: 1,
  waiting: 6,
  waiting_per_client: 4,
  waiting_per_key: 3,
  held_bytes_per_client: 100,
}

/** Works that run until they are ended by name, in the order in which they began. */
function works(queue: FairQueue) {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (client: string, key: string, name: string, signal?: AbortSignal) =>
    queue.run({ client, key, signal }, async () => {
      began.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    })
  const end = async (name: string) => {
    ends.get(name)!()
    await turn()
  }
  return { began, ask, end }
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('it was not refused'),
    (error) => [error.code, error.headers['retry-after']],
  )

test('a client that asks for much waits behind itself, and its keys take turns', async () => {
  const { began, ask, end } = works(new FairQueue(bounds))
  const all = [ask('a', '1', 'a1'), ask('a', '1', 'a2'), ask('a', '1', 'a3'), ask('a', '2', 'a4')]
  all.push(ask('b', '1', 'b1'))
  await turn()
  assert.deepEqual(began, ['a1', 'b1'])
  all.push(ask('c', '1', 'c1'))
  await end('a1')
  assert.deepEqual(began.slice(2), ['a2'], 'c waited shorter than a')
  all.push(ask('b', '1', 'b2'))
  await end('a2')
  assert.deepEqual(began.slice(3), ['c1'])
  await end('b1')
  assert.deepEqual(began.slice(4), ['b2'], 'the last turn of b is longer ago than that of a')
  await end('c1')
  assert.deepEqual(began.slice(5), ['a4'], 'the other key of a')
  await end('a4')
  assert.deepEqual(began.slice(6), ['a3'])
  await end('b2')
  await end('a3')
  assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'])
})

test('beyond what may wait it is 503, and Retry-After is the time that those ahead take', async () => {
  let now_ms = 0
  const { ask, end } = works(new FairQueue(bounds, () => now_ms))
  const all = [ask('a', '1', 'first')]
  await turn()
  now_ms = 3000
  await end('first')
  all.push(ask('a', '1', 'running'))
  for (const nth of [1, 2, 3]) all.push(ask('a', '1', `waiting ${nth}`))
  assert.deepEqual(await refusal(ask('a', '1', 'too many')), ['service_unavailable', '12'])
  all.push(ask('a', '2', 'of another key'))
  assert.deepEqual(await refusal(ask('a', '3', 'too many')), ['service_unavailable', '15'])
  all.push(ask('b', '1', 'b'), ask('b', '1', 'b waits'), ask('c', '1', 'c waits'))
  assert.deepEqual(await refusal(ask('d', '1', 'too many')), ['service_unavailable', '11'])
})

test('who has gone leaves the queue, and is never begun', async () => {
  const { began, ask, end } = works(new FairQueue(bounds))
  const first = ask('a', '1', 'first')
  const gone = new AbortController()
  const waiting = ask('a', '1', 'gone', gone.signal)
  const next = ask('a', '1', 'next')
  gone.abort(new Error('closed'))
  await assert.rejects(waiting, /closed/)
  await assert.rejects(ask('a', '1', 'late', gone.signal), /closed/)
  await end('first')
  await end('next')
  assert.deepEqual([await first, await next, began], ['first', 'next', ['first', 'next']])
})

test('who holds many bytes waits until some were sent; others do not', async () => {
  const queue = new FairQueue(bounds)
  const { began, ask, end } = works(queue)
  const release = queue.hold('a', 60)
  const others = queue.hold('a', 60)
  const all = [ask('a', '1', 'a'), ask('b', '1', 'b')]
  await turn()
  assert.deepEqual(began, ['b'])
  release()
  release()
  await turn()
  assert.deepEqual(began, ['b', 'a'])
  others()
  await end('a')
  await end('b')
  await Promise.all(all)
})

test('a work that fails gives its place to the next', async () => {
  const queue = new FairQueue(bounds)
  const asker = { client: 'a', key: '1' }
  await assert.rejects(
    queue.run(asker, () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await queue.run(asker, async () => 1), 1)
})
