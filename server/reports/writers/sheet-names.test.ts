import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { sheetNames } from './sheet-names.ts'

test('titles that differ in nothing a sheet may show get numbers', () => {
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

test('a name that is too long ends with a word, or where its only word has to', () => {
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

test('whatever the titles, the names are legal and no two are the same', () => {
  const title = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
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
