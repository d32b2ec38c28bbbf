/** States of a work order and their transitions: docs/maintenance.md. */
import type { WorkOrder } from '@heliograph/sdk'

export type OrderState = WorkOrder['status']
type Ends = Pick<WorkOrder, 'due_at' | 'resolution_due_at'>

export const nextStates: Readonly<Record<OrderState, readonly OrderState[]>> = {
  open: ['in_progress', 'assigned', 'on_hold', 'cancelled'],
  assigned: ['in_progress', 'open', 'on_hold', 'cancelled'],
  in_progress: ['completed', 'on_hold', 'assigned', 'cancelled'],
  on_hold: ['in_progress', 'assigned', 'open', 'cancelled'],
  completed: ['approved', 'in_progress'],
  approved: [],
  cancelled: [],
}

export const orderStates = Object.keys(nextStates) as OrderState[]

export function stepName(from: OrderState, to: OrderState): string {
  if (to === 'in_progress') return from === 'completed' ? 'Send back' : 'Start work'
  if (to === 'assigned') return from === 'open' ? 'Assign' : 'Stop work'
  if (to === 'open') return 'Unassign'
  if (to === 'on_hold') return 'Put on hold'
  if (to === 'completed') return 'Complete'
  return to === 'approved' ? 'Approve' : 'Cancel order'
}

export const isOver = (state: OrderState) => nextStates[state].length === 0

/** The checklist can be changed until the work is completed. */
export const isWorking = (state: OrderState) => !isOver(state) && state !== 'completed'

export const endOf = ({ due_at, resolution_due_at }: Ends): string | null =>
  [due_at, resolution_due_at].filter((at) => at !== null).sort()[0] ?? null

export const orderTypes = [
  ...(['corrective', 'preventive', 'inspection', 'cleaning', 'vegetation'] as const),
  ...(['commissioning', 'warranty', 'emergency'] as const),
] as const

/** Priorities with due times from creation. */
export const priorities = [
  { value: 'urgent', label: 'Urgent: start in 4 h, completion in 24 h' },
  { value: 'high', label: 'High: start in 24 h, completion in 3 days' },
  { value: 'normal', label: 'Normal: start in 3 days, completion in 14 days' },
  { value: 'low', label: 'Low: start in 7 days, completion in 30 days' },
]
