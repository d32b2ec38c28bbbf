import assert from 'node:assert/strict'
import test from 'node:test'
import { VainWrites } from './vain-writes.ts'

/** 20 kW was set so often that it is left alone now, at 0 ms: it stays at 60 kW. */
function vain(times = 5) {
  const writes = new VainWrites()
  for (let nth = 0; nth < times; nth += 1) writes.add(20_000, 60_000, 0)
  return writes
}

test('four in vain are none too many, and five are followed by a pause', () => {
  assert.equal(vain(4).isVain(20_000, 0), false)
  const writes = vain()
  assert.deepEqual([writes.isVain(20_000, 19_999), writes.isVain(20_000, 20_000)], [true, false])
  writes.add(20_000, 60_000, 20_000)
  assert.deepEqual([writes.isVain(20_000, 59_999), writes.isVain(20_000, 60_000)], [true, false])
})

test('no pause is longer than ten minutes, however often it was in vain', () => {
  const writes = vain(100)
  assert.deepEqual([writes.isVain(20_000, 599_999), writes.isVain(20_000, 600_000)], [true, false])
})

test('another limit, another answer and a new order are tried at once', () => {
  assert.equal(vain().isVain(10_000, 0), false)
  const answered = vain()
  answered.onRead(60_000, false)
  assert.equal(answered.isVain(20_000, 0), true, 'it answers as before')
  answered.onRead(50_000, false)
  assert.equal(answered.isVain(20_000, 0), false)
  const shown = vain()
  shown.onRead(60_000, true)
  assert.equal(shown.isVain(20_000, 0), false)
  const forgotten = vain()
  forgotten.forget()
  assert.equal(forgotten.isVain(20_000, 0), false)
})
