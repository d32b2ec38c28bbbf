import type { WorkOrder } from '@heliograph/sdk'
import { clockProblem, titleProblem, type ValuesOf, valuesOf } from '../form-values.ts'

export const order_fields = {
  title: 'title',
  description: 'same',
  type: 'same',
  priority: 'same',
  loto_required: 'same',
  logger_id: 'id',
  inverter_id: 'id',
  string_index: 'number',
  assigned_to: 'text',
  team: 'text',
  contractor: 'text',
  scheduled_start_at: 'clock',
  scheduled_end_at: 'clock',
  due_at: 'clock',
  safety_permit_no: 'text',
  labour_h: 'number',
  travel_km: 'number',
  cost_amount: 'number',
  downtime_min: 'number',
  lost_energy_kwh: 'number',
  root_cause: 'text',
  resolution: 'text',
} as const

export type OrderValues = ValuesOf<typeof order_fields, WorkOrder>

const blank: Pick<WorkOrder, 'title' | 'description' | 'type' | 'priority' | 'loto_required'> = {
  title: '',
  description: '',
  type: 'corrective',
  priority: 'normal',
  loto_required: false,
}

export const noValues: OrderValues = valuesOf(order_fields, blank as WorkOrder, 'UTC')

export const rulesOf = (timezone: string) => ({
  title: titleProblem,
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
