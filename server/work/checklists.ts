/** Rules for checklist items: allowed values, and what a status requires. */
import type { Violation } from '../http/errors.ts'
import { violation } from '../http/errors.ts'
import { isVisible } from '../http/text-forms.ts'

export const itemTypes = [
  'check',
  'pass_fail',
  'measurement',
  'text',
  'photo',
  'signature',
] as const
type ItemType = (typeof itemTypes)[number]

export const itemStatuses = ['pending', 'passed', 'failed', 'not_applicable'] as const
type ItemStatus = (typeof itemStatuses)[number]

/** The fields that determine whether a status is valid. */
export interface ItemState {
  code: string | null
  type: ItemType
  required: boolean
  status: ItemStatus
  value_number: number | null
  value_text: string | null
  value_bool: boolean | null
  min_value: number | null
  max_value: number | null
  note: string | null
  photo_ids: readonly number[]
  calibration_due_date: string | null
}

const valueFields = {
  check: 'value_bool',
  pass_fail: 'value_bool',
  measurement: 'value_number',
  text: 'value_text',
  photo: null,
  signature: 'value_text',
} as const satisfies Record<ItemType, keyof ItemState | null>

/** null without a value or without limits. */
export function withinLimits(item: ItemState): boolean | null {
  const { type, value_number, min_value, max_value } = item
  if (type !== 'measurement' || value_number === null) return null
  if (min_value === null && max_value === null) return null
  return value_number >= (min_value ?? -Infinity) && value_number <= (max_value ?? Infinity)
}

/**
 * Physically possible values by the unit at the end of a code. Temperatures are those of air,
 * modules and oil. Deviations may be negative.
 */
const possible: readonly (readonly [ending: RegExp, min: number, max: number])[] = [
  [/_deviation_pct$/, -100, Infinity],
  [/_pct$/, 0, 100],
  [/_c$/, -90, 300],
  [/_(v|mv|a|w_m2|m_s|mohm|kohm|ohm|k)$/, 0, Infinity],
]

/** In the unit of the code; null for a code without a known unit. */
export function possibleRange(code: string | null): { min: number; max: number } | null {
  const found = possible.find(([ending]) => code !== null && ending.test(code))
  return found ? { min: found[1], max: found[2] } : null
}

function isImpossible({ code, value_number }: ItemState): boolean {
  const range = possibleRange(code)
  if (range === null || value_number === null) return false
  return value_number < range.min || value_number > range.max
}

/** All faults of an item on a day, UTC. */
export const itemFaults = (item: ItemState, today: string): Violation[] => [
  ...valueFaults(item),
  ...limitFaults(item),
  ...statusFaults(item),
  ...calibrationFaults(item, today),
]

/** A measurement with an instrument past its calibration date requires a note. */
function calibrationFaults(item: ItemState, today: string): Violation[] {
  const { type, status, note, calibration_due_date: due } = item
  if (type !== 'measurement' || status !== 'passed' || due === null) return []
  if (due >= today || !isBlank(note)) return []
  const message = `is required: the calibration of the instrument was due on ${due}`
  return [violation('note', 'required', message)]
}

function valueFaults(item: ItemState): Violation[] {
  const { type } = item
  const message = `is not entered in an item of type ${type}`
  return (['value_number', 'value_text', 'value_bool'] as const)
    .filter((field) => field !== valueFields[type] && item[field] !== null)
    .map((field) => violation(field, 'not_allowed_field', message))
}

function limitFaults({ type, min_value, max_value }: ItemState): Violation[] {
  if (min_value === null && max_value === null) return []
  const field = min_value === null ? 'max_value' : 'min_value'
  if (type !== 'measurement') {
    return [violation(field, 'not_allowed_field', 'only measurements have limits')]
  }
  if (min_value === null || max_value === null || min_value <= max_value) return []
  return [violation('max_value', 'out_of_range', 'must not be below min_value')]
}

function statusFaults(item: ItemState): Violation[] {
  const { type, status, required, note, photo_ids } = item
  const absent = (field: keyof ItemState, message: string) => [
    violation(field, 'required', message),
  ]
  if (status === 'not_applicable' && required && isBlank(note)) {
    return absent('note', 'is required when a required item is not applicable')
  }
  if (status === 'failed' && type === 'measurement' && item.value_number === null) {
    return absent('value_number', 'is required before a measurement fails')
  }
  if (status === 'failed' && item.value_bool === true) {
    const message = 'must not be failed while value_bool is true'
    return [violation('status', 'not_allowed_value', message)]
  }
  if (status !== 'passed') return []
  if (type === 'pass_fail' && item.value_bool === null) {
    return absent('value_bool', 'is required before a pass_fail passes')
  }
  if (type === 'measurement' && item.value_number === null) {
    return absent('value_number', 'is required before a measurement passes')
  }
  if (type === 'photo' && photo_ids.length === 0) {
    return absent('photo_ids', 'is required: at least one attachment of the work order')
  }
  if ((type === 'text' || type === 'signature') && isBlank(item.value_text)) {
    return absent('value_text', `is required before a ${type} passes`)
  }
  const message = contradictionIn(item)
  return message === null ? [] : [violation('status', 'not_allowed_value', message)]
}

function contradictionIn(item: ItemState): string | null {
  if (isImpossible(item)) return 'must not be passed: the value is physically impossible'
  if (withinLimits(item) === false) return 'must not be passed: the value is outside its limits'
  return item.value_bool === false ? 'must not be passed while value_bool is false' : null
}

const isBlank = (text: string | null) => text === null || !isVisible(text)
