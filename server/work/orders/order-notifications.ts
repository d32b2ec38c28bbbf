import type { Transaction } from '../../storage/database.ts'
import type { Actor } from '../actor.ts'
import {
  type NewNotification,
  type NotificationSeverity,
  type NotificationType,
  notify,
  reached,
} from '../notifications.ts'
import type { Priority } from '../service-levels.ts'
import type { WorkOrderState } from '../work-order-states.ts'
import type { StoredItem, StoredWorkOrder } from './store.ts'

const severities: Readonly<Record<Priority, NotificationSeverity>> = {
  low: 'info',
  normal: 'info',
  high: 'warning',
  urgent: 'major',
}

type Content = Pick<NewNotification, 'type' | 'title' | 'recipient'> & Partial<NewNotification>

type At = Pick<Actor, 'site_id' | 'now'>

function send(tx: Transaction, { site_id, now }: At, order: StoredWorkOrder, content: Content) {
  return notify(tx, {
    site_id,
    at: now,
    severity: severities[order.priority],
    body: order.title,
    resource_type: 'work_order',
    resource_id: String(order.wo_id),
    ...content,
  })
}

const recipientOf = ({ assigned_to, team, contractor }: StoredWorkOrder) =>
  assigned_to ?? team ?? contractor

type People = ReadonlyMap<string, string>

/** Assignee, team and contractor, with their display names. */
function assigneesOf(order: StoredWorkOrder | null): People {
  const names = [
    [order?.assigned_to, order?.assigned_to_name ?? order?.assigned_to],
    [order?.team, order?.team],
    [order?.contractor, order?.contractor],
  ] as const
  return new Map(names.flatMap(([id, name]) => (id && name ? [[id, name]] : [])))
}

const without = (some: People, others: People) => [...some].filter(([name]) => !others.has(name))

/** Notifies added and removed assignees; returns the number of each. */
async function notifyAssignees(
  tx: Transaction,
  at: At,
  { before, after }: { before: StoredWorkOrder | null; after: StoredWorkOrder },
) {
  const [earlier, current] = [assigneesOf(before), assigneesOf(after)]
  const [removed, added] = [without(earlier, current), without(current, earlier)]
  for (const [recipient, name] of removed) {
    const title = `${after.number} is no longer assigned to ${name}`
    await send(tx, at, after, { type: 'system', title, recipient })
  }
  for (const [recipient, name] of added) {
    const title = `${after.number} is assigned to ${name}`
    await send(tx, at, after, { type: 'work_order_assigned', title, recipient })
  }
  return { removed: removed.length, added: added.length }
}

export async function notifyCreated(tx: Transaction, at: At, order: StoredWorkOrder) {
  const { added } = await notifyAssignees(tx, at, { before: null, after: order })
  if (added > 0) return
  const title = `${order.number} was created`
  await send(tx, at, order, { type: 'system', title, recipient: null })
}

const types: Readonly<Partial<Record<WorkOrderState, NotificationType>>> = {
  completed: 'work_order_completed',
  approved: 'work_order_approved',
}

/** Notifies of a changed assignment, and of a new state that the assignment does not imply. */
export async function notifyChanged(
  tx: Transaction,
  actor: Actor,
  { before, after }: { before: StoredWorkOrder; after: StoredWorkOrder },
): Promise<void> {
  const { removed, added } = await notifyAssignees(tx, actor, { before, after })
  const { status } = after
  const is_covered = (status === 'assigned' && added > 0) || (status === 'open' && removed > 0)
  if (status === before.status || is_covered) return
  await send(tx, actor, after, {
    type: types[status] ?? 'system',
    title: `${after.number} ${reached(status)}`,
    recipient: status === 'completed' ? null : recipientOf(after),
  })
}

export async function notifyFailed(
  tx: Transaction,
  actor: Actor,
  order: StoredWorkOrder,
  item: StoredItem,
) {
  await send(tx, actor, order, {
    type: 'system',
    title: `${order.number}: a check failed`,
    body: item.title,
    severity: 'warning',
    recipient: null,
  })
}
