/** What people are told of work orders: what was asked of them, and how far it has come. */

import type { Transaction } from '../../storage/database.ts'
import {
  type NewNotification,
  type NotificationSeverity,
  type NotificationType,
  notify,
} from '../notifications.ts'
import type { Priority } from '../service-levels.ts'
import type { WorkOrderState } from '../work-order-states.ts'
import type { Actor } from './actor.ts'
import type { StoredItem, StoredWorkOrder } from './store.ts'

const severities: Readonly<Record<Priority, NotificationSeverity>> = {
  low: 'info',
  normal: 'info',
  high: 'warning',
  urgent: 'major',
}

type Told = Pick<NewNotification, 'type' | 'title' | 'recipient'> & Partial<NewNotification>

type At = Pick<Actor, 'site_id' | 'now'>

function tell(tx: Transaction, { site_id, now }: At, order: StoredWorkOrder, told: Told) {
  return notify(tx, {
    site_id,
    at: now,
    severity: severities[order.priority],
    body: order.title,
    resource_type: 'work_order',
    resource_id: String(order.wo_id),
    ...told,
  })
}

const recipientOf = ({ assigned_to, team, contractor }: StoredWorkOrder) =>
  assigned_to ?? team ?? contractor

/** Each whose work it is, and what people call them. */
const peopleOf = ({ assigned_to, assigned_to_name, team, contractor }: StoredWorkOrder) =>
  new Map(
    [
      [assigned_to, assigned_to_name ?? assigned_to] as const,
      ...[team, contractor].map((name) => [name, name] as const),
    ].filter((one): one is readonly [string, string] => one[0] !== null),
  )

type People = ReadonlyMap<string, string>
const without = (some: People, others: People) => [...some].filter(([name]) => !others.has(name))

/** Whoever has it now and had it not, and the other way round; returns how many of each. */
async function tellPeople(
  tx: Transaction,
  at: At,
  { before, after }: { before: StoredWorkOrder | null; after: StoredWorkOrder },
) {
  const [had, has] = [before ? peopleOf(before) : new Map<string, string>(), peopleOf(after)]
  const [losing, getting] = [without(had, has), without(has, had)]
  for (const [recipient, name] of losing) {
    const title = `${after.number} is no longer assigned to ${name}`
    await tell(tx, at, after, { type: 'system', title, recipient })
  }
  for (const [recipient, name] of getting) {
    const title = `${after.number} is assigned to ${name}`
    await tell(tx, at, after, { type: 'work_order_assigned', title, recipient })
  }
  return { losing: losing.length, getting: getting.length }
}

export async function tellCreated(tx: Transaction, at: At, order: StoredWorkOrder) {
  const { getting } = await tellPeople(tx, at, { before: null, after: order })
  if (getting > 0) return
  const title = `${order.number} was created`
  await tell(tx, at, order, { type: 'system', title, recipient: null })
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

/** Who gets it or loses it, and of a new state that this does not say; not of other fields. */
export async function tellChanged(
  tx: Transaction,
  actor: Actor,
  { before, after }: { before: StoredWorkOrder; after: StoredWorkOrder },
): Promise<void> {
  const { losing, getting } = await tellPeople(tx, actor, { before, after })
  const { status } = after
  const is_said = (status === 'assigned' && getting > 0) || (status === 'open' && losing > 0)
  if (status === before.status || is_said) return
  await tell(tx, actor, after, {
    type: types[status] ?? 'system',
    title: `${after.number} ${reached[status]}`,
    recipient: status === 'completed' ? null : recipientOf(after),
  })
}

export async function tellApproved(tx: Transaction, actor: Actor, order: StoredWorkOrder) {
  await tell(tx, actor, order, {
    type: 'work_order_approved',
    title: `${order.number} is approved`,
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
    type: 'system',
    title: `${order.number}: a check failed`,
    body: item.title,
    severity: 'warning',
    recipient: null,
  })
}
