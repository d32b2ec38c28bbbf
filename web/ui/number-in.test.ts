import assert from 'node:assert/strict'
import test from 'node:test'
import { numberIn, pastedNumber } from './number-in.ts'

test('a number is known while it is typed, digit by digit', () => {
  const typed = ['', '-', '-0', '-0.', '-0.4', '-0.40', '1.', '1.2', '1.20', '007', '.5', '.']
  const known = ['', '', -0, -0, -0.4, -0.4, 1, 1.2, 1.2, 7, 0.5, '']
  assert.deepEqual(typed.map(numberIn), known)
  assert.equal(numberIn(0), 0)
})

test('what is pasted is the number that was meant, or none', () => {
  const meant = {
    '12.5': 12.5,
    ' 12,5 ': 12.5,
    '-3,25': -3.25,
    '\u22127': -7,
    '0,1234': 0.1234,
    '40': 40,
  }
  for (const [text, value] of Object.entries(meant)) assert.equal(pastedNumber(text), value, text)
  for (const text of ['1,234', '1.234,5', '1,2,3', '12 %', 'twelve', '', '1e3']) {
    assert.equal(pastedNumber(text), null, text)
  }
})
