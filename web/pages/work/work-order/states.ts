/** The states of a work order and what leads from one to the next: docs/maintenance.md. */
import type { WorkOrder } from '@heliograph/sdk'

export type OrderState = WorkOrder['status']
type Ends = Pick<WorkOrder, 'due_at' | 'resolution_due_at'>

export const orderStates: readonly OrderState[] = [
  ...(['open', 'assigned', 'in_progress', 'on_hold'] as const),
  ...(['completed', 'approved', 'cancelled'] as const),
]

export const nextStates: Readonly<Record<OrderState, readonly OrderState[]>> = {
  open: ['in_progress', 'assigned', 'on_hold', 'cancelled'],
  assigned: ['in_progress', 'open', 'on_hold', 'cancelled'],
  in_progress: ['completed', 'on_hold', 'assigned', 'cancelled'],
  on_hold: ['in_progress', 'assigned', 'open', 'cancelled'],
  completed: ['approved', 'in_progress'],
  approved: [],
  cancelled: [],
}

/** What a person does who leads it there. */
export function stepName(from: OrderState, to: OrderState): string {
  if (to === 'in_progress') return from === 'completed' ? 'Send back' : 'Start work'
  if (to === 'assigned') return from === 'open' ? 'Take it' : 'Stop work, stay assigned'
  if (to === 'open') return 'Give it back'
  if (to === 'on_hold') return 'Put on hold'
  if (to === 'completed') return 'Complete'
  return to === 'approved' ? 'Approve' : 'Cancel the order'
}

export const isOver = (state: OrderState) => nextStates[state].length === 0

/** The checklist is filled in until the work is completed. */
export const isWorking = (state: OrderState) => !isOver(state) && state !== 'completed'

/** What was promised first. */
export const endOf = ({ due_at, resolution_due_at }: Ends): string | null =>
  [due_at, resolution_due_at].filter((at) => at !== null).sort()[0] ?? null

export const orderTypes = [
  ...(['corrective', 'preventive', 'inspection', 'cleaning', 'vegetation'] as const),
  ...(['commissioning', 'warranty', 'emergency'] as const),
] as const

/** With the times that count from creation. */
export const priorities = [
  { value: 'urgent', label: 'Urgent: taken up in 4 h, done in 24 h' },
  { value: 'high', label: 'High: taken up in 24 h, done in 3 days' },
  { value: 'normal', label: 'Normal: taken up in 3 days, done in 14 days' },
  { value: 'low', label: 'Low: taken up in 7 days, done in 30 days' },
]
