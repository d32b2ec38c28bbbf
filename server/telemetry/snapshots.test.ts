import assert from 'node:assert/strict'
import test from 'node:test'
import { createSnapshots } from './snapshots.ts'

function counting() {
  let now_ms = 1_000_000
  let reads = 0
  const snapshots = createSnapshots(
    async (id: string) => {
      reads += 1
      return `${id} ${reads}`
    },
    { clock: { now: () => new Date(now_ms) }, fresh_ms: 1000, oldest_ms: 5000 },
  )
  const pass = (ms: number) => {
    now_ms += ms
  }
  return { snapshots, pass, reads: () => reads }
}

test('what is fresh is read once, also by many at once', async () => {
  const { snapshots, pass, reads } = counting()
  assert.deepEqual(await Promise.all([snapshots.get('a'), snapshots.get('a')]), ['a 1', 'a 1'])
  pass(1000)
  assert.equal(await snapshots.get('a'), 'a 1')
  assert.equal(reads(), 1)
})

test('what is no longer fresh is given out once more, and read in the background', async () => {
  const { snapshots, pass } = counting()
  await snapshots.get('a')
  pass(1001)
  assert.equal(await snapshots.get('a'), 'a 1')
  await new Promise(setImmediate)
  assert.equal(await snapshots.get('a'), 'a 2')
})

test('what is too old, or of a time to come, is waited for', async () => {
  const { snapshots, pass } = counting()
  await snapshots.get('a')
  pass(5001)
  assert.equal(await snapshots.get('a'), 'a 2')
  pass(-1)
  assert.equal(await snapshots.get('a'), 'a 3')
  assert.equal(await snapshots.readAgain('b'), 'b 4')
})
