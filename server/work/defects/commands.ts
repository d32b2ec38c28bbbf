/** Writes of defects, in the transaction of the request. */
import { ApiError, badField, invalid, unknownReference } from '../../http/errors.ts'
import { requireMatch } from '../../http/etag.ts'
import { askedChange, requireUnchanged } from '../../http/read-only.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Actor } from '../actor.ts'
import { attached, nothingAttached } from '../attachments.ts'
import { currencyOf } from '../currency.ts'
import { notifyDefect } from '../defect-notifications.ts'
import {
  type DefectState,
  defectStates,
  defectTransitions,
  enteredDefect,
  isFinal,
} from '../defect-states.ts'
import { nulls } from '../fields.ts'
import { reached } from '../notifications.ts'
import { takeNumber } from '../numbers.ts'
import { type LinkedOrder, lockLinks, lockOrders, touchOrders } from '../order-links.ts'
import { publishDefect } from '../published.ts'
import {
  devicesOfAlerts,
  linkAlerts,
  movedBy,
  namesDevices,
  requireDevices,
} from '../references.ts'
import { addRow, changedColumns, differ, updateRow } from '../rows.ts'
import { finalStates, workOrderStates } from '../work-order-states.ts'
import { type Defect, type DefectChange, type NewDefect, nullables } from './schemas.ts'
import { defectRecord, readDefect, type StoredDefect } from './store.ts'

export async function createDefect(
  tx: Transaction,
  actor: Actor,
  body: NewDefect,
): Promise<Defect> {
  const { site_id, key_name } = actor
  const { alert_ids = [], attachments = [], ...given } = body
  const asked = { ...nulls(nullables), detected_at: actor.now, ...given }
  requireConsistent(asked, actor.now)
  await lockOrder(tx, site_id, asked.wo_id)
  const of = { ...asked, node_id: null }
  const about = await devicesOfAlerts(tx, site_id, { of, alert_ids })
  const { node_id: _node, ...fields } = await requireDevices(tx, site_id, about)
  const currency = await currencyOf(tx, site_id, asked, 'estimated_loss_amount_year')
  const { number, now } = await takeNumber(tx, actor, 'defect')
  const defect_id = await addRow(tx, ['defects', 'defect_id'], {
    site_id,
    number,
    ...fields,
    currency,
    status: 'open',
    detected_at: given.detected_at ?? now,
    reported_by: key_name,
    created_at: now,
    updated_at: now,
    ...attached(nothingAttached, attachments, now),
  })
  if (asked.wo_id !== null) await touchOrders(tx, { site_id, now }, [asked.wo_id])
  if (alert_ids.length > 0) await linkAlerts(tx, { site_id, defect_id }, alert_ids)
  const made = (await readDefect(tx, { site_id, defect_id }))!
  await notifyDefect(tx, { site_id, now }, made, 'was reported', 'defect_created')
  return publishDefect(tx, { site_id, now }, 'reported', defectRecord(made))
}

export async function changeDefect(
  tx: Transaction,
  actor: Actor,
  defect_id: number,
  sent: DefectChange,
): Promise<Defect> {
  const { site_id, now, read_only } = actor
  // Orders are locked before defects, as in a change of an order.
  const orders = await lockOrdersOf(tx, site_id, { defect_id, wo_id: sent.wo_id })
  const before = await lockDefect(tx, actor, defect_id)
  const present = defectRecord(before)
  requireUnchanged(read_only, present)
  const body = askedChange(sent, read_only, present)
  if (Object.keys(body).length === 0) return present
  const { alert_ids, attachments, status = before.status, ...given } = body
  requireTransition(before, body.status)
  const merged = { ...before, ...given, ...movedBy(before, given) }
  requireConsistent(merged, now)
  const moved = merged.wo_id === before.wo_id ? [] : [before.wo_id, merged.wo_id]
  if (moved.length > 0) requireMovable(before, merged.wo_id, orders)
  const about = { ...merged, node_id: null }
  const { logger_id, location_id, string_index } = namesDevices(given)
    ? await requireDevices(tx, site_id, about)
    : before
  const currency = await currencyOf(tx, site_id, merged, 'estimated_loss_amount_year')
  const changes = changedColumns(before, {
    ...given,
    logger_id,
    location_id,
    string_index,
    currency,
    ...(status !== before.status && enteredDefect(before, status, actor)),
    ...(attachments && attached(before, attachments, now)),
  })
  if (Object.keys(changes).length === 0 && !differ(alert_ids, before.alert_ids)) {
    return defectRecord(before)
  }
  await updateRow(tx, 'defects', { site_id, defect_id }, { ...changes, updated_at: now })
  const touched = moved.filter((wo_id) => wo_id !== null)
  await touchOrders(tx, { site_id, now }, touched)
  if (alert_ids) await linkAlerts(tx, { site_id, defect_id }, alert_ids)
  const after = (await readDefect(tx, { site_id, defect_id }))!
  await notifyDefect(tx, actor, after, status === before.status ? 'was changed' : reached(status))
  return publishDefect(tx, actor, 'changed', defectRecord(after))
}

