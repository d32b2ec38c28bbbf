import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { AlarmWords } from './decode.ts'
import { huaweiSun2000 } from './huawei-sun2000.ts'
import { sunspecInverter } from './sunspec-inverter.ts'
import type { AlarmTable } from './table.ts'
import { type AlarmDebounce, alarmTransitions, debounceAlarms } from './transitions.ts'

/** A change in short: word, bit and code. */
function changes(table: AlarmTable, previous: AlarmWords | null, current: AlarmWords) {
  const { rising, falling } = alarmTransitions(previous, current, table)
  const short = ({ word, bit, row }: (typeof rising)[number]) =>
    `${word}.${bit} ${row?.code ?? 'unknown'}`
  return { rising: rising.map(short), falling: falling.map(short) }
}

test('without a reading before, all set bits rise', () => {
  assert.deepEqual(changes(huaweiSun2000, null, [1, 0, 2]), {
    rising: ['1.0 2001', '3.1 2085'],
    falling: [],
  })
})

test('only changed bits rise or fall', () => {
  assert.deepEqual(changes(huaweiSun2000, [0b011, 1], [0b110, 1]), {
    rising: ['1.2 2011'],
    falling: ['1.0 2001'],
  })
})

test('unknown bits rise and fall as well, including bit 31 of a too wide word', () => {
  assert.deepEqual(changes(huaweiSun2000, [0, 0, 0, 1], [2 ** 31, 0, 0, 0]), {
    rising: ['1.31 unknown'],
    falling: ['4.0 unknown'],
  })
})

test('a word that was not read, or is not available, changes nothing', () => {
  const none = { rising: [], falling: [] }
  for (const value of [null, 0xffff]) {
    assert.deepEqual(changes(huaweiSun2000, [5], [value]), none)
  }
  assert.deepEqual(changes(huaweiSun2000, [5], []), none)
  assert.deepEqual(changes(sunspecInverter, [5], [0x8000_0000]), none)
})

/** `confirmed` after each of the polls. */
function confirmedAfter(polls: (number | null)[], table = huaweiSun2000): (number | null)[] {
  let state: AlarmDebounce | null = null
  return polls.map((word) => {
    state = debounceAlarms(state, [word], table)
    return state.confirmed[0] ?? null
  })
}

test('an alarm begins and ends after two consecutive polls', () => {
  assert.deepEqual(confirmedAfter([0, 1, 1, 0, 0]), [null, 0, 1, 1, 0])
  assert.deepEqual(confirmedAfter([4, 4]), [null, 4])
})

test('an alarm of one poll, and a gap of one poll, are ignored', () => {
  assert.deepEqual(confirmedAfter([0, 0, 1, 0, 0]), [null, 0, 0, 0, 0])
  assert.deepEqual(confirmedAfter([1, 1, 0, 1, 1]), [null, 1, 1, 1, 1])
})

test('bits are debounced independently', () => {
  assert.deepEqual(confirmedAfter([0b01, 0b11, 0b10]), [null, 0b01, 0b11])
})

test('a poll without words changes nothing', () => {
  assert.deepEqual(confirmedAfter([1, null, 1, 0xffff, 1]), [null, null, 1, 1, 1])
})

test('bits of several polls do not add up to the word that stands for none', () => {
  const read = [0x4880, 0x8c80, 0xe668, 0xfbff, 0x3757]
  assert.deepEqual(confirmedAfter(read).slice(-2), [0xeee8, 0xeee8])
})

test('the highest bit of a word stays positive', () => {
  assert.deepEqual(confirmedAfter([2 ** 31, 2 ** 31]), [null, 2 ** 31])
})

test('the state can be stored as JSON and resumed', () => {
  const state = debounceAlarms(null, [1], huaweiSun2000)
  const restored = JSON.parse(JSON.stringify(state)) as AlarmDebounce
  assert.deepEqual(debounceAlarms(restored, [1], huaweiSun2000).confirmed, [
    1,
    null,
    null,
    null,
    null,
  ])
})

const polls = fc.array(fc.array(fc.option(fc.nat(0xffff)), { maxLength: 5 }), { maxLength: 30 })

test('applying all transitions in order gives the confirmed words', () => {
  fc.assert(
    fc.property(polls, (readings) => {
      const set = new Set<string>()
      let state: AlarmDebounce | null = null
      for (const words of readings) {
        const next = debounceAlarms(state, words, huaweiSun2000)
        const before = state?.confirmed ?? null
        const { rising, falling } = alarmTransitions(before, next.confirmed, huaweiSun2000)
        for (const { word, bit } of rising) {
          assert.ok(!set.has(`${word}.${bit}`))
          set.add(`${word}.${bit}`)
        }
        for (const { word, bit } of falling) assert.ok(set.delete(`${word}.${bit}`))
        const all = alarmTransitions(null, next.confirmed, huaweiSun2000).rising
        assert.deepEqual([...set].sort(), all.map(({ word, bit }) => `${word}.${bit}`).sort())
        state = next
      }
    }),
  )
})
