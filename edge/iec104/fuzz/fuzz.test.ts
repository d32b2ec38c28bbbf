import assert from 'node:assert/strict'
import test from 'node:test'
import { Fuzz } from './fuzz.ts'

for (const seed of [1, 2, 3]) {
  test(`20,000 random APDUs are answered as the standard says, seed ${seed}`, async () => {
    const { fault, answers, closings } = await new Fuzz(seed).run(20_000)
    assert.equal(fault, null)
    // Each kind of violation was among them.
    assert.deepEqual([...answers.keys()].sort(), [
      'cause 44',
      'cause 45',
      'cause 46',
      'cause 47',
      'cause 7',
      'cause 9',
    ])
    assert.ok(closings > 1000, String(closings))
  })
}
