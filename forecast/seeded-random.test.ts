import assert from 'node:assert/strict'
import test from 'node:test'
import { drawAgain, drawShare } from './row-sampler.ts'
import { seededRandom, seedOf } from './seeded-random.ts'

const take = (seed: number, count: number) => Array.from({ length: count }, seededRandom(seed))

test('a seed repeats its numbers, another seed has others', () => {
  assert.deepEqual(take(7, 5), take(7, 5))
  for (const other of [8, 7 + 2 ** 32, 0]) assert.notDeepEqual(take(other, 1), take(7, 1))
})

test('the numbers equal those of another implementation', () => {
  assert.deepEqual(
    take(7, 3).map((number) => number * 2 ** 32),
    [2064663467, 741845084, 1743615334],
  )
})

test('the numbers are uniform and uncorrelated', () => {
  const numbers = take(1, 100_000)
  assert.ok(numbers.every((number) => number >= 0 && number < 1))
  const cells = new Uint32Array(100)
  for (let i = 1; i < numbers.length; i++) {
    cells[Math.floor(numbers[i - 1]! * 10) * 10 + Math.floor(numbers[i]! * 10)]! += 1
  }
  // Of 1000 in each cell, 5 standard deviations are 158.
  for (const count of cells) assert.ok(Math.abs(count - 1000) < 158, `${count} in a cell`)
})

test('a share of the rows is drawn, each with equal probability and once', () => {
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

test('with replacement each row has equal probability in every draw', () => {
  const random = seededRandom(3)
  const counts = [0, 0, 0]
  for (let draw = 0; draw < 10_000; draw++) {
    const rows = drawAgain(3, random)
    assert.deepEqual(rows, rows.toSorted())
    for (const row of rows) counts[row]! += 1
  }
  for (const count of counts) assert.ok(Math.abs(count - 10_000) < 400, `${count} draws`)
})

test('a seed depends on its text only', () => {
  // Of the published test vectors.
  assert.equal(seedOf(''), 0x811c9dc5)
  assert.equal(seedOf('foobar'), 0xbf9cf968)
  assert.notEqual(seedOf('demo site 1'), seedOf('demo site 2'))
})
