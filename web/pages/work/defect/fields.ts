/** Form values of a defect, with the field names of the API. */
import type { Defect } from '@heliograph/sdk'
import { clockAt, instantOf } from '../../../ui/site-clock.ts'
import { idOf, idText, numberOf, textOf } from '../work-order/fields.ts'

export interface DefectValues {
  title: string
  severity: Defect['severity']
  type: Defect['type']
  description: string
  logger_id: string | null
  inverter_id: string | null
  string_index: number | ''
  module_position: string
  detection_method: Defect['detection_method']
  detected_at: string
  temperature_delta_k: number | ''
  affected_module_count: number | ''
  affected_power_kw: number | ''
  estimated_loss_kwh_year: number | ''
  estimated_loss_amount_year: number | ''
  warranty_claim: boolean
  warranty_reference: string
  safety_relevant: boolean
  assigned_to: string
  resolution: string
}

export const noValues: DefectValues = {
  title: '',
  severity: 'medium',
  type: null,
  description: '',
  logger_id: null,
  inverter_id: null,
  string_index: '',
  module_position: '',
  detection_method: null,
  detected_at: '',
  temperature_delta_k: '',
  affected_module_count: '',
  affected_power_kw: '',
  estimated_loss_kwh_year: '',
  estimated_loss_amount_year: '',
  warranty_claim: false,
  warranty_reference: '',
  safety_relevant: false,
  assigned_to: '',
  resolution: '',
}

export const valuesOf = (defect: Defect, timezone: string): DefectValues => ({
  title: defect.title,
  severity: defect.severity,
  type: defect.type,
  description: defect.description ?? '',
  logger_id: idText(defect.logger_id),
  inverter_id: idText(defect.inverter_id),
  string_index: defect.string_index ?? '',
  module_position: defect.module_position ?? '',
  detection_method: defect.detection_method,
  detected_at: clockAt(Date.parse(defect.detected_at), timezone),
  temperature_delta_k: defect.temperature_delta_k ?? '',
  affected_module_count: defect.affected_module_count ?? '',
  affected_power_kw: defect.affected_power_kw ?? '',
  estimated_loss_kwh_year: defect.estimated_loss_kwh_year ?? '',
  estimated_loss_amount_year: defect.estimated_loss_amount_year ?? '',
  warranty_claim: defect.warranty_claim,
  warranty_reference: defect.warranty_reference ?? '',
  safety_relevant: defect.safety_relevant,
  assigned_to: defect.assigned_to ?? '',
  resolution: defect.resolution ?? '',
})

/** Request body of the API; without `detected_at` unless given. */
export function bodyOf(values: DefectValues, timezone: string) {
  const at_ms = values.detected_at === '' ? null : instantOf(values.detected_at, timezone)
  return {
    title: values.title.trim(),
    severity: values.severity,
    type: values.type,
    description: textOf(values.description),
    logger_id: idOf(values.logger_id),
    inverter_id: idOf(values.inverter_id),
    string_index: numberOf(values.string_index),
    module_position: textOf(values.module_position),
    detection_method: values.detection_method,
    temperature_delta_k: numberOf(values.temperature_delta_k),
    affected_module_count: numberOf(values.affected_module_count),
    affected_power_kw: numberOf(values.affected_power_kw),
    estimated_loss_kwh_year: numberOf(values.estimated_loss_kwh_year),
    estimated_loss_amount_year: numberOf(values.estimated_loss_amount_year),
    warranty_claim: values.warranty_claim,
    warranty_reference: textOf(values.warranty_reference),
    safety_relevant: values.safety_relevant,
    assigned_to: textOf(values.assigned_to),
    resolution: textOf(values.resolution),
    ...(at_ms !== null && { detected_at: new Date(at_ms).toISOString() }),
  }
}

export const rulesOf = (timezone: string) => ({
  title: (title: string) => (title.trim() ? null : 'Enter a title.'),
  detected_at: (at: string) =>
    at !== '' && instantOf(at, timezone) === null ? 'This local time does not exist.' : null,
})
