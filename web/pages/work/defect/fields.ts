import type { Defect } from '@heliograph/sdk'
import { bodyOf, clockProblem, titleProblem, type ValuesOf, valuesOf } from '../form-values.ts'

export const defect_fields = {
  title: 'title',
  severity: 'same',
  type: 'same',
  description: 'text',
  logger_id: 'id',
  inverter_id: 'id',
  string_index: 'number',
  module_position: 'text',
  detection_method: 'same',
  detected_at: 'clock',
  temperature_delta_k: 'number',
  affected_module_count: 'number',
  affected_power_kw: 'number',
  estimated_loss_kwh_year: 'number',
  estimated_loss_amount_year: 'number',
  warranty_claim: 'same',
  warranty_reference: 'text',
  safety_relevant: 'same',
  assigned_to: 'text',
  resolution: 'text',
} as const

export type DefectValues = ValuesOf<typeof defect_fields, Defect>

const blank = {
  title: '',
  severity: 'medium',
  type: null,
  detection_method: null,
  warranty_claim: false,
  safety_relevant: false,
} as Defect

export const noValues: DefectValues = valuesOf(defect_fields, blank, 'UTC')

/** Request body of the API; without `detected_at` unless given. */
export function defectBody(values: DefectValues, timezone: string) {
  const { detected_at, ...body } = bodyOf(defect_fields, values, timezone)
  return { ...body, ...(detected_at && { detected_at }) }
}

export const rulesOf = (timezone: string) => ({
  title: titleProblem,
  detected_at: (at: string) => clockProblem(at, timezone),
})
