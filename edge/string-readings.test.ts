import assert from 'node:assert/strict'
import test from 'node:test'
import { emptyReading } from '@heliograph/domain/readings'
import type { InverterAnswer } from './drivers/driver.ts'
import { groupOf, inverterOf } from './fixtures/sites.ts'
import { ownStrings, planStrings } from './string-readings.ts'

function answer(mppt_current_a: (number | null)[], strings: InverterAnswer['strings'] = null) {
  const mppt_voltage_v = mppt_current_a.map((_, index) => 600 + index)
  const inverter = { ...emptyReading('inverter'), mppt_current_a, mppt_voltage_v }
  return { inverter, strings, alarm_table: 'sunspec-inverter', ratings: null, limit: null }
}

test('without string currents, a string alone on its MPPT has the current of the MPPT', () => {
  const plan = planStrings(inverterOf(1, { string_groups: [groupOf(2, 1), groupOf(2, 2)] }))
  assert.deepEqual(ownStrings(plan, answer([8, null, 15])), [
    { first_string_index: 0, current_a: [8, null, null, null], voltage_v: [600, 601, 602, 602] },
  ])
})

test('an input to which nothing is connected leaves its neighbour alone', () => {
  const plan = planStrings(inverterOf(1, { string_groups: [groupOf(1, 1), groupOf(1, 1, false)] }))
  assert.deepEqual(ownStrings(plan, answer([8, 0]))[0]?.current_a, [8, null])
})

test('string currents that are there are not mixed with those of MPPTs', () => {
  const plan = planStrings(inverterOf(1, { string_groups: [groupOf(3, 1)] }))
  const strings = { current_a: [4, null, 0], voltage_v: [500, null, null] }
  assert.deepEqual(ownStrings(plan, answer([8, 8, 8], strings)), [
    { first_string_index: 0, current_a: [4, null, 0], voltage_v: [500, 601, 602] },
  ])
})

test('nothing known of any string is no row', () => {
  assert.deepEqual(ownStrings(planStrings(inverterOf(1)), answer([8, 8, 8, 8, 8, 8])), [])
})
