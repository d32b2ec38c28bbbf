/** The checklist of a work order: creation and changes. */
import { isDeepStrictEqual } from 'node:util'
import { utcDate } from '@heliograph/domain/utc-day'
import { ApiError, invalid } from '../../http/errors.ts'
import { requireUnchanged } from '../../http/read-only.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Actor } from '../actor.ts'
import { categoryById } from '../categories.ts'
import type { ChecklistLine } from '../category-checklists.ts'
import { itemFaults } from '../checklists.ts'
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
    const message = 'is not a category of /om/categories'
    throw invalid({ location: 'body', field: 'category_id', code: 'unknown_reference', message })
  }
  if (category && own?.length === 0) {
    const message = 'must not be empty with category_id: omit it for the checklist of the category'
    throw invalid({ location: 'body', field: 'checklist', code: 'too_short', message })
  }
  const lines = own?.map(lineOf) ?? category?.default_checklist ?? []
  const faults = lines.flatMap((line, index) =>
    itemFaults({ ...nothing_entered, ...line }, utcDate(now.getTime())).map(
      ({ field, ...fault }) => ({
        location: 'body' as const,
        field: `checklist.${index}.${field}`,
        ...fault,
      }),
    ),
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
  await tx.execute(
    `insert into work_order_items (site_id, wo_id, position, category_id, code, title, instruction,
       type, required, unit, min_value, max_value, is_limit_open)
     select $1, $2, position, category_id, code, title, instruction, type, required, unit,
       min_value, max_value,
       type = 'measurement' and min_value is null and max_value is null
     from json_to_recordset($3::json) as lines (position integer, category_id integer, code text,
       title text, instruction text, type text, required boolean, unit text,
       min_value double precision, max_value double precision)
     order by position`,
    [site_id, wo_id, JSON.stringify(lines.map((line, at) => ({ ...line, position: at + 1 })))],
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
  requireConsistent({ item, merged, photos, today: utcDate(now.getTime()) })
  if (body.defect_id !== undefined && body.defect_id !== null) {
    await requireDefect(tx, site_id, body.defect_id)
  }
  await updateItem(tx, { ...merged, ...doneBy(item, merged, actor), site_id, wo_id })
  await tx.execute(
    `update work_orders set updated_at = $3, version = version + 1
     where site_id = $1 and wo_id = $2`,
    [site_id, wo_id, now],
  )
  if (merged.status === 'failed' && item.status !== 'failed') {
    await notifyFailed(tx, actor, stored.order, merged)
  }
  return wholeRecord((await readStored(tx, { site_id, wo_id }))!, now)
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
    .map((field) => ({ field, code: 'not_allowed_field', message: 'is fixed by the checklist' }))
  const absent = merged.photo_ids.flatMap((id, index) => {
    const message = 'is not an attachment of the work order'
    const field = `photo_ids.${index}`
    return photos.has(id) ? [] : [{ field, code: 'unknown_reference', message }]
  })
  const faults = [...fixed, ...absent, ...itemFaults(merged, today)]
  if (faults.length === 0) return
  throw invalid(...faults.map((fault) => ({ location: 'body' as const, ...fault })))
}

async function updateItem(tx: Transaction, item: StoredItem & { site_id: string }): Promise<void> {
  await tx.execute(
    `update work_order_items set status = $4, value_number = $5, value_text = $6, value_bool = $7,
       min_value = $8, max_value = $9, note = $10, photo_ids = $11, instrument = $12,
       instrument_serial = $13, calibration_due_date = $14, defect_id = $15, done_at = $16,
       done_by = $17
     where site_id = $1 and wo_id = $2 and item_id = $3`,
    [
      item.site_id,
      item.wo_id,
      item.item_id,
      item.status,
      item.value_number,
      item.value_text,
      item.value_bool,
      item.min_value,
      item.max_value,
      item.note,
      item.photo_ids,
      item.instrument,
      item.instrument_serial,
      item.calibration_due_date,
      item.defect_id,
      item.done_at,
      item.done_by,
    ],
  )
}
