import assert from 'node:assert/strict'
import test from 'node:test'
import { significant } from './significant.ts'

test('the noise of binary fractions is removed, measured digits stay', () => {
  assert.equal(significant(0.1 + 0.2), 0.3)
  assert.equal(significant(1571.9270400000005), 1571.92704)
  assert.equal(significant(123456.789), 123456.789)
  assert.equal(significant(-32.940000000000005), -32.94)
  assert.equal(significant(0), 0)
})
