import assert from 'node:assert/strict'
import test from 'node:test'
import { weakWords } from './sentence.ts'

test('strings that are not healthy are counted, the worst first', () => {
  const statuses = ['healthy', 'watch', 'dead', 'watch', 'no_data'] as const
  assert.equal(weakWords(statuses), '3 of 5 strings are unhealthy over 7 days: 1 dead, 2 watch')
  assert.equal(
    weakWords(['healthy', 'critical']),
    '1 of 2 strings is unhealthy over 7 days: 1 critical',
  )
  assert.equal(weakWords(['healthy', 'no_data']), null)
  assert.equal(weakWords([]), null)
})
