export const workOrderStates = [
  'open',
  'assigned',
  'in_progress',
  'on_hold',
  'completed',
  'approved',
  'cancelled',
] as const
export type WorkOrderState = (typeof workOrderStates)[number]

/** `approved` is reached only by the approval endpoint, other states by a change of `status`. */
export const workOrderTransitions: Readonly<Record<WorkOrderState, readonly WorkOrderState[]>> = {
  open: ['assigned', 'in_progress', 'on_hold', 'cancelled'],
  assigned: ['open', 'in_progress', 'on_hold', 'cancelled'],
  in_progress: ['assigned', 'on_hold', 'completed', 'cancelled'],
  on_hold: ['open', 'assigned', 'in_progress', 'cancelled'],
  completed: ['in_progress', 'approved'],
  approved: [],
  cancelled: [],
}

/** Neither the order nor its checklist can be changed. */
export const finalStates: readonly WorkOrderState[] = workOrderStates.filter(
  (state) => workOrderTransitions[state].length === 0,
)

/** The checklist may be filled in. */
export const workingStates = ['open', 'assigned', 'in_progress', 'on_hold'] as const

export const isWorking = (state: WorkOrderState): boolean =>
  (workingStates as readonly WorkOrderState[]).includes(state)

export const changesFrom = (state: WorkOrderState): readonly WorkOrderState[] =>
  workOrderTransitions[state].filter((next) => next !== 'approved')

/** The transitions as a sentence for the API reference. */
export const ruleOf = (transitions: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(transitions)
    .map(([state, next]) => {
      const others = next.map((to) => `\`${to}\``).join(', ')
      return `\`${state}\` to ${others || 'no other'}`
    })
    .join('; ')
export const transitionRule = ruleOf(workOrderTransitions)

export interface StateRecord {
  status: WorkOrderState
  acknowledged_at: Date | null
  started_at: Date | null
  completed_at: Date | null
  completed_by: string | null
  completed_by_key_id: string | null
  approved_at: Date | null
  approved_by: string | null
  cancelled_at: Date | null
}

interface Actor {
  key_id: string
  key_name: string
  now: Date
}

/**
 * The fields after an allowed transition. The first state other than `open` acknowledges the order,
 * the first `in_progress` starts it. Reopening clears the completion.
 */
export function entered(
  before: StateRecord,
  status: WorkOrderState,
  { key_id, key_name, now }: Actor,
): StateRecord {
  const is_approved = status === 'approved'
  const is_cancelled = status === 'cancelled'
  return {
    status,
    acknowledged_at: before.acknowledged_at ?? (status === 'open' ? null : now),
    started_at: before.started_at ?? (status === 'in_progress' ? now : null),
    ...completionIn(before, status, { key_id, key_name, now }),
    approved_at: is_approved ? now : null,
    approved_by: is_approved ? key_name : null,
    cancelled_at: is_cancelled ? now : null,
  }
}

function completionIn(before: StateRecord, status: WorkOrderState, by: Actor) {
  const { completed_at, completed_by, completed_by_key_id } = before
  if (status === 'approved') return { completed_at, completed_by, completed_by_key_id }
  if (status !== 'completed') {
    return { completed_at: null, completed_by: null, completed_by_key_id: null }
  }
  return { completed_at: by.now, completed_by: by.key_name, completed_by_key_id: by.key_id }
}
