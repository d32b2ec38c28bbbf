import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { categories } from './categories.ts'
import { type ItemState, itemFaults, itemTypes, possibleRange, withinLimits } from './checklists.ts'

const today = '2026-06-21'

const item = (change: Partial<ItemState>): ItemState => ({
  code: null,
  calibration_due_date: null,
  type: 'measurement',
  required: true,
  status: 'pending',
  value_number: null,
  value_text: null,
  value_bool: null,
  min_value: null,
  max_value: null,
  note: null,
  photo_ids: [],
  ...change,
})
const faults = (change: Partial<ItemState>) =>
  itemFaults(item(change), today).map(({ field, code }) => `${field} ${code}`)

test('limits are inclusive, and either may be absent', () => {
  assert.equal(withinLimits(item({ value_number: 1, min_value: 1 })), true)
  assert.equal(withinLimits(item({ value_number: 0.999, min_value: 1 })), false)
  assert.equal(withinLimits(item({ value_number: 1, max_value: 1 })), true)
  assert.equal(withinLimits(item({ value_number: 2, min_value: 0, max_value: 1 })), false)
  assert.equal(withinLimits(item({ value_number: 2 })), null)
  assert.equal(withinLimits(item({ min_value: 1 })), null)
})

test('a measurement passes with a value within its limits alone', () => {
  const number = fc.option(fc.double({ noNaN: true }))
  fc.assert(
    fc.property(number, number, number, (value_number, one, other) => {
      const [min_value, max_value] =
        one !== null && other !== null && one > other ? [other, one] : [one, other]
      const state = { value_number, min_value, max_value, status: 'passed' } as const
      const is_out =
        value_number === null ||
        value_number < (min_value ?? -Infinity) ||
        value_number > (max_value ?? Infinity)
      assert.equal(faults(state).length > 0, is_out)
    }),
  )
})

test('each type passes with what it asks for', () => {
  assert.deepEqual(faults({ type: 'check', status: 'passed' }), [])
  assert.deepEqual(faults({ type: 'pass_fail', status: 'passed', value_bool: true }), [])
  assert.deepEqual(faults({ type: 'pass_fail', status: 'passed', value_bool: false }), [
    'status not_allowed_value',
  ])
  assert.deepEqual(faults({ type: 'text', status: 'passed', value_text: ' ' }), [
    'value_text required',
  ])
  assert.deepEqual(faults({ type: 'signature', status: 'passed', value_text: 'A. Bee' }), [])
  assert.deepEqual(faults({ type: 'signature', status: 'passed', value_text: ' \u200b' }), [
    'value_text required',
  ])
  assert.deepEqual(faults({ type: 'photo', status: 'passed' }), ['photo_ids required'])
  assert.deepEqual(faults({ type: 'photo', status: 'passed', photo_ids: [1] }), [])
  assert.deepEqual(faults({ status: 'failed' }), ['value_number required'])
  assert.deepEqual(faults({ type: 'check', status: 'failed' }), [])
})

test('a required item does not apply only for a reason', () => {
  assert.deepEqual(faults({ status: 'not_applicable' }), ['note required'])
  assert.deepEqual(faults({ status: 'not_applicable', note: 'no tracker' }), [])
  assert.deepEqual(faults({ status: 'not_applicable', required: false }), [])
})

test('values and limits stand where they belong', () => {
  assert.deepEqual(faults({ type: 'check', value_number: 1 }), ['value_number not_allowed_field'])
  assert.deepEqual(faults({ type: 'text', max_value: 1 }), ['max_value not_allowed_field'])
  assert.deepEqual(faults({ min_value: 2, max_value: 1 }), ['max_value out_of_range'])
})

test('every line of every category is one that can be filled in', () => {
  const ids = categories.map(({ category_id }) => category_id)
  assert.equal(new Set(ids).size, ids.length)
  for (const { code, parent_category_id, default_checklist } of categories) {
    assert.ok(parent_category_id === null || ids.includes(parent_category_id), code)
    assert.ok(
      default_checklist.some(({ required }) => required),
      code,
    )
    for (const line of default_checklist) {
      assert.deepEqual(itemFaults(item(line), today), [], `${code}: ${line.title}`)
      assert.ok(itemTypes.includes(line.type))
      assert.equal(line.unit !== null, line.type === 'measurement', `${code}: ${line.title}`)
    }
  }
})

test('the string test records what IEC 62446-1 asks for, with its limits', () => {
  const { default_checklist } = categories.find(({ code }) => code === 'pv_string_test')!
  const limits = Object.fromEntries(
    default_checklist.flatMap(({ code, min_value, max_value }) =>
      code === null ? [] : [[code, [min_value, max_value]]],
    ),
  )
  assert.deepEqual(limits, {
    poa_irradiance_w_m2: [400, null],
    module_temperature_c: [null, null],
    polarity_ok: [null, null],
    voc_v: [null, null],
    isc_a: [null, null],
    insulation_test_voltage_v: [250, 1500],
    insulation_positive_mohm: [1, null],
    insulation_negative_mohm: [1, null],
    fuse_rating_a: [null, null],
  })
})

test('what cannot be measured does not pass, whatever the limits', () => {
  const passes = (code: string, value_number: number) =>
    faults({ code, value_number, status: 'passed' }).length === 0
  for (const [code, possible, impossible] of [
    ...([
      ['voc_v', 735, -700],
      ['isc_a', 0, -0.1],
      ['earth_continuity_ohm', 0.2, -0.2],
    ] as const),
    ...([
      ['module_temperature_c', -20, -90.1],
      ['ambient_temperature_c', -90, 301],
    ] as const),
    ...([
      ['soiling_before_pct', 100, 101],
      ['pmax_deviation_pct', -3, -101],
    ] as const),
    ...([
      ['poa_irradiance_w_m2', 900, -1],
      ['insulation_kohm', 90, -90],
    ] as const),
  ]) {
    assert.deepEqual([passes(code, possible), passes(code, impossible)], [true, false], code)
  }
  assert.deepEqual(faults({ code: 'voc_v', value_number: -700, status: 'failed' }), [])
})

test('every measurement of a category has a range of what is possible', () => {
  const codes = categories.flatMap(({ default_checklist }) =>
    default_checklist.filter(({ type }) => type === 'measurement').map(({ code }) => code),
  )
  assert.ok(codes.length > 10)
  assert.deepEqual(
    codes.filter((code) => possibleRange(code) === null),
    [],
  )
})

test('a tester whose calibration is over proves something only with a note', () => {
  const passed = { value_number: 5, status: 'passed' } as const
  assert.deepEqual(faults({ ...passed, calibration_due_date: today }), [])
  const over = { ...passed, calibration_due_date: '2026-06-20' }
  assert.deepEqual(faults(over), ['note required'])
  assert.deepEqual(faults({ ...over, note: ' ' }), ['note required'])
  assert.deepEqual(faults({ ...over, note: 'held against another tester' }), [])
  assert.deepEqual(faults({ ...over, status: 'failed' }), [])
})

test('a statement passes with true alone, and fails not with it', () => {
  const said = (status: 'passed' | 'failed', value_bool: boolean | null) =>
    faults({ type: 'pass_fail', status, value_bool })
  assert.deepEqual(said('passed', null), ['value_bool required'])
  assert.deepEqual(said('passed', false), ['status not_allowed_value'])
  assert.deepEqual(said('passed', true), [])
  assert.deepEqual(said('failed', true), ['status not_allowed_value'])
  assert.deepEqual([said('failed', false), said('failed', null)], [[], []])
})
