/** Form values of a work order, with the field names of the API. */
import type { WorkOrder } from '@heliograph/sdk'
import { clockAt, instantOf } from '../../../ui/site-clock.ts'

export interface OrderValues {
  title: string
  description: string
  type: WorkOrder['type']
  priority: WorkOrder['priority']
  logger_id: string | null
  inverter_id: string | null
  string_index: number | ''
  assigned_to: string
  team: string
  contractor: string
  scheduled_start_at: string
  scheduled_end_at: string
  due_at: string
  loto_required: boolean
  safety_permit_no: string
  labour_h: number | ''
  travel_km: number | ''
  cost_amount: number | ''
  downtime_min: number | ''
  lost_energy_kwh: number | ''
  root_cause: string
  resolution: string
}

export const noValues: OrderValues = {
  title: '',
  description: '',
  type: 'corrective',
  priority: 'normal',
  logger_id: null,
  inverter_id: null,
  string_index: '',
  assigned_to: '',
  team: '',
  contractor: '',
  scheduled_start_at: '',
  scheduled_end_at: '',
  due_at: '',
  loto_required: false,
  safety_permit_no: '',
  labour_h: '',
  travel_km: '',
  cost_amount: '',
  downtime_min: '',
  lost_energy_kwh: '',
  root_cause: '',
  resolution: '',
}

export const idText = (id: number | null) => (id === null ? null : String(id))

export function valuesOf(order: WorkOrder, timezone: string): OrderValues {
  const clock = (at: string | null) => (at === null ? '' : clockAt(Date.parse(at), timezone))
  return {
    title: order.title,
    description: order.description,
    type: order.type,
    priority: order.priority,
    logger_id: idText(order.logger_id),
    inverter_id: idText(order.inverter_id),
    string_index: order.string_index ?? '',
    assigned_to: order.assigned_to ?? '',
    team: order.team ?? '',
    contractor: order.contractor ?? '',
    scheduled_start_at: clock(order.scheduled_start_at),
    scheduled_end_at: clock(order.scheduled_end_at),
    due_at: clock(order.due_at),
    loto_required: order.loto_required,
    safety_permit_no: order.safety_permit_no ?? '',
    labour_h: order.labour_h ?? '',
    travel_km: order.travel_km ?? '',
    cost_amount: order.cost_amount ?? '',
    downtime_min: order.downtime_min ?? '',
    lost_energy_kwh: order.lost_energy_kwh ?? '',
    root_cause: order.root_cause ?? '',
    resolution: order.resolution ?? '',
  }
}

export const idOf = (text: string | null) => (text === null ? null : Number(text))
export const numberOf = (value: number | '') => (value === '' ? null : value)
export const textOf = (text: string) => text.trim() || null

/** Request body of the API. */
export function bodyOf(values: OrderValues, timezone: string) {
  const at = (clock: string) => {
    const at_ms = clock === '' ? null : instantOf(clock, timezone)
    return at_ms === null ? null : new Date(at_ms).toISOString()
  }
  return {
    title: values.title.trim(),
    description: values.description,
    type: values.type,
    priority: values.priority,
    loto_required: values.loto_required,
    logger_id: idOf(values.logger_id),
    inverter_id: idOf(values.inverter_id),
    string_index: numberOf(values.string_index),
    assigned_to: textOf(values.assigned_to),
    team: textOf(values.team),
    contractor: textOf(values.contractor),
    scheduled_start_at: at(values.scheduled_start_at),
    scheduled_end_at: at(values.scheduled_end_at),
    due_at: at(values.due_at),
    safety_permit_no: textOf(values.safety_permit_no),
    labour_h: numberOf(values.labour_h),
    travel_km: numberOf(values.travel_km),
    cost_amount: numberOf(values.cost_amount),
    downtime_min: numberOf(values.downtime_min),
    lost_energy_kwh: numberOf(values.lost_energy_kwh),
    root_cause: textOf(values.root_cause),
    resolution: textOf(values.resolution),
  }
}

/** Omits empty fields, for which the server derives defaults. */
export function givenOnly<Body extends object>(body: Body): Partial<Body> {
  const given = Object.entries(body).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(given) as Partial<Body>
}

const clockProblem = (clock: string, timezone: string) =>
  clock !== '' && instantOf(clock, timezone) === null ? 'This local time does not exist.' : null

/** Validation rules by field. */
export const rulesOf = (timezone: string) => ({
  title: (title: string) => (title.trim() ? null : 'Enter a title.'),
  scheduled_start_at: (from: string, { scheduled_end_at: to }: OrderValues) =>
    !from && to ? 'Enter a start as well.' : clockProblem(from, timezone),
  scheduled_end_at: (to: string, { scheduled_start_at: from }: OrderValues) => {
    if (from && !to) return 'Enter an end as well.'
    return from && to && to <= from
      ? 'The end must be after the start.'
      : clockProblem(to, timezone)
  },
  due_at: (at: string) => clockProblem(at, timezone),
})
