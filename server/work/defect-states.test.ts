import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import {
  type DefectState,
  defectRule,
  defectStates,
  defectTransitions,
  enteredDefect,
  isFinal,
  newDefectState,
} from './defect-states.ts'

test('every state is reached, verified from resolved alone, and only verified is final', () => {
  const reached = new Set(Object.values(defectTransitions).flat())
  assert.deepEqual(new Set(defectStates), reached)
  const before = defectStates.filter((state) => defectTransitions[state].includes('verified'))
  assert.deepEqual(before, ['resolved'])
  assert.deepEqual(defectStates.filter(isFinal), ['verified'])
})

test('the rule of the reference and the document tell the whole table', () => {
  const told = defectRule.split('; ').map((line) => [...line.matchAll(/`(\w+)`/g)])
  const read = Object.fromEntries(
    told.map(([from, ...to]) => [from![1], to.map(([, state]) => state)]),
  )
  assert.deepEqual(read, defectTransitions)
  const path = fileURLToPath(new URL('../../docs/maintenance.md', import.meta.url))
  const chapter = readFileSync(path, 'utf8').split('\n## Defects\n')[1]!.split('\n## ')[0]!
  const rows = chapter
    .split('\n')
    .filter((line) => /^- `\w+` /.test(line) && line.includes(' goes '))
  const documented = rows.map((line) => {
    const [from, ...to] = [...line.matchAll(/`(\w+)`/g)].map(([, state]) => state)
    return [from, to]
  })
  assert.deepEqual(Object.fromEntries(documented), defectTransitions)
})

test('whatever the way, the record says when and by whom', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10), { maxLength: 20 }), (turns) => {
      let record = newDefectState
      let resolved: number | null = null
      let verified: number | null = null
      for (const [minute, turn] of turns.entries()) {
        const next = defectTransitions[record.status]
        if (next.length === 0) break
        const status: DefectState = next[turn % next.length]!
        const now = new Date(minute * 60_000)
        record = enteredDefect(record, status, { key_name: `name ${minute}`, now })
        if (status === 'verified') verified = minute
        else resolved = status === 'resolved' ? minute : null
      }
      const at = (minute: number | null) => (minute === null ? null : new Date(minute * 60_000))
      const by = (minute: number | null) => (minute === null ? null : `name ${minute}`)
      const { status: _, ...rest } = record
      assert.deepEqual(rest, {
        resolved_at: at(resolved),
        resolved_by: by(resolved),
        verified_at: at(verified),
        verified_by: by(verified),
      })
    }),
  )
})
