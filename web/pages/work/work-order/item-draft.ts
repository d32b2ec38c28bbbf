/** What a person has typed for an item, and which verdicts that allows: docs/maintenance.md. */
import type { ChecklistItem, ChecklistItemChange } from '@heliograph/sdk'

type Verdict = ChecklistItem['status']

export interface Draft {
  value_number: number | null
  value_text: string
  min_value: number | null
  max_value: number | null
  note: string
  photo_ids: number[]
  instrument: string
  instrument_serial: string
  calibration_due_date: string
}

export const draftOf = (item: ChecklistItem): Draft => ({
  value_number: item.value_number,
  value_text: item.value_text ?? '',
  min_value: item.min_value,
  max_value: item.max_value,
  note: item.note ?? '',
  photo_ids: item.photo_ids,
  instrument: item.instrument ?? '',
  instrument_serial: item.instrument_serial ?? '',
  calibration_due_date: item.calibration_due_date ?? '',
})

const unitOf = ({ unit }: ChecklistItem) => (unit ? ` ${unit}` : '')

/** A number that somebody wrote into a checklist, as exact as he wrote it. */
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

/** Why it cannot be said so yet; null where it can. */
export function whyNot(item: ChecklistItem, draft: Draft, verdict: Verdict): string | null {
  if (verdict === 'not_applicable' && item.required && !draft.note.trim()) {
    return 'Not applicable? Add a note that says why.'
  }
  if (verdict !== 'passed') return null
  if (item.type === 'measurement') return whyNotMeasured(item, draft)
  const is_written = item.type === 'text' || item.type === 'signature'
  if (is_written && !draft.value_text.trim()) {
    return `To pass it, give the ${item.type === 'signature' ? 'name of who signs' : 'text'}.`
  }
  if (item.type === 'photo' && draft.photo_ids.length === 0) return 'To pass it, choose a picture.'
  return null
}

function whyNotMeasured(item: ChecklistItem, draft: Draft): string | null {
  const { value_number: value, min_value: min, max_value: max } = draft
  if (value === null) return 'To pass it, give the measured value.'
  if ((min !== null && value < min) || (max !== null && value > max)) {
    return `${plain(value)}${unitOf(item)} is out of the limits: it can only fail.`
  }
  const is_over = draft.calibration_due_date !== '' && draft.calibration_due_date < today()
  if (is_over && !draft.note.trim()) return 'The calibration is over: to pass it, add a note.'
  return null
}

const today = () => new Date().toISOString().slice(0, 10)

/** What is sent: what was typed, and the verdict where it is another. */
export function changeOf(item: ChecklistItem, draft: Draft, verdict: Verdict): ChecklistItemChange {
  const before = draftOf(item)
  const typed = Object.entries(draft).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Draft]),
  )
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
