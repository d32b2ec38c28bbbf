/** Notifications of work orders. */
import type { Transaction } from '../../storage/database.ts'
import type { Actor } from '../actor.ts'
import {
  type NewNotification,
  type NotificationSeverity,
  type NotificationType,
  notify,
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

/** Assignee, team and contractor, with their display names. */
const assigneesOf = ({ assigned_to, assigned_to_name, team, contractor }: StoredWorkOrder) =>
  new Map(
    [
      [assigned_to, assigned_to_name ?? assigned_to] as const,
      ...[team, contractor].map((name) => [name, name] as const),
    ].filter((one): one is readonly [string, string] => one[0] !== null),
  )

type People = ReadonlyMap<string, string>
const without = (some: People, others: People) => [...some].filter(([name]) => !others.has(name))

/** Notifies added and removed assignees; returns the number of each. */
async function notifyAssignees(
  tx: Transaction,
  at: At,
  { before, after }: { before: StoredWorkOrder | null; after: StoredWorkOrder },
) {
  const [earlier, current] = [
    before ? assigneesOf(before) : new Map<string, string>(),
    assigneesOf(after),
  ]
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
    title: `${after.number} ${reached[status]}`,
    recipient: status === 'completed' ? null : recipientOf(after),
  })
}

export async function notifyApproved(tx: Transaction, actor: Actor, order: StoredWorkOrder) {
  await send(tx, actor, order, {
    type: 'work_order_approved',
    title: `${order.number} is approved`,
    recipient: recipientOf(order),
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
