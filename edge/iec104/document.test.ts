import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parsePointList } from './point-list.ts'

test('the lists of the document are whole lists', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/iec104.md'), 'utf8')
  const lists = [...text.matchAll(/```csv\n([^`]*)```/g)].map(([, list = '']) => list)
  assert.equal(lists.length, 2)
  for (const list of lists) {
    const { points, faults } = parsePointList(list)
    assert.deepEqual(faults, [])
    assert.equal(points.length, list.trim().split('\n').length - 1)
  }
})
