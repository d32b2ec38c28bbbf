import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { oneAtATime } from './one-at-a-time.ts'

function jobs() {
  const runs: PromiseWithResolvers<void>[] = []
  const ask = oneAtATime(() => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  })
  return { runs, ask }
}

test('who asks while it runs is served by one more, which begins after that', async () => {
  const { runs, ask } = jobs()
  const first = ask()
  let served = 0
  const later = [ask(), ask(), ask()].map((asked) => asked.then(() => (served += 1)))
  assert.equal(runs.length, 1)
  runs[0]!.resolve()
  await first
  await setImmediate()
  assert.deepEqual([runs.length, served], [2, 0])
  runs[1]!.resolve()
  await Promise.all(later)
  assert.equal(runs.length, 2)
})

test('one that fails is told to who asked for it, and the next is done all the same', async () => {
  const { runs, ask } = jobs()
  const failing = ask()
  const next = ask()
  runs[0]!.reject(new Error('disk full'))
  await assert.rejects(failing, /disk full/)
  await setImmediate()
  assert.equal(runs.length, 2)
  runs[1]!.resolve()
  await next
  void ask()
  assert.equal(runs.length, 3)
})
