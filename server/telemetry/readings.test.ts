import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { encodeTable } from './readings.ts'

const year_9999 = Date.UTC(9999, 11, 31)

test('every instant is written as it was measured, to the millisecond', () => {
  const instants = fc.array(fc.integer({ min: 0, max: year_9999 }), { minLength: 1, maxLength: 5 })
  const steps = fc.constantFrom(0, 1, 10, 999, 1000, -1, -1000)
  fc.assert(
    fc.property(instants, steps, (starts, step) => {
      const all = starts.flatMap((at) => [at, Math.max(0, at + step)])
      const columns = ['logger_id', 'measured_at', 'quality']
      const rows = all.map((at) => [1, at, 'good'])
      const bounds = { site_id: 'park', first_at: 0, last_at: year_9999 + 1000 }
      const { text } = encodeTable(
        'logger',
        { columns, rows },
        { ...bounds, believed_until: bounds.last_at, is_live: true },
      )
      const lines = text.toString().trimEnd().split('\n')
      assert.deepEqual(
        lines.map((line) => line.split('\t')[2]),
        all.map((at) => new Date(at).toISOString()),
      )
    }),
  )
})
