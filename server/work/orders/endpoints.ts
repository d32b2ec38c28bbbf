import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { openWindow } from '../../http/windows.ts'
import { actorOf } from '../actor.ts'
import { serviceRule } from '../service-levels.ts'
import { transitionRule } from '../work-order-states.ts'
import { approveWorkOrder, changeWorkOrder, createWorkOrder } from './commands.ts'
import { ChecklistItem, ItemChange, ItemId } from './item-schemas.ts'
import { changeItem } from './items.ts'
import {
  Approval,
  filters,
  NewWorkOrder,
  WholeWorkOrder,
  WorkOrder,
  WorkOrderChange,
  WorkOrderId,
} from './schemas.ts'
import { readWorkOrder, readWorkOrders } from './store.ts'

const tag = { tag: 'Work orders', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const
const writes = { ...tag, scope: 'om:write' } as const

const transitions =
  `Allowed transitions of \`status\`: ${transitionRule}. Only /approve sets \`approved\`. Rejected ` +
  'with 409 `conflict_state` for another transition, with `current_state` and the `allowed` states.'

const matched = 'Rejected with 412 when `If-Match` is not the current `ETag` of the work order.'

export const listWorkOrders = endpoint({
  ...reads,
  path: '/work-orders',
  operation_id: 'work_orders_list',
  summary: 'List work orders',
  description:
    'Returns work orders without their checklists, in the order in which they were created, so that ' +
    'new ones do not shift pages. `start` and `end` filter by `created_at`.',
  window: openWindow,
  query: filters,
  returns: Page(WorkOrder),
  handle: ({ site: { site_id }, query, window }, { db, clock }: Context) =>
    readWorkOrders(db, { ...query, ...window, site_id }, clock.now()),
})

export const createOrder = endpoint({
  ...writes,
  method: 'POST',
  path: '/work-orders',
  operation_id: 'work_order_create',
  summary: 'Create a work order',
  description:
    'Returns the new work order, which is `assigned` when an assignee, team or contractor is given, ' +
    'else `open`. `category_id` adds the checklist of the inspection category. The priority sets the ' +
    `deadlines for acknowledgement and completion: ${serviceRule}. An earlier \`due_at\` also counts. ` +
    'Rejected with 422 when `due_at` is in the past.',
  body: NewWorkOrder,
  status: 201,
  cache: 'resource',
  returns: WholeWorkOrder,
  example: {
    body: {
      title: 'String 3 of inverter 1 carries no current',
      description: 'Fuse or connector; take spare fuses of 15 A.',
      priority: 'high',
      inverter_id: 1,
      string_index: 3,
      category_id: 2,
      loto_required: true,
      tags: ['fuse'],
    },
  },
  handle: (request, context: Context) =>
    createWorkOrder(request.tx, actorOf(request, context), request.body),
})

export const getWorkOrder = endpoint({
  ...reads,
  path: '/work-orders/{wo_id}',
  operation_id: 'work_order_get',
  summary: 'Read a work order with its checklist',
  description: `Returns the work order. ${transitions} Send the \`ETag\` as \`If-Match\` with a change.`,
  params: { wo_id: WorkOrderId },
  cache: 'resource',
  returns: WholeWorkOrder,
  async handle({ site: { site_id }, params }, { db, clock }: Context) {
    const found = await readWorkOrder(db, { ...params, site_id }, clock.now())
    if (found === null) throw new ApiError('not_found', params)
    return found
  },
})

export const changeOrder = endpoint({
  ...writes,
  method: 'PUT',
  path: '/work-orders/{wo_id}',
  operation_id: 'work_order_change',
  summary: 'Change a work order',
  description:
    `Returns the changed work order. Omitted fields stay; lists are replaced. ${transitions} ` +
    'An assignee turns an `open` work order into `assigned`, and removing the assignee turns it ' +
    'back. `assigned` without an assignee assigns the calling key; `open` removes the assignee. ' +
    'Rejected with 409 when the work is completed while a required checklist item is `pending` ' +
    '(see `pending_item_ids`), or when the work order is `approved` or `cancelled` (see ' +
    `\`allowed_from\`). A change without effect keeps \`version\` and \`ETag\`. ${matched}`,
  params: { wo_id: WorkOrderId },
  body: WorkOrderChange,
  object: WholeWorkOrder,
  cache: 'resource',
  if_match: true,
  returns: WholeWorkOrder,
  example: {
    body: { status: 'in_progress', team: 'Electrical south' },
  },
  handle: (request, context: Context) =>
    changeWorkOrder(request.tx, actorOf(request, context), request.params.wo_id, request.body),
})

export const changeOrderItem = endpoint({
  ...writes,
  method: 'PUT',
  path: '/work-orders/{wo_id}/items/{item_id}',
  operation_id: 'work_order_item_change',
  summary: 'Fill in a checklist item',
  description:
    'Returns the whole work order. Omitted fields stay. To pass, a measurement needs a possible ' +
    'value within its limits, and a `note` if the calibration of the instrument has expired; ' +
    '`pass_fail` needs `value_bool` true, `photo` an attachment of the work order, `text` and ' +
    '`signature` a text. A required item needs a `note` to be `not_applicable`. Rejected with 422 ' +
    'otherwise, and with 409 once the work is completed, with the states in `allowed_from`. ' +
    matched,
  params: { wo_id: WorkOrderId, item_id: ItemId },
  body: ItemChange,
  object: ChecklistItem,
  cache: 'resource',
  if_match: true,
  returns: WholeWorkOrder,
  example: {
    body: {
      status: 'passed',
      value_number: 412,
      instrument: 'Insulation tester',
      instrument_serial: 'A-1187',
      calibration_due_date: '2027-03-31',
    },
  },
  handle: (request, context: Context) =>
    changeItem(request.tx, actorOf(request, context), request.params, request.body),
})

export const approveOrder = endpoint({
  ...writes,
  method: 'POST',
  path: '/work-orders/{wo_id}/approve',
  operation_id: 'work_order_approve',
  summary: 'Approve a completed work order',
  description:
    'Returns the approved work order. Rejected with 409 `conflict_state` when the work order is not ' +
    '`completed` (see `allowed_from`), or when the site requires another key than the one that ' +
    `completed it (see \`details.message\`). ${matched}`,
  params: { wo_id: WorkOrderId },
  body: Approval,
  cache: 'resource',
  if_match: true,
  returns: WholeWorkOrder,
  example: { body: { note: 'Checked on site.' } },
  handle: (request, context: Context) =>
    approveWorkOrder(
      request.tx,
      actorOf(request, context),
      request.params.wo_id,
      request.body.note ?? null,
    ),
})
