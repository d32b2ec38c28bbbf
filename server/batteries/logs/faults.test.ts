import assert from 'node:assert/strict'
import test from 'node:test'
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import type { AlarmedPart } from '../alarm-words.ts'
import type { Condition } from '../conditions.ts'
import { pcsFaults } from './faults.ts'

const part = (pcs_idx: number, at: string, ...words: (number | null)[]): AlarmedPart => ({
  measured_at: new Date(`2026-06-21T${at}Z`),
  table: findAlarmTable('sinexcel-pws')!,
  words,
  alarm_source: 'pcs',
  pcs_idx,
  cluster_idx: null,
})
const told = (source_id: string, place: string, edge: 'rising' | 'falling'): Condition => ({
  source_kind: 'pcs',
  source_id,
  code: `alarm:sinexcel-pws:${place}`,
  edge,
  severity: 'major',
  message: 'x',
  at: new Date('2026-06-21T09:00:00Z'),
})

test('a bit is asserted since the edge told so of its PCS, its word and itself', () => {
  const since = (...conditions: Condition[]) =>
    pcsFaults([part(0, '10:00:00', null, 2)], conditions).active[0]!.asserted_since_at
  assert.equal(since(told('1.0', '2:1', 'rising')), '2026-06-21T09:00:00.000Z')
  assert.equal(since(told('1.0', '2:1', 'falling')), null)
  assert.equal(since(told('1.1', '2:1', 'rising')), null)
  assert.equal(since(told('1.0', '1:1', 'rising')), null)
  assert.equal(since(told('1.0', '2:2', 'rising')), null)
})

test('words that were not read are left out, and the oldest reading is told', () => {
  const faults = pcsFaults([part(0, '10:00:00', null, 0), part(1, '09:00:00', 5)], [])
  assert.equal(faults.measured_at, '2026-06-21T09:00:00.000Z')
  assert.deepEqual(
    faults.words.map(({ pcs_idx, word_index, hex, bits }) => [
      pcs_idx,
      word_index,
      hex,
      bits.length,
    ]),
    [
      [0, 2, '0x00000000', 0],
      [1, 1, '0x00000005', 2],
    ],
  )
})
