import assert from 'node:assert/strict'
import test from 'node:test'
import { virtualTime } from '../../test/conventions/virtual-time.ts'
import type { Database } from '../storage/database.ts'
import { readiness } from './readiness.ts'

test('a database that hangs is told within a second, and not asked by each', async () => {
  let queries = 0
  let answer = Promise.withResolvers<object[]>()
  const query = () => {
    queries += 1
    return answer.promise
  }
  const time = virtualTime()
  const isReady = await readiness({ db: { query } as unknown as Database, timers: time.timers })
  for (let asked = 0; asked < 3; asked++) {
    const ready = isReady()
    time.advance(1000)
    assert.equal(await ready, false)
  }
  assert.equal(queries, 1)

  time.advance(7000)
  const anew = isReady()
  assert.equal(queries, 2)
  answer.resolve([{ ready: true }])
  assert.equal(await anew, true)
  answer = Promise.withResolvers()
  answer.reject(new Error('no database'))
  await assert.rejects(isReady(), /no database/)
})
