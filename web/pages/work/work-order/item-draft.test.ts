import assert from 'node:assert/strict'
import test from 'node:test'
import type { ChecklistItem } from '@heliograph/sdk'
import { itemFaults, itemTypes } from '@heliograph/server/work/checklists'
import fc from 'fast-check'
import { changeOf, type Draft, draftOf, limitsText, whyNot } from './item-draft.ts'

const item = (change: Partial<ChecklistItem>) =>
  ({
    type: 'measurement',
    required: true,
    status: 'pending',
    unit: 'V',
    code: null,
    min_value: null,
    max_value: null,
    value_number: null,
    value_text: null,
    value_bool: null,
    note: null,
    photo_ids: [],
    instrument: null,
    instrument_serial: null,
    calibration_due_date: null,
    ...change,
  }) as ChecklistItem
const draft = (of: ChecklistItem, change: Partial<Draft> = {}): Draft => ({
  ...draftOf(of),
  ...change,
})

const limits = (min_value: number | null, max_value: number | null, unit: string | null = 'V') =>
  limitsText(item({ min_value, max_value, unit }))

test('the limits are told as they are', () => {
  assert.equal(limits(600, 1000), 'Passes from 600 to 1,000 V')
  assert.equal(limits(-0.5, null), 'Passes from -0.5 V up')
  assert.equal(limits(null, 0.005, 'Ω'), 'Passes up to 0.005 Ω')
  assert.equal(limits(0, null, null), 'Passes from 0 up')
  assert.equal(limits(null, null), null)
  assert.equal(limitsText(item({ type: 'check', min_value: 1 })), null)
})

test('what the page lets pass, the server takes, and the other way round', () => {
  const number = fc.constantFrom(null, -1, 0, 0.5, 1, 2)
  const text = fc.constantFrom('', ' ', 'yes')
  const typed = fc.record({
    value_number: number,
    min_value: number,
    max_value: number,
    value_text: text,
    note: text,
    photo_ids: fc.constantFrom<number[]>([], [4]),
    calibration_due_date: fc.constantFrom('', '2020-01-01', '2999-12-31'),
  })
  const verdict = fc.constantFrom('passed', 'not_applicable')
  const today = new Date().toISOString().slice(0, 10)
  fc.assert(
    fc.property(
      fc.constantFrom(...itemTypes),
      fc.boolean(),
      typed,
      verdict,
      (type, required, all, status) => {
        const own = {
          note: all.note,
          photo_ids: type === 'photo' ? all.photo_ids : [],
          ...(type === 'measurement' && {
            value_number: all.value_number,
            min_value: all.min_value,
            max_value: all.max_value,
            calibration_due_date: all.calibration_due_date,
          }),
          ...((type === 'text' || type === 'signature') && { value_text: all.value_text }),
        }
        // Limits the wrong way round are a fault of their own, beside them.
        fc.pre((own.min_value ?? -9) <= (own.max_value ?? 9))
        const before = item({ type, required })
        const after = { ...before, ...changeOf(before, draft(before, own), status) }
        const is_taken = itemFaults(after as Parameters<typeof itemFaults>[0], today).length === 0
        assert.equal(whyNot(before, draft(before, own), status) === null, is_taken)
      },
    ),
    { numRuns: 1000 },
  )
})

test('only what was typed is sent, with the verdict where it is another', () => {
  const seen = item({ value_number: 5, note: 'old', status: 'passed' })
  assert.deepEqual(changeOf(seen, draft(seen), 'passed'), {})
  assert.deepEqual(changeOf(seen, draft(seen, { value_number: null, note: '' }), 'failed'), {
    value_number: null,
    note: null,
    status: 'failed',
  })
  const question = item({ type: 'pass_fail' })
  const said = (verdict: ChecklistItem['status']) => changeOf(question, draft(question), verdict)
  assert.deepEqual(said('passed'), { value_bool: true, status: 'passed' })
  assert.deepEqual(said('failed'), { value_bool: false, status: 'failed' })
  assert.deepEqual(said('not_applicable'), { value_bool: null, status: 'not_applicable' })
})

test('what is out of the limits is told with its unit', () => {
  const limited = item({ min_value: 1, unit: 'MΩ' })
  assert.equal(
    whyNot(limited, draft(limited, { value_number: 0.996 }), 'passed'),
    '0.996 MΩ is outside the limits: the item can only fail.',
  )
})
