/** Writes of work orders, in the transaction of the request. */
import { ApiError, badField } from '../../http/errors.ts'
import { askedChange, requireUnchanged } from '../../http/read-only.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Actor } from '../actor.ts'
import { isApproverAnother } from '../admin.ts'
import { attached, nothingAttached } from '../attachments.ts'
import { currencyOf } from '../currency.ts'
import { nulls } from '../fields.ts'
import { takeNumber } from '../numbers.ts'
import { lockLinks } from '../order-links.ts'
import { publishOrder } from '../published.ts'
import {
  devicesOfAlerts,
  linkAlerts,
  movedBy,
  namesDevices,
  requireDevices,
} from '../references.ts'
import { addRow, changedColumns, differ, updateRow } from '../rows.ts'
import { type Priority, reprioritised, serviceTimes } from '../service-levels.ts'
import { changesFrom, entered, finalStates } from '../work-order-states.ts'
import { checklistFor, insertItems } from './items.ts'
import { notifyChanged, notifyCreated } from './order-notifications.ts'
import { linkDefects } from './references.ts'
import {
  assignmentBy,
  assignmentKey,
  isAssigned,
  nameOf,
  nextStatus,
  refusedChange,
  requireCancelled,
  requireFuture,
  requirePlannedTimes,
  requireSameDueTime,
  requireTransition,
} from './rules.ts'
import {
  type NewWorkOrder,
  nullables,
  type WholeWorkOrder,
  type WorkOrderChange,
} from './schemas.ts'
import { lockWorkOrder, readStored, type StoredWhole, wholeRecord } from './store.ts'

const blank = {
  ...nulls(nullables),
  description: '',
  type: 'corrective',
  category_id: null,
  priority: 'normal' as Priority,
}

export async function createWorkOrder(
  tx: Transaction,
  actor: Actor,
  body: NewWorkOrder,
): Promise<WholeWorkOrder> {
  const { site_id, key_name } = actor
  const { checklist, alert_ids = [], defect_ids = [], attachments = [], ...given } = body
  const asked = { ...blank, ...given }
  requirePlannedTimes(asked)
  requireFuture(asked.due_at, actor.now)
  nameOf(asked, asked.assigned_to, asked.assigned_to_name)
  const about = await devicesOfAlerts(tx, site_id, { of: asked, alert_ids })
  const fields = await requireDevices(tx, site_id, about)
  const currency = await currencyOf(tx, site_id, asked, 'cost_amount')
  const items = checklistFor(fields.category_id, checklist, actor.now)
  // Assigning an order does not acknowledge it.
  const is_assigned = isAssigned(fields)
  if (defect_ids.length > 0) await lockLinks(tx, site_id)
  const { number, now } = await takeNumber(tx, actor, 'work_order')
  const wo_id = await addRow(tx, ['work_orders', 'wo_id'], {
    site_id,
    number,
    ...fields,
    currency,
    status: is_assigned ? 'assigned' : 'open',
    ...serviceTimes(fields.priority, now),
    created_by: key_name,
    created_at: now,
    updated_at: now,
    assigned_at: is_assigned ? now : null,
    ...attached(nothingAttached, attachments, now),
  })
  const of = { site_id, wo_id, now }
  await insertItems(tx, of, items)
  if (alert_ids.length > 0) await linkAlerts(tx, of, alert_ids)
  if (defect_ids.length > 0) await linkDefects(tx, of, defect_ids)
  const made = (await readStored(tx, of))!
  await notifyCreated(tx, of, made.order)
  return publishOrder(tx, of, 'created', wholeRecord(made, now))
}

