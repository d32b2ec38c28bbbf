import assert from 'node:assert/strict'
import test from 'node:test'
import { additive_quantities, addSums, type StringSums } from '../diagnostics/string-sums.ts'
import { decodeStrings, encodeStrings, type StoredStrings, sumStored } from './string-codec.ts'

/** Every quantity of each string another whole number. */
function sumsOf(string_count: number): StringSums {
  const sums = addSums([])
  for (const [row, quantity] of additive_quantities.entries()) {
    sums[quantity] = Array.from({ length: string_count }, (_, nth) => 100 * row + nth)
  }
  sums.current_a_max = Array.from({ length: string_count }, (_, nth) => (nth === 1 ? null : nth))
  return sums
}

/** As it was stored before samples of the energy were counted. */
function ofFirstLayout(sums: StringSums): StoredStrings {
  const stored = encodeStrings(sums)
  const row_bytes = 4 * stored.string_count
  const at = additive_quantities.indexOf('energy_sample_count') * row_bytes
  const bytes = [stored.sums.subarray(0, at), stored.sums.subarray(at + row_bytes)]
  return { ...stored, layout: 1, sums: Buffer.concat(bytes) }
}

test('what is stored comes back, and adds up', () => {
  const sums = sumsOf(3)
  assert.deepEqual(decodeStrings(encodeStrings(sums)), sums)
  assert.deepEqual(sumStored([sums, sums].map(encodeStrings)), addSums([sums, sums]))
})

test('of sums of the first layout all is known but the samples of the energy', () => {
  const sums = sumsOf(3)
  const energy_sample_count = [Number.NaN, Number.NaN, Number.NaN]
  assert.deepEqual(decodeStrings(ofFirstLayout(sums)), { ...sums, energy_sample_count })
  const both = sumStored([ofFirstLayout(sums), encodeStrings(sums)])
  assert.deepEqual(both, { ...addSums([sums, sums]), energy_sample_count })
  assert.throws(() => decodeStrings({ ...encodeStrings(sums), layout: 3 }), /layout 3/)
})
