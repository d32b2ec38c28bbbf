import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isMailAddress } from './address.ts'

test('one address, and nothing else', () => {
  const longest = `${'a'.repeat(64)}@${`${'b'.repeat(61)}.`.repeat(3)}${'c'.repeat(3)}`
  for (const good of [
    'ops@example.com',
    'first.last+plant-7@north.example.co.uk',
    "o'neil!#$%&*/=?^_`{|}~@example.com",
    'root@localhost',
    '7@7.example',
    'ops@xn--mnchen-3ya.example',
    longest,
  ]) {
    assert.equal(isMailAddress(good), true, good)
  }
  for (const bad of [
    '',
    'ops',
    '@example.com',
    'ops@',
    'a@b@example.com',
    'ops@example.com,more@example.com',
    'ops@example.com more@example.com',
    'Operations <ops@example.com>',
    '<ops@example.com>',
    'ops@example.com\r\nBcc: all@example.com',
    'ops@example.com\n',
    'ops\u0000@example.com',
    '"ops team"@example.com',
    'ops(comment)@example.com',
    '.ops@example.com',
    'ops.@example.com',
    'o..ps@example.com',
    'ops@-example.com',
    'ops@example-.com',
    'ops@example..com',
    'ops@example.com.',
    'ops@[192.0.2.1]',
    'ops@exam_ple.com',
    'öps@example.com',
    'ops@münchen.example',
    `${'a'.repeat(65)}@example.com`,
    `ops@${'b'.repeat(64)}.com`,
    `${longest}c`.replace('@', '@d.'),
  ]) {
    assert.equal(isMailAddress(bad), false, JSON.stringify(bad))
  }
})

test('no text with a blank, a line end or what separates addresses is one', () => {
  const separator = fc.constantFrom(
    ' ',
    '\r',
    '\n',
    '\t',
    '\u0000',
    ',',
    ';',
    '<',
    '>',
    '\u2028',
    ':',
  )
  fc.assert(
    fc.property(fc.string(), separator, fc.string(), (before, mark, after) => {
      assert.equal(isMailAddress(`${before}${mark}${after}@example.com`), false)
      assert.equal(isMailAddress(`ops@example.com${mark}${after}`), false)
    }),
  )
})