export async function changeWorkOrder(
  tx: Transaction,
  actor: Actor,
  wo_id: number,
  sent: WorkOrderChange,
): Promise<WholeWorkOrder> {
  const { site_id, now, key_name, read_only } = actor
  const of = { site_id, wo_id, now }
  if (sent.defect_ids) await lockLinks(tx, site_id)
  const before = await lockWorkOrder(tx, actor, wo_id)
  const { order } = before
  const present = wholeRecord(before, now)
  requireUnchanged(read_only, present)
  const body = askedChange(sent, read_only, present)
  const { alert_ids, defect_ids, attachments, status: asked, ...given } = body
  if (Object.keys(body).length === 0) return present
  if (finalStates.includes(order.status)) throw refusedChange(order, asked)
  const status = nextStatus(order.status, asked, { ...order, ...given })
  if (status !== order.status) requireTransition(before, status)
  const assignment = assignmentBy(asked, { ...order, ...given }, { given: body, key_name })
  const merged = { ...order, ...given, ...movedBy(order, given), ...assignment }
  requireCancelled(body, status)
  requirePlannedTimes(merged)
  requireSameDueTime(order, given.due_at)
  const places = namesDevices(given) ? await requireDevices(tx, site_id, merged) : order
  const { logger_id, location_id, string_index } = places
  const currency = await currencyOf(tx, site_id, merged, 'cost_amount')
  const assigned_to_name = nameOf(order, merged.assigned_to, given.assigned_to_name)
  const changes = changedColumns(order, {
    ...given,
    ...assignment,
    assigned_to_name,
    currency,
    logger_id,
    location_id,
    string_index,
    ...(status !== order.status && entered(order, status, actor)),
    ...(assignmentKey(order) !== assignmentKey(merged) && {
      assigned_at: isAssigned(merged) ? now : null,
    }),
    ...(given.priority &&
      given.priority !== order.priority &&
      reprioritised(given.priority, order)),
    ...(attachments && changedAttachments(before, attachments, now)),
  })
  const has_other_defects = defect_ids !== undefined && (await linkDefects(tx, of, defect_ids))
  const is_linked = has_other_defects || differ(alert_ids, order.alert_ids)
  if (Object.keys(changes).length === 0 && !is_linked) return present
  await updateRow(tx, 'work_orders', { site_id, wo_id }, { ...changes, updated_at: now })
  if (alert_ids) await linkAlerts(tx, of, alert_ids)
  const after = (await readStored(tx, of))!
  await notifyChanged(tx, actor, { before: order, after: after.order })
  return publishOrder(tx, of, 'changed', wholeRecord(after, now))
}

export async function approveWorkOrder(
  tx: Transaction,
  actor: Actor,
  wo_id: number,
  note: string | null,
): Promise<WholeWorkOrder> {
  const { site_id, key_id, now } = actor
  const { order } = await lockWorkOrder(tx, actor, wo_id)
  const { status: current_state } = order
  if (current_state !== 'completed') {
    throw new ApiError('conflict_state', { wo_id, current_state, allowed_from: ['completed'] })
  }
  if (order.completed_by_key_id === key_id && (await isApproverAnother(tx, site_id))) {
    const message =
      'this site requires approval by another key than the one that completed the work order'
    const allowed = changesFrom(current_state)
    throw new ApiError('conflict_state', { wo_id, current_state, allowed, message })
  }
  const approval = { ...entered(order, 'approved', actor), approval_note: note, updated_at: now }
  await updateRow(tx, 'work_orders', { site_id, wo_id }, approval)
  const after = (await readStored(tx, { site_id, wo_id }))!
  await notifyChanged(tx, actor, { before: order, after: after.order })
  return publishOrder(tx, actor, 'approved', wholeRecord(after, now))
}

function changedAttachments(
  { order, items }: StoredWhole,
  given: NonNullable<WorkOrderChange['attachments']>,
  now: Date,
) {
  const kept = attached(order, given, now)
  const ids = new Set(kept.attachments.map(({ attachment_id }) => attachment_id))
  const shown = items.find(({ photo_ids }) => photo_ids.some((id) => !ids.has(id)))
  if (!shown) return kept
  const message = `checklist item ${shown.item_id} uses an attachment that is left out: change its photo_ids first`
  throw badField('attachments', 'not_allowed_value', message)
}
