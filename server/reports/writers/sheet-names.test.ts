import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../test/any-character.ts'
import { sheetNames } from './sheet-names.ts'

test('equal names get numbers', () => {
  const long = 'Energy by plant and day of the month'
  assert.deepEqual(sheetNames(['Plants', 'plants', long, long, '', '[]:*?/\\', 'History']), [
    'Plants',
    'plants 2',
    'Energy by plant and day of the',
    'Energy by plant and day of 2',
    'Sheet',
    'Sheet 2',
    'History 2',
  ])
})

test('a long name is cut after a word, a long word is cut', () => {
  assert.deepEqual(
    sheetNames([
      'What was lost from light to grid',
      'What was lost from light to the grid',
      'Donaudampfschifffahrtsgesellschaft by day',
    ]),
    [
      'What was lost from light to',
      'What was lost from light to the',
      'Donaudampfschifffahrtsgesellsch',
    ],
  )
})

test('names are valid and distinct for any titles', () => {
  const title = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: anyCharacter }))
  fc.assert(
    fc.property(fc.array(title, { maxLength: 40 }), (titles) => {
      const names = sheetNames(titles)
      assert.equal(new Set(names.map((name) => name.toLowerCase())).size, titles.length)
      for (const name of names) {
        assert.ok(name.length >= 1 && name.length <= 31 && name.isWellFormed(), name)
        assert.doesNotMatch(name, /[[\]:*?/\\\p{Cc}]|^'|'$|^\s|\s$|^history$/iu)
      }
    }),
  )
})
