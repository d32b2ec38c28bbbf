/** What may be entered in a line of a checklist, and what is to be there before it is done. */
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

/** Of an item, what decides about its status. */
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

/** Whether what was measured lies within the limits; null without a value or without limits. */
export function withinLimits(item: ItemState): boolean | null {
  const { type, value_number, min_value, max_value } = item
  if (type !== 'measurement' || value_number === null) return null
  if (min_value === null && max_value === null) return null
  return value_number >= (min_value ?? -Infinity) && value_number <= (max_value ?? Infinity)
}

/**
 * By the unit at the end of a code: what a reading can be at all. Temperatures are those of air,
 * modules and oil; a deviation and a difference have no sign of their own.
 */
const possible: readonly (readonly [ending: RegExp, min: number, max: number])[] = [
  [/_deviation_pct$/, -100, Infinity],
  [/_pct$/, 0, 100],
  [/_c$/, -90, 300],
  [/_(v|mv|a|w_m2|m_s|mohm|kohm|ohm|k)$/, 0, Infinity],
]

/** In the unit of the code; null where the code says nothing. */
export function possibleRange(code: string | null): { min: number; max: number } | null {
  const found = possible.find(([ending]) => code !== null && ending.test(code))
  return found ? { min: found[1], max: found[2] } : null
}

function isImpossible({ code, value_number }: ItemState): boolean {
  const range = possibleRange(code)
  return range !== null && value_number !== null
    ? value_number < range.min || value_number > range.max
    : false
}

interface ItemFault {
  field: keyof ItemState
  code: 'required' | 'not_allowed_value' | 'not_allowed_field' | 'out_of_range'
  message: string
}

/** Everything that keeps an item from standing as it is on a day, UTC; none where it may. */
export function itemFaults(item: ItemState, today: string): ItemFault[] {
  return [
    ...valueFaults(item),
    ...limitFaults(item),
    ...statusFaults(item),
    ...calibrationFaults(item, today),
  ]
}

/** A tester whose calibration is over proves something only for a reason that is written down. */
function calibrationFaults(item: ItemState, today: string): ItemFault[] {
  const { type, status, note, calibration_due_date: due } = item
  if (type !== 'measurement' || status !== 'passed' || due === null) return []
  if (due >= today || !isBlank(note)) return []
  const message = `is required: the calibration of the tester was due on ${due}`
  return [{ field: 'note', code: 'required', message }]
}

function valueFaults(item: ItemState): ItemFault[] {
  const { type } = item
  return (['value_number', 'value_text', 'value_bool'] as const)
    .filter((field) => field !== valueFields[type] && item[field] !== null)
    .map((field) => ({
      field,
      code: 'not_allowed_field' as const,
      message: `is not entered in an item of type ${type}`,
    }))
}

function limitFaults({ type, min_value, max_value }: ItemState): ItemFault[] {
  if (min_value === null && max_value === null) return []
  const field = min_value === null ? 'max_value' : 'min_value'
  if (type !== 'measurement') {
    return [{ field, code: 'not_allowed_field', message: 'only measurements have limits' }]
  }
  if (min_value === null || max_value === null || min_value <= max_value) return []
  return [{ field: 'max_value', code: 'out_of_range', message: 'must not be below min_value' }]
}

function statusFaults(item: ItemState): ItemFault[] {
  const { type, status, required, note, photo_ids } = item
  const absent = (field: keyof ItemState, message: string): ItemFault[] => [
    { field, code: 'required', message },
  ]
  if (status === 'not_applicable' && required && isBlank(note)) {
    return absent('note', 'is required where a required item does not apply')
  }
  if (status === 'failed' && type === 'measurement' && item.value_number === null) {
    return absent('value_number', 'is required before a measurement fails')
  }
  if (status === 'failed' && item.value_bool === true) {
    const message = 'value_bool is true: it cannot have failed'
    return [{ field: 'status', code: 'not_allowed_value', message }]
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
  return contradictions(item).map((message) => ({
    field: 'status',
    code: 'not_allowed_value',
    message,
  }))
}

function contradictions(item: ItemState): string[] {
  if (isImpossible(item)) return ['no such value can be measured: it cannot be passed']
  if (withinLimits(item) === false) {
    return ['what was measured is out of its limits: it cannot be passed']
  }
  return item.value_bool === false ? ['value_bool is false: it cannot be passed'] : []
}

const isBlank = (text: string | null) => text === null || !isVisible(text)
