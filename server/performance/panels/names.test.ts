import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  nameKey,
  numberNames,
  params_id_max,
  params_id_min,
  paramsId,
  wordStarts,
  words,
} from './names.ts'

test('spelling does not count, what makes another module does', () => {
  const same = [
    ['CSI Solar Co., Ltd. CS3W-400P', 'csi solar co ltd cs3w400p'],
    ['SOLAREVER TECNOLOGÍA SE-166*83', 'Solarever Tecnologia SE 166/83'],
    ['MAR HİZ. SAN. [Blk]', 'mar hiz san_blk'],
    ['Hi-MO™ 5', 'HiMO 5'],
    ['㎡ ＬＲ５', 'm2 lr5'],
  ]
  for (const [a, b] of same) assert.equal(nameKey(a!), nameKey(b!))
  for (const [a, b] of [
    ['Q.PEAK DUO-G8', 'Q.PEAK DUO-G8+'],
    ['100', '100%'],
    ['LR5-72', 'LR5-73'],
  ]) {
    assert.notEqual(nameKey(a!), nameKey(b!))
  }
  assert.deepEqual(words(' CS3W-400P  cs3w400p, G8+ - _ 5% '), ['cs3w400p', 'g8+', '5%'])
})

test('the mask of word starts is as long as the key and marks each word', () => {
  const starts = (name: string) => [nameKey(name), wordStarts(name)]
  assert.deepEqual(starts('  JA Solar JAM72-S/MR.'), ['jasolarjam72smr', '101000010000110'])
  assert.deepEqual(starts('Q.PEAK G8+'), ['qpeakg8+', '11000100'])
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      assert.equal(wordStarts(name).length, nameKey(name).length)
      assert.match(wordStarts(name), /^(1[01]*)?$/)
    }),
  )
})

test('the number of a name is what it has always been, far from numbers given by hand', () => {
  assert.equal(paramsId('trinasolartsm550de19'), 756_659_162)
  assert.equal(paramsId('jasolarjam72s30550mr'), 1_289_978_574)
  fc.assert(
    fc.property(fc.string(), fc.nat(5), (key, attempt) => {
      const params_id = paramsId(key, attempt)
      assert.ok(Number.isInteger(params_id))
      assert.ok(params_id >= params_id_min && params_id <= params_id_max)
    }),
  )
})

test('names that fall on one number get different ones, whatever their order', () => {
  // Every first attempt falls on 7, so that all names collide.
  const number = (key: string, attempt = 0) =>
    attempt === 0 ? 7 : key.charCodeAt(0) * 10 + attempt
  const expected = { a: 7, b: 981, c: 991 }
  for (const keys of [
    ['a', 'b', 'c'],
    ['c', 'b', 'a', 'b'],
  ]) {
    assert.deepEqual(Object.fromEntries(numberNames(keys, new Set(), number)), expected)
  }
  const beside = numberNames(['a', 'b'], new Set([7, 971]), number)
  assert.deepEqual(Object.fromEntries(beside), { a: 972, b: 981 })
})
