/** The checklist of a work order: creation and changes. */
import { isDeepStrictEqual } from 'node:util'
import { utcDate } from '@heliograph/domain/utc-day'
import { ApiError, badField, invalid, unknownReference, violation } from '../../http/errors.ts'
import { requireUnchanged } from '../../http/read-only.ts'
import type { Transaction } from '../../storage/database.ts'
import { takeIds } from '../../storage/site-ids.ts'
import type { Actor } from '../actor.ts'
import { type ChecklistLine, categoryById } from '../categories.ts'
import { itemFaults } from '../checklists.ts'
import { touchOrders } from '../order-links.ts'
import { publishOrder } from '../published.ts'
import { updateRow } from '../rows.ts'
import { isWorking, workingStates } from '../work-order-states.ts'
import type { ItemChange, NewItem } from './item-schemas.ts'
import { notifyFailed } from './order-notifications.ts'
import { requireDefect } from './references.ts'
import type { WholeWorkOrder } from './schemas.ts'
import { lockWorkOrder, readStored, type StoredItem, wholeRecord } from './store.ts'

interface NewLine extends ChecklistLine {
  category_id: number | null
}

const nothing_entered = {
  status: 'pending',
  value_number: null,
  value_text: null,
  value_bool: null,
  note: null,
  photo_ids: [],
  calibration_due_date: null,
} as const

/**
 * The given items, else the items of the category.
 * @throws ApiError invalid
 */
export function checklistFor(
  category_id: number | null,
  own: readonly NewItem[] | undefined,
  now: Date,
): NewLine[] {
  const category = category_id === null ? null : categoryById(category_id)
  if (category === undefined) {
    throw badField('category_id', 'unknown_reference', 'is not a category of /om/categories')
  }
  if (category && own?.length === 0) {
    const message = 'must not be empty with category_id: omit it for the checklist of the category'
    throw badField('checklist', 'too_short', message)
  }
  const lines = own?.map(lineOf) ?? category?.default_checklist ?? []
  const faults = lines.flatMap((line, index) =>
    itemFaults({ ...nothing_entered, ...line }, utcDate(now)).map((one) => ({
      ...one,
      field: `checklist.${index}.${one.field}`,
    })),
  )
  if (faults.length > 0) throw invalid(...faults)
  return lines.map((line) => ({ ...line, category_id: own ? null : category_id }))
}

const lineOf = (item: NewItem): ChecklistLine => ({
  code: null,
  instruction: null,
  unit: null,
  min_value: null,
  max_value: null,
  type: 'check',
  required: true,
  ...item,
})

export async function insertItems(
  tx: Transaction,
  { site_id, wo_id }: { site_id: string; wo_id: number },
  lines: readonly NewLine[],
): Promise<void> {
  if (lines.length === 0) return
  const item_ids = await takeIds(tx, { site_id, kind: 'item_id', count: lines.length })
  await tx.execute(
    `insert into work_order_items (site_id, wo_id, item_id, position, category_id, code, title,
       instruction, type, required, unit, min_value, max_value, is_limit_open)
     select $1, $2, item_id, position, category_id, code, title, instruction, type, required, unit,
       min_value, max_value,
       type = 'measurement' and min_value is null and max_value is null
     from json_to_recordset($3::json) as lines (item_id integer, position integer, category_id integer, code text,
       title text, instruction text, type text, required boolean, unit text,
       min_value double precision, max_value double precision)
     order by position`,
    [
      site_id,
      wo_id,
      JSON.stringify(
        lines.map((line, at) => ({ ...line, item_id: item_ids[at], position: at + 1 })),
      ),
    ],
  )
}

/** @throws ApiError not_found, conflict_state, precondition_failed, invalid */
export async function changeItem(
  tx: Transaction,
  actor: Actor,
  { wo_id, item_id }: { wo_id: number; item_id: number },
  body: ItemChange,
): Promise<WholeWorkOrder> {
  const { site_id, now } = actor
  const stored = await lockWorkOrder(tx, actor, wo_id)
  const item = stored.items.find((one) => one.item_id === item_id)
  if (!item) throw new ApiError('not_found', { wo_id, item_id })
  const present = wholeRecord(stored, now)
  requireUnchanged(actor.read_only, present.checklist.find((one) => one.item_id === item_id)!)
  const { status: current_state } = stored.order
  if (!isWorking(current_state)) {
    throw new ApiError('conflict_state', { wo_id, current_state, allowed_from: workingStates })
  }
  const merged = { ...item, ...body }
  if (isDeepStrictEqual(merged, item)) return present
  const photos = new Set(stored.order.attachments.map(({ attachment_id }) => attachment_id))
  requireConsistent({ item, merged, photos, today: utcDate(now) })
  if (body.defect_id !== undefined && body.defect_id !== null) {
    await requireDefect(tx, site_id, body.defect_id)
  }
  const changes = { ...body, ...doneBy(item, merged, actor) }
  await updateRow(tx, 'work_order_items', { site_id, wo_id, item_id }, changes)
  await touchOrders(tx, { site_id, now }, [wo_id])
  if (merged.status === 'failed' && item.status !== 'failed') {
    await notifyFailed(tx, actor, stored.order, merged)
  }
  const after = (await readStored(tx, { site_id, wo_id }))!
  return publishOrder(tx, actor, 'changed', wholeRecord(after, now))
}

/** The author of status and value; a change of note or links keeps the author. */
function doneBy(item: StoredItem, merged: StoredItem, { now, key_name }: Actor) {
  if (merged.status === 'pending') return { done_at: null, done_by: null }
  const { type } = item
  const decided = ['status', 'value_number', 'value_text', 'value_bool'] as const
  const is_same =
    decided.every((field) => merged[field] === item[field]) &&
    (type !== 'photo' || isDeepStrictEqual(merged.photo_ids, item.photo_ids))
  const { done_at, done_by } = item
  return is_same ? { done_at, done_by } : { done_at: now, done_by: key_name }
}

interface Filling {
  item: StoredItem
  merged: StoredItem
  photos: ReadonlySet<number>
  today: string
}

function requireConsistent({ item, merged, photos, today }: Filling): void {
  const fixed = (['min_value', 'max_value'] as const)
    .filter((field) => !item.is_limit_open && merged[field] !== item[field])
    .map((field) => violation(field, 'not_allowed_field', 'is fixed by the checklist'))
  const absent = merged.photo_ids.flatMap((id, index) =>
    photos.has(id)
      ? []
      : unknownReference(`photo_ids.${index}`, 'is not an attachment of the work order'),
  )
  const faults = [...fixed, ...absent, ...itemFaults(merged, today)]
  if (faults.length > 0) throw invalid(...faults)
}
