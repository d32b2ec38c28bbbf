import assert from 'node:assert/strict'
import test from 'node:test'
import {
  password_characters_max,
  password_characters_min,
} from '@heliograph/server/access/passwords'
import { checkAgain, checkNewPassword } from './passwords.ts'

test('a new password is as long as the server asks, and the same twice', () => {
  for (const character of ['a', '☀', '🌞']) {
    const is_good = (count: number) => checkNewPassword(character.repeat(count)) === null
    assert.equal(is_good(password_characters_min - 1), false)
    assert.equal(is_good(password_characters_min), true)
    assert.equal(is_good(password_characters_max), true)
    assert.equal(is_good(password_characters_max + 1), false)
  }
  assert.equal(checkAgain('one', 'one'), null)
  assert.notEqual(checkAgain('one', 'One'), null)
})
