import assert from 'node:assert/strict'
import test from 'node:test'
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import fc from 'fast-check'
import type { AlarmedPart, UnitWords } from './alarm-words.ts'
import { alarmStates } from './alarms.ts'
import { type Condition, codeOf, placeOf } from './conditions.ts'

const measured_at = new Date('2026-06-21T10:00:00Z')
const battery = findAlarmTable('sunspec-battery-802')!
const string = findAlarmTable('sunspec-string-804')!

const unit = (...words: (number | null)[]): AlarmedPart => ({
  measured_at,
  table: battery,
  words,
  alarm_source: 'bms',
  pcs_idx: null,
  cluster_idx: null,
})
const cluster = (cluster_idx: number, word: number | null): AlarmedPart => ({
  measured_at,
  table: string,
  words: [word, null],
  alarm_source: 'cluster',
  pcs_idx: null,
  cluster_idx,
})
const wordsOf = (...parts: AlarmedPart[]): UnitWords => ({
  measured_at,
  parts,
  measured: {},
  protection: [],
})

const condition = (source_id: string, code: string, over: Partial<Condition> = {}): Condition => ({
  source_kind: 'bess',
  source_id,
  code,
  edge: 'rising',
  severity: 'warning',
  message: 'as told',
  at: new Date('2026-06-21T09:00:00Z'),
  ...over,
})
const falling = (hour: number): Partial<Condition> => ({
  edge: 'falling',
  at: new Date(Date.UTC(2026, 5, 21, hour)),
})

test('of a word that was not read the last that the edge told counts', () => {
  const told = [condition('1', 'alarm:sunspec-battery-802:1:1')]
  const isSet = (word: number | null) =>
    alarmStates(wordsOf(unit(word)), told).find(({ code }) => code === 'OVER_TEMP_ALARM')!.is_set
  assert.deepEqual(
    [null, 2 ** 31, 0, 2].map(isSet),
    // Read, the word itself is newer than what two polls had to agree on.
    [true, true, false, true],
  )
})

test('what was told of a bit that no table explains is not lost', () => {
  const told = [condition('1', 'alarm:sunspec-battery-802:2:5', falling(8))]
  const [state] = alarmStates(wordsOf(unit(0, 0)), told).filter(({ code }) =>
    code.startsWith('alarm_2'),
  )
  assert.deepEqual(
    [state!.code, state!.is_set, state!.cleared_at],
    ['alarm_2_bit_5', false, '2026-06-21T08:00:00.000Z'],
  )
})

test('an alarm that no cluster has is told once, as it was cleared last', () => {
  const told = [
    condition('1.cluster.0', 'alarm:sunspec-string-804:1:21', falling(7)),
    condition('1.cluster.2', 'alarm:sunspec-string-804:1:21', falling(9)),
    condition('1.cluster.1', 'alarm:sunspec-string-804:1:21', falling(8)),
  ]
  const parts = [cluster(0, 0), cluster(1, 0), cluster(2, 4)]
  const states = alarmStates(wordsOf(...parts), told)
  assert.equal(states.length, string.rows.length)
  const fan = states.filter(({ code }) => code === 'FAN_ERROR')
  assert.deepEqual(
    fan.map(({ is_set, cluster_idx, cleared_at }) => [is_set, cluster_idx, cleared_at]),
    [[false, null, '2026-06-21T09:00:00.000Z']],
  )
  const warm = states.filter(({ code }) => code === 'OVER_TEMP_WARNING')
  assert.deepEqual(
    warm.map(({ is_set, cluster_idx }) => [is_set, cluster_idx]),
    [[true, 2]],
  )
})

test('minor is a warning, and grave what nothing says the effect of', () => {
  const minor = condition('1', 'something', { severity: 'minor' })
  const major = condition('1', 'something_else', { severity: 'major' })
  const states = alarmStates(wordsOf(), [minor, major])
  assert.deepEqual(
    states.map(({ code, source, severity, affects_power }) => [
      code,
      source,
      severity,
      affects_power,
    ]),
    [
      ['something', 'ems', 'warning', false],
      ['something_else', 'ems', 'major', true],
    ],
  )
})

test('sources are named for the part that they are', () => {
  const source = (source_kind: 'bess' | 'pcs', source_id: string) => ({
    ...placeOf({ source_kind, source_id }),
    code: codeOf({ source_kind, source_id, code: 'device_offline' }),
  })
  assert.deepEqual(source('bess', '7'), {
    pcs_idx: null,
    cluster_idx: null,
    code: 'device_offline',
  })
  assert.deepEqual(source('bess', '7.cluster.12'), {
    pcs_idx: null,
    cluster_idx: 12,
    code: 'device_offline',
  })
  assert.deepEqual(source('pcs', '7.1'), {
    pcs_idx: 1,
    cluster_idx: null,
    code: 'device_offline',
  })
  assert.equal(source('bess', '7.setup').code, 'device_offline:setup')
})

test('every set bit of a word that is there is told, and no other is set', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.nat(3), (value, nth) => {
      const words = [0, 0, 0, 0].map((_, index) => (index === nth ? value : 0))
      const set = alarmStates(wordsOf(unit(...words)), []).filter(({ is_set }) => is_set)
      const count = value.toString(2).replaceAll('0', '').length
      assert.equal(set.length, count)
    }),
  )
})