/**
 * Locks and reads a defect.
 * @throws ApiError not_found; precondition_failed for another version than `If-Match`
 */
async function lockDefect(
  tx: Transaction,
  { site_id, if_match }: Actor,
  defect_id: number,
): Promise<StoredDefect> {
  await tx.query('select from defects where site_id = $1 and defect_id = $2 for update', [
    site_id,
    defect_id,
  ])
  const stored = await readDefect(tx, { site_id, defect_id })
  if (stored === null) throw new ApiError('not_found', { defect_id })
  requireMatch(if_match, defectRecord(stored))
  return stored
}

/** @throws ApiError conflict_state with the allowed states */
function requireTransition(
  { defect_id, status }: StoredDefect,
  next: DefectState | undefined,
): void {
  const of = { defect_id, current_state: status }
  if (isFinal(status) && next === undefined) {
    const allowed_from = defectStates.filter((state) => !isFinal(state))
    throw new ApiError('conflict_state', { ...of, allowed_from })
  }
  const allowed = defectTransitions[status]
  if (isFinal(status) || (next !== undefined && next !== status && !allowed.includes(next))) {
    throw new ApiError('conflict_state', { ...of, allowed })
  }
}

type Orders = ReadonlyMap<number, LinkedOrder>

/** Locks the state of the order; @throws ApiError invalid for one that takes no defects. */
async function lockOrder(tx: Transaction, site_id: string, wo_id: number | null): Promise<void> {
  if (wo_id === null) return
  await lockLinks(tx, site_id)
  requireUnfinished(wo_id, await lockOrders(tx, site_id, [wo_id]))
}

/** Locks the present and the new order of a defect, if the request changes it. */
async function lockOrdersOf(
  tx: Transaction,
  site_id: string,
  { defect_id, wo_id }: { defect_id: number; wo_id: number | null | undefined },
): Promise<Orders> {
  if (wo_id === undefined) return new Map()
  await lockLinks(tx, site_id)
  const [linked] = await tx.query<{ wo_id: number | null }>(
    'select wo_id from defects where site_id = $1 and defect_id = $2',
    [site_id, defect_id],
  )
  const ids = [linked?.wo_id ?? null, wo_id].filter((id) => id !== null)
  return await lockOrders(tx, site_id, ids)
}

/** @throws ApiError conflict_state when the present order is approved */
function requireMovable(
  { defect_id, wo_id }: StoredDefect,
  next: number | null,
  orders: Orders,
): void {
  const order = wo_id === null ? undefined : orders.get(wo_id)
  if (order?.status === 'approved') {
    const { number, status: current_state } = order
    throw new ApiError('conflict_state', {
      defect_id,
      wo_id,
      current_state,
      allowed_from: workOrderStates.filter((state) => state !== 'approved'),
      message: `${number} is approved and keeps its defects`,
    })
  }
  if (next !== null) requireUnfinished(next, orders)
}

function requireUnfinished(wo_id: number, orders: Orders): void {
  const order = orders.get(wo_id)
  if (order === undefined)
    throw invalid(unknownReference('wo_id', 'is not a work order of this site'))
  if (!finalStates.includes(order.status)) return
  throw badField('wo_id', 'not_allowed_value', `${order.number} is ${order.status}`)
}

const clock_slack_ms = 300_000

function requireConsistent(
  of: { latitude: number | null; longitude: number | null; detected_at: Date | string },
  now: Date,
): void {
  if ((of.latitude === null) !== (of.longitude === null)) {
    const absent = of.latitude === null ? 'latitude' : 'longitude'
    throw badField(absent, 'required', 'is required with the other coordinate')
  }
  // Clocks of clients may be slightly ahead.
  if (new Date(of.detected_at).getTime() <= now.getTime() + clock_slack_ms) return
  throw badField('detected_at', 'not_allowed_value', 'must not lie in the future')
}
