/** Input for a checklist item, and the verdicts it allows: docs/maintenance.md. */
import type { ChecklistItem, ChecklistItemChange } from '@heliograph/sdk'
import { changedFields } from '../../../ui/changed-fields.ts'
import { type ValuesOf, valuesOf } from '../form-values.ts'

type Verdict = ChecklistItem['status']

const item_fields = {
  value_number: 'same',
  value_text: 'text',
  min_value: 'same',
  max_value: 'same',
  note: 'text',
  photo_ids: 'same',
  instrument: 'text',
  instrument_serial: 'text',
  calibration_due_date: 'text',
} as const

export type Draft = ValuesOf<typeof item_fields, ChecklistItem>

export const draftOf = (item: ChecklistItem): Draft => valuesOf(item_fields, item, 'UTC')

const unitOf = ({ unit }: ChecklistItem) => (unit ? ` ${unit}` : '')

/** Formats a number with all its digits. */
const plain = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 9 })

export function limitsText(item: ChecklistItem): string | null {
  const { min_value: min, max_value: max } = item
  if (item.type !== 'measurement') return null
  if (min !== null && max !== null)
    return `Passes from ${plain(min)} to ${plain(max)}${unitOf(item)}`
  if (min !== null) return `Passes from ${plain(min)}${unitOf(item)} up`
  if (max !== null) return `Passes up to ${plain(max)}${unitOf(item)}`
  return null
}

/** Reason why a verdict is not allowed yet; null when it is allowed. */
export function whyNot(item: ChecklistItem, draft: Draft, verdict: Verdict): string | null {
  if (verdict === 'not_applicable' && item.required && !draft.note.trim()) {
    return 'Add a note with the reason.'
  }
  if (verdict !== 'passed') return null
  if (item.type === 'measurement') return whyNotMeasured(item, draft)
  const is_written = item.type === 'text' || item.type === 'signature'
  if (is_written && !draft.value_text.trim()) {
    return `Enter the ${item.type === 'signature' ? 'name of the signatory' : 'text'} to pass.`
  }
  if (item.type === 'photo' && draft.photo_ids.length === 0) return 'Choose a picture to pass.'
  return null
}

function whyNotMeasured(item: ChecklistItem, draft: Draft): string | null {
  const { value_number: value, min_value: min, max_value: max } = draft
  if (value === null) return 'Enter the measured value to pass.'
  if ((min !== null && value < min) || (max !== null && value > max)) {
    return `${plain(value)}${unitOf(item)} is outside the limits: the item can only fail.`
  }
  const is_over = draft.calibration_due_date !== '' && draft.calibration_due_date < today()
  if (is_over && !draft.note.trim()) return 'Calibration expired: add a note to pass.'
  return null
}

const today = () => new Date().toISOString().slice(0, 10)

export function changeOf(item: ChecklistItem, draft: Draft, verdict: Verdict): ChecklistItemChange {
  const typed = Object.entries(changedFields(draftOf(item), draft))
  const fields = Object.fromEntries(
    typed.map(([name, value]) => [name, value === '' ? null : value]),
  )
  if (verdict === item.status) return fields
  const said = item.type === 'pass_fail' ? { value_bool: answers[verdict] } : {}
  return { ...fields, ...said, status: verdict }
}

const answers: Record<Verdict, boolean | null> = {
  passed: true,
  failed: false,
  not_applicable: null,
  pending: null,
}
