import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgeZero, type LiveString, peersPower } from './string-currents.ts'

const thresholds = { current_a: 0.1, peer_current_a: 1 }

const strings = (currents_a: readonly (number | null)[], changes: Partial<LiveString> = {}) =>
  currents_a.map(
    (current_a, string_index): LiveString => ({
      string_index,
      mppt_index: 0,
      rated_kw: 10,
      group: 'south',
      is_connected: true,
      first_string_index: 0,
      current_a,
      voltage_v: 800,
      ...changes,
    }),
  )
const zeros = (all: readonly LiveString[]) =>
  judgeZero(all, thresholds).map(({ string }) => string.string_index)

const cases: [what: string, all: LiveString[], expected: number[]][] = [
  ['one of many', strings([6, 6.2, 0, 6.1]), [2]],
  ['all but one, which do not excuse each other', strings([6, 0, 0, 0]), [1, 2, 3]],
  ['a little less', strings([6, 6, 0.1]), []],
  ['current the wrong way', strings([6, 6, -0.4]), [2]],
  ['too little light', strings([0.9, 0.9, 0]), []],
  ['darkness', strings([0, 0, 0]), []],
  ['one that is not measured', strings([6, 6, null]), []],
  [
    'an input without a string',
    [...strings([6, 6]), { ...strings([0], { is_connected: false })[0]!, string_index: 2 }],
    [],
  ],
  [
    'a plane that is in the shade yet',
    [...strings([6, 6]), { ...strings([0], { group: 'west' })[0]!, string_index: 2 }],
    [],
  ],
]
for (const [what, all, expected] of cases) {
  test(`strings without current: ${what}`, () => assert.deepEqual(zeros(all), expected))
}

test('what is missing is what the others give, by rated power', () => {
  const all = [...strings([6, 6.2, 6.4]), { ...strings([0], { rated_kw: 5 })[0]!, string_index: 3 }]
  const [zero] = judgeZero(all, thresholds)
  assert.equal(zero!.peer_current_a, 6.2)
  assert.equal(zero!.missing_kw, (0.5 * 6.2 * 800) / 1000)
  assert.equal(peersPower(all[0]!, all.slice(0, 3)), 5.04)
  assert.equal(judgeZero(strings([6, 0], { voltage_v: null }), thresholds)[0]!.missing_kw, null)
})

test('only who carries nothing is found, and only beside others that carry', () => {
  const current = fc.oneof(fc.constant(null), fc.double({ min: -1, max: 12, noNaN: true }))
  fc.assert(
    fc.property(fc.array(current, { maxLength: 24 }), (currents_a) => {
      const found = judgeZero(strings(currents_a), thresholds)
      for (const { current_a, peer_current_a, peers } of found) {
        assert.ok(current_a < 0.1 && peer_current_a >= 1 && peers.length > 0)
      }
      const dead = currents_a.filter((current_a) => current_a !== null && current_a < 0.1).length
      assert.ok(found.length === 0 || found.length === dead)
    }),
  )
})
