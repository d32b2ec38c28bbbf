/** What the writes do to defects, each within the transaction of its request. */
import type { Caller } from '../../http/endpoint.ts'
import { ApiError, invalid } from '../../http/errors.ts'
import { requireMatch } from '../../http/etag.ts'
import { attached } from '../../maintenance/attachments.ts'
import { currencyOf } from '../../maintenance/currency.ts'
import {
  type DefectState,
  defectStates,
  defectTransitions,
  enteredDefect,
  isFinal,
  newDefectState,
} from '../../maintenance/defect-states.ts'
import { takeNumber } from '../../maintenance/numbers.ts'
import {
  demandDevices,
  linkAlerts,
  movedBy,
  namesDevices,
  unknown,
} from '../../maintenance/references.ts'
import { areOthers, changedColumns, insertRow, updateRow } from '../../maintenance/rows.ts'
import { finalStates, type WorkOrderState } from '../../maintenance/work-order-states.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Defect, DefectChange, NewDefect } from './schemas.ts'
import { defectRecord, readDefect, type StoredDefect } from './store.ts'
import { tellChanged, tellCreated } from './telling.ts'

/** Who does what at which site, and when. */
export interface Actor extends Pick<Caller, 'key_name'> {
  site_id: string
  if_match: string | null
  now: Date
}

const blank = {
  ...{ location_id: null, logger_id: null, inverter_id: null, string_index: null, bess_id: null },
  ...{ latitude: null, longitude: null, estimated_loss_amount_year: null, currency: null },
  wo_id: null,
}

export async function createDefect(
  tx: Transaction,
  actor: Actor,
  body: NewDefect,
): Promise<Defect> {
  const { site_id, now, key_name } = actor
  const { alert_ids = [], attachments = [], ...given } = body
  const asked = { ...blank, detected_at: now, ...given }
  demandSound(asked, now)
  const order = await holdOrder(tx, site_id, asked.wo_id)
  if (asked.wo_id !== null) demandUnfinished(order)
  const about = { ...asked, node_id: null }
  const { logger_id, location_id } = await demandDevices(tx, site_id, about)
  const currency = await lossCurrency(tx, site_id, asked)
  const number = await takeNumber(tx, site_id, 'defect', now)
  const defect_id = await insertRow(tx, 'defects', {
    ...{ site_id, number, ...asked, logger_id, location_id, currency, ...newDefectState },
    ...{ reported_by: key_name, created_at: now, updated_at: now },
    attachments: attached([], attachments, now),
  })
  if (alert_ids.length > 0) await linkDefectAlerts(tx, { site_id, defect_id }, alert_ids)
  const made = (await readDefect(tx, { site_id, defect_id }))!
  await tellCreated(tx, actor, made)
  return defectRecord(made)
}

export async function changeDefect(
  tx: Transaction,
  actor: Actor,
  defect_id: number,
  body: DefectChange,
): Promise<Defect> {
  const { site_id, now } = actor
  // The order before the defect, as a change of the order takes them.
  const order = await holdOrder(tx, site_id, body.wo_id ?? null)
  const before = await demandDefect(tx, actor, defect_id)
  if (Object.keys(body).length === 0) return defectRecord(before)
  const { alert_ids, attachments, status = before.status, ...given } = body
  demandTransition(before, body.status)
  const merged = { ...before, ...given, ...movedBy(given) }
  demandSound(merged, now)
  if (merged.wo_id !== null && merged.wo_id !== before.wo_id) demandUnfinished(order)
  const about = { ...merged, node_id: null }
  const { logger_id, location_id } = namesDevices(given)
    ? await demandDevices(tx, site_id, about)
    : before
  const currency = await lossCurrency(tx, site_id, merged)
  const changes = changedColumns(before, {
    ...{ ...given, logger_id, location_id, currency },
    ...(status !== before.status && enteredDefect(before, status, actor)),
    ...(attachments && { attachments: attached(before.attachments, attachments, now) }),
  })
  if (Object.keys(changes).length === 0 && !areOthers(alert_ids, before.alert_ids)) {
    return defectRecord(before)
  }
  const columns = { ...changes, updated_at: now }
  await updateRow(tx, { table: 'defects', site_id, id: defect_id }, columns)
  if (alert_ids) await linkDefectAlerts(tx, { site_id, defect_id }, alert_ids)
  const after = (await readDefect(tx, { site_id, defect_id }))!
  await tellChanged(tx, actor, { before, after })
  return defectRecord(after)
}

/** Kept from others until the transaction ends: 404, or 412 where another was seen. */
async function demandDefect(
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

/** 409 with what may come next, or with the states in which other fields may change. */
function demandTransition(
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

interface HeldOrder {
  number: string
  status: WorkOrderState
}

/** Its status stays until the transaction ends; undefined where there is none of that id. */
async function holdOrder(
  tx: Transaction,
  site_id: string,
  wo_id: number | null,
): Promise<HeldOrder | undefined> {
  if (wo_id === null) return undefined
  const [order] = await tx.query<HeldOrder>(
    'select number, status from work_orders where site_id = $1 and wo_id = $2 for share',
    [site_id, wo_id],
  )
  return order
}

function demandUnfinished(order: HeldOrder | undefined): void {
  if (order === undefined) throw invalid(unknown('wo_id', 'is no work order of this site'))
  if (!finalStates.includes(order.status)) return
  throw fault('wo_id', 'not_allowed_value', `${order.number} is ${order.status}`)
}

const clock_slack_ms = 300_000

/** A place has both coordinates, and nothing is found before it is there. */
function demandSound(
  of: { latitude: number | null; longitude: number | null; detected_at: Date | string },
  now: Date,
): void {
  if ((of.latitude === null) !== (of.longitude === null)) {
    const absent = of.latitude === null ? 'latitude' : 'longitude'
    throw fault(absent, 'required', 'latitude and longitude go together')
  }
  // Clocks of clients go ahead by a little.
  if (new Date(of.detected_at).getTime() <= now.getTime() + clock_slack_ms) return
  throw fault('detected_at', 'not_allowed_value', 'must not lie in the future')
}

const fault = (field: string, code: string, message: string) =>
  invalid({ location: 'body', field, code, message })

const lossCurrency = (
  tx: Transaction,
  site_id: string,
  of: { estimated_loss_amount_year: number | null; currency: string | null },
) => {
  const beside = 'estimated_loss_amount_year'
  return currencyOf(tx, site_id, { amount: of[beside], currency: of.currency, beside })
}

const linkDefectAlerts = (
  tx: Transaction,
  { site_id, defect_id }: { site_id: string; defect_id: number },
  ids: readonly number[],
) => linkAlerts(tx, { site_id, table: 'defect_alerts', of: { defect_id } }, ids)
