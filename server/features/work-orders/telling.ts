/** What people are told of work orders: what was asked of them, and how far it has come. */
import {
  type NewNotification,
  type NotificationSeverity,
  type NotificationType,
  notify,
} from '../../maintenance/notifications.ts'
import type { Priority } from '../../maintenance/service-levels.ts'
import type { WorkOrderState } from '../../maintenance/work-order-states.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Actor } from './actor.ts'
import type { StoredItem, StoredWorkOrder } from './store.ts'

const severities: Readonly<Record<Priority, NotificationSeverity>> = {
  ...{ low: 'info', normal: 'info', high: 'warning', urgent: 'major' },
}

type Told = Pick<NewNotification, 'type' | 'title' | 'recipient'> & Partial<NewNotification>

function tell(tx: Transaction, { site_id, now }: Actor, order: StoredWorkOrder, told: Told) {
  return notify(tx, {
    ...{ site_id, at: now, severity: severities[order.priority], body: order.title },
    ...{ resource_type: 'work_order', resource_id: String(order.wo_id) },
    ...told,
  })
}

const recipientOf = ({ assigned_to, team, contractor }: StoredWorkOrder) =>
  assigned_to ?? team ?? contractor

const assignment = (order: StoredWorkOrder): Told => ({
  type: 'work_order_assigned',
  title: `${order.number} is assigned to ${order.assigned_to_name ?? recipientOf(order)}`,
  recipient: recipientOf(order),
})

export async function tellCreated(tx: Transaction, actor: Actor, order: StoredWorkOrder) {
  const created: Told = {
    ...{ type: 'system', title: `${order.number} was created`, recipient: null },
  }
  await tell(tx, actor, order, order.status === 'assigned' ? assignment(order) : created)
}

const reached: Readonly<Record<WorkOrderState, string>> = {
  open: 'is open again',
  assigned: 'is assigned',
  in_progress: 'is in progress',
  on_hold: 'is on hold',
  completed: 'is completed',
  approved: 'is approved',
  cancelled: 'is cancelled',
}

const types: Readonly<Partial<Record<WorkOrderState, NotificationType>>> = {
  ...{ completed: 'work_order_completed', approved: 'work_order_approved' },
}

/** Of a new assignment, and of a new state; not of other fields. */
export async function tellChanged(
  tx: Transaction,
  actor: Actor,
  { before, after }: { before: StoredWorkOrder; after: StoredWorkOrder },
): Promise<void> {
  const recipient = recipientOf(after)
  const is_reassigned = recipient !== null && recipient !== recipientOf(before)
  if (is_reassigned) await tell(tx, actor, after, assignment(after))
  const { status } = after
  if (status === before.status || (is_reassigned && status === 'assigned')) return
  await tell(tx, actor, after, {
    type: types[status] ?? 'system',
    title: `${after.number} ${reached[status]}`,
    recipient: status === 'completed' ? null : recipient,
  })
}

export async function tellApproved(tx: Transaction, actor: Actor, order: StoredWorkOrder) {
  await tell(tx, actor, order, {
    ...{ type: 'work_order_approved', title: `${order.number} is approved` },
    recipient: recipientOf(order),
  })
}

export async function tellFailed(
  tx: Transaction,
  actor: Actor,
  order: StoredWorkOrder,
  item: StoredItem,
) {
  await tell(tx, actor, order, {
    ...{ type: 'system', title: `${order.number}: a check failed`, body: item.title },
    ...{ severity: 'warning', recipient: null },
  })
}
