import assert from 'node:assert/strict'
import test from 'node:test'
import { UnheardTime } from './unheard-time.ts'

const fresh_ms = 15_000

test('a poll that is a little late is no news, and one that is missing is told in a few steps', () => {
  const unheard = new UnheardTime(fresh_ms, 0)
  const seen = new Set<number>()
  for (let now_ms = 0; now_ms <= 60_000; now_ms += 1000) seen.add(unheard.look(0, now_ms))
  assert.deepEqual([...seen], [0, 9000, 12_000, 15_000])
  assert.equal(unheard.look(60_000, 60_000), 0)
})

test('until it is read the silence of earlier programs counts on, and none of their pauses', () => {
  const unheard = new UnheardTime(fresh_ms, 9000)
  assert.equal(unheard.look(null, 1_000_000), 9000)
  assert.equal(unheard.look(null, 1_005_999), 12_000)
  assert.equal(unheard.look(null, 1_006_000), 15_000)
  assert.equal(unheard.look(1_007_000, 1_008_000), 0)
})
