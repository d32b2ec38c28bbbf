import assert from 'node:assert/strict'
import test from 'node:test'
import { drawShare, drawWeighted } from './row-sampler.ts'
import { seededRandom } from './seeded-random.ts'

const take = (seed: number, count: number) => Array.from({ length: count }, seededRandom(seed))

test('a seed gives the same numbers again, another seed others', () => {
  assert.deepEqual(take(7, 5), take(7, 5))
  for (const other of [8, 7 + 2 ** 32, 0]) assert.notDeepEqual(take(other, 1), take(7, 1))
})

test('the numbers are those of another implementation', () => {
  assert.deepEqual(
    take(7, 3).map((number) => number * 2 ** 32),
    [2064663467, 741845084, 1743615334],
  )
})

test('the numbers are spread evenly, and one tells nothing of the next', () => {
  const numbers = take(1, 100_000)
  assert.ok(numbers.every((number) => number >= 0 && number < 1))
  const cells = new Uint32Array(100)
  for (let i = 1; i < numbers.length; i++) {
    cells[Math.floor(numbers[i - 1]! * 10) * 10 + Math.floor(numbers[i]! * 10)]! += 1
  }
  // Of 1000 in each cell, 5 standard deviations are 158.
  for (const count of cells) assert.ok(Math.abs(count - 1000) < 158, `${count} in a cell`)
})

test('a share of the rows is drawn, each with the same chance and once', () => {
  const random = seededRandom(2)
  const drawn = new Uint32Array(20)
  for (let draw = 0; draw < 2000; draw++) {
    const rows = drawShare(20, 0.3, random)
    assert.equal(new Set(rows).size, 6)
    assert.deepEqual(rows, rows.toSorted())
    for (const row of rows) drawn[row]! += 1
  }
  for (const count of drawn) assert.ok(Math.abs(count - 600) < 110, `${count} draws`)
  assert.equal(drawShare(20, 0.001, random).length, 1)
  assert.deepEqual([...drawShare(3, 1, random)], [0, 1, 2])
})

test('rows are drawn as often as their weights say', () => {
  const random = seededRandom(3)
  const counts = [0, 0, 0]
  for (const row of drawWeighted(3, 30_000, Float64Array.of(2, 0, 4), random)) counts[row]! += 1
  assert.ok(Math.abs(counts[0]! - 10_000) < 400)
  assert.equal(counts[1], 0)
  const even = [0, 0, 0]
  for (const row of drawWeighted(3, 30_000, undefined, random)) even[row]! += 1
  for (const count of even) assert.ok(Math.abs(count - 10_000) < 400)
})
