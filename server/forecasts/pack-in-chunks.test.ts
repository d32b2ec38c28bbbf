import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { packInChunks } from './pack-in-chunks.ts'

test('pieces follow each other to the end, and others have their turn in between', async () => {
  let turns = 0
  let is_over = false
  const count = () => {
    turns += 1
    if (!is_over) setImmediate(count)
  }
  setImmediate(count)
  const turns_before: number[] = []
  const packed = await packInChunks({ from_ms: 10 * day_ms, to_ms: 85 * day_ms }, (piece) => {
    turns_before.push(turns)
    return Float64Array.of(piece.from_ms / day_ms, piece.to_ms / day_ms)
  })
  is_over = true
  assert.deepEqual([...packed], [10, 40, 40, 70, 70, 85])
  assert.ok(turns_before.every((before, nth) => nth === 0 || before > turns_before[nth - 1]!))
  assert.equal((await packInChunks({ from_ms: 1, to_ms: 1 }, () => Float64Array.of(1))).length, 0)
})
