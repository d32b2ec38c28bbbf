import { day_ms } from '@heliograph/domain/durations'
import { ApiError, badField } from '../../http/errors.ts'
import { planned_days_max } from '../service-levels.ts'
import {
  changesFrom,
  finalStates,
  type WorkOrderState,
  workOrderStates,
} from '../work-order-states.ts'
import type { WorkOrderChange } from './schemas.ts'
import type { StoredWhole, StoredWorkOrder } from './store.ts'

type Assignment = Pick<StoredWorkOrder, 'assigned_to' | 'team' | 'contractor'>

/** The name of the assignee; cleared when the assignee changes without a new name. */
export function nameOf(
  before: Pick<StoredWorkOrder, 'assigned_to' | 'assigned_to_name'>,
  assigned_to: string | null,
  given: string | null | undefined,
): string | null {
  if (assigned_to === null && given) {
    throw badField('assigned_to', 'required', 'is required with assigned_to_name')
  }
  if (given !== undefined) return given
  return assigned_to === before.assigned_to ? before.assigned_to_name : null
}

export const assignmentKey = ({ assigned_to, team, contractor }: Assignment) =>
  JSON.stringify([assigned_to, team, contractor])
export const isAssigned = ({ assigned_to, team, contractor }: Assignment) =>
  (assigned_to ?? team ?? contractor) !== null

/** Before work starts, the status follows the assignee unless the request sets a status. */
export function nextStatus(
  current: WorkOrderState,
  asked: WorkOrderState | undefined,
  merged: Assignment,
): WorkOrderState {
  if (asked !== undefined) return asked
  if (current !== 'open' && current !== 'assigned') return current
  return isAssigned(merged) ? 'assigned' : 'open'
}

const unassigned = { assigned_to: null, team: null, contractor: null } as const

/**
 * The assignment implied by a requested status: `open` removes the assignee, `assigned` defaults to
 * the calling key.
 * @throws ApiError invalid where the request contradicts itself
 */
export function assignmentBy(
  asked: WorkOrderState | undefined,
  merged: Assignment,
  { given, key_name }: { given: WorkOrderChange; key_name: string },
): Partial<Assignment> {
  const named = [given.assigned_to, given.team, given.contractor]
  if (asked === 'open' && isAssigned(merged)) {
    if (named.every((name) => name === undefined || name === null)) return unassigned
    throw badField('status', 'not_allowed_value', 'must not be open with an assignee')
  }
  if (asked === 'assigned' && !isAssigned(merged)) {
    if (named.every((name) => name === undefined)) return { assigned_to: key_name }
    throw badField(
      'assigned_to',
      'required',
      'is required for this status, unless team or contractor is given',
    )
  }
  return {}
}

export function refusedChange(order: StoredWorkOrder, asked: WorkOrderState | undefined) {
  const { wo_id, status: current_state } = order
  const allowed_from = workOrderStates.filter((state) => !finalStates.includes(state))
  const why = asked === undefined ? { allowed_from } : { allowed: [] }
  return new ApiError('conflict_state', { wo_id, current_state, ...why })
}

/** @throws ApiError conflict_state, also for a completion with pending required items */
export function requireTransition({ order, items }: StoredWhole, next: WorkOrderState): void {
  const { wo_id, status: current_state } = order
  const allowed = changesFrom(current_state)
  if (!allowed.includes(next)) {
    throw new ApiError('conflict_state', { wo_id, current_state, allowed })
  }
  const pending = items.filter(({ required, status }) => required && status === 'pending')
  if (next !== 'completed' || pending.length === 0) return
  throw new ApiError('conflict_state', {
    wo_id,
    current_state,
    allowed: allowed.filter((state) => state !== 'completed'),
    pending_item_ids: pending.map(({ item_id }) => item_id),
    message: 'required items of the checklist are pending',
  })
}

export function requireCancelled({ cancel_reason }: WorkOrderChange, status: WorkOrderState): void {
  if (cancel_reason === undefined || cancel_reason === null || status === 'cancelled') return
  throw badField('cancel_reason', 'not_allowed_field', 'is allowed only with status "cancelled"')
}

/** A deadline cannot be moved after completion, so that a missed one stays missed. */
export function requireSameDueTime(
  order: StoredWorkOrder,
  due_at: string | null | undefined,
): void {
  if (order.completed_at === null || due_at === undefined) return
  if (Date.parse(due_at ?? '') === order.due_at?.getTime() || due_at === order.due_at) return
  throw badField('due_at', 'not_allowed_field', 'is fixed once the work is completed')
}

export function requireFuture(due_at: string | null | undefined, now: Date): void {
  if (!due_at || Date.parse(due_at) >= now.getTime()) return
  throw badField('due_at', 'not_allowed_value', 'must not lie in the past')
}

export function requirePlannedTimes(of: {
  scheduled_start_at: Date | string | null
  scheduled_end_at: Date | string | null
}): void {
  const [start_ms, end_ms] = [of.scheduled_start_at, of.scheduled_end_at].map(
    (at) => at && new Date(at).getTime(),
  )
  if (start_ms === null && end_ms === null) return
  const field = 'scheduled_end_at'
  if (start_ms === null || end_ms === null) {
    const absent = start_ms === null ? 'scheduled_start_at' : field
    throw badField(absent, 'required', 'is required: planned work has a start and an end')
  }
  const span_ms = Number(end_ms) - Number(start_ms)
  if (span_ms <= 0) {
    throw badField(field, 'end_not_after_start', 'must be later than scheduled_start_at')
  }
  if (span_ms <= planned_days_max * day_ms) return
  const message = `must be at most ${planned_days_max} days later than scheduled_start_at`
  throw badField(field, 'window_too_long', message)
}
