import assert from 'node:assert/strict'
import test from 'node:test'
import { shareOf, weakWords } from './words.ts'

test('strings that are not healthy are counted, the worst first', () => {
  const statuses = ['healthy', 'watch', 'dead', 'watch', 'no_data'] as const
  assert.equal(weakWords(statuses), '3 strings are unhealthy over 7 days: 1 dead, 2 watch')
  assert.equal(weakWords(['healthy', 'critical']), '1 string is unhealthy over 7 days: 1 critical')
  assert.equal(weakWords(['healthy', 'no_data']), null)
  assert.equal(weakWords([]), null)
})

test('more energy than expected means that the day is not summed up yet: no share', () => {
  assert.equal(shareOf(96, 100), 96)
  assert.equal(shareOf(104, 100), 104)
  assert.equal(shareOf(145, 100), null)
  assert.equal(shareOf(0.2, 0), null)
  assert.equal(shareOf(null, 100), null)
})
