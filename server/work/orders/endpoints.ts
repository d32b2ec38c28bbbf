import type { Clock } from '@heliograph/domain/clock'
import { endpoint, type Request, type WriteParts } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { openWindow } from '../../http/windows.ts'
import { serviceRule } from '../service-levels.ts'
import { transitionRule } from '../work-order-states.ts'
import type { Actor } from './actor.ts'
import { approveWorkOrder, changeWorkOrder, createWorkOrder } from './commands.ts'
import {
  approvedExample,
  changedExample,
  createdExample,
  itemExample,
  workOrderExample,
} from './examples.ts'
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
import type { WorkOrderStore } from './store.ts'

export interface Needs {
  clock: Clock
  workOrders: WorkOrderStore
}

const tag = { tag: 'Work orders', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const
const writes = { ...tag, scope: 'om:write' } as const

type Write = Request<unknown, unknown, unknown> & WriteParts

const actorOf = ({ site, caller, if_match, read_only }: Write, { clock }: Needs): Actor => ({
  site_id: site.site_id,
  key_id: caller.key_id,
  key_name: caller.key_name,
  if_match,
  read_only,
  now: clock.now(),
  clock,
})

const transitions =
  `Its status goes from ${transitionRule}. \`approved\` is reached by /approve alone. Any other ` +
  'change of status is 409 `conflict_state` with `current_state` and what it may become, `allowed`.'

const matched =
  '`If-Match`, with the `ETag` of the work order, makes sure that it is as it was seen.'

export const listWorkOrders = endpoint({
  ...reads,
  path: '/work-orders',
  operation_id: 'work_orders_list',
  summary: 'Work orders, page by page',
  description:
    'In the order in which they were created, so that one created meanwhile moves none to another ' +
    'page; `start` and `end` are of `created_at`. Without their checklists.',
  window: openWindow,
  query: filters,
  returns: Page(WorkOrder),
  example: {
    answer: { data: [workOrderExample], meta: { count: 1, limit: 50, offset: 0 } },
  },
  async handle({ site: { site_id }, query, window }, { clock, workOrders }: Needs) {
    const { offset = 0, limit = 50 } = query
    const asked = { ...query, ...window, site_id, offset, limit }
    const { rows, count } = await workOrders.page(asked, clock.now())
    return { data: rows, meta: { count, limit, offset } }
  },
})

export const createOrder = endpoint({
  ...writes,
  method: 'POST',
  path: '/work-orders',
  operation_id: 'work_order_create',
  summary: 'Create a work order',
  description:
    'It is `open`, or `assigned` where it says whose it is. With `category_id` it gets the ' +
    'checklist of the inspection category. By its priority it is to be acknowledged and ' +
    `completed within: ${serviceRule}. A \`due_at\` that is earlier counts too, and must lie ahead.`,
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
    answer: createdExample,
  },
  handle: (request, needs: Needs) =>
    createWorkOrder(request.tx, actorOf(request, needs), request.body),
})

export const getWorkOrder = endpoint({
  ...reads,
  path: '/work-orders/{wo_id}',
  operation_id: 'work_order_get',
  summary: 'One work order with its checklist',
  description: `${transitions} Send its \`ETag\` as \`If-Match\` with what changes it.`,
  params: { wo_id: WorkOrderId },
  cache: 'resource',
  returns: WholeWorkOrder,
  example: { answer: changedExample },
  async handle({ site: { site_id }, params }, { clock, workOrders }: Needs) {
    const found = await workOrders.one({ ...params, site_id }, clock.now())
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
    `The fields that are given; the others stay, lists are replaced whole. ${transitions} Saying ` +
    'whose an `open` one is makes it `assigned`, and the other way round; `assigned` without ' +
    'saying whose gives it to the key that asks, `open` takes it back. It is not completed while ' +
    'a required item of its checklist is `pending` (409 with `pending_item_ids`). One that is ' +
    '`approved` or `cancelled` does not change any more: 409 with the states in which one does, ' +
    `\`allowed_from\`. What changes nothing leaves \`version\` and \`ETag\`. ${matched}`,
  params: { wo_id: WorkOrderId },
  body: WorkOrderChange,
  object: WholeWorkOrder,
  cache: 'resource',
  if_match: true,
  returns: WholeWorkOrder,
  example: {
    body: { status: 'in_progress', team: 'Electrical south' },
    answer: changedExample,
  },
  handle: (request, needs: Needs) =>
    changeWorkOrder(request.tx, actorOf(request, needs), request.params.wo_id, request.body),
})

export const changeOrderItem = endpoint({
  ...writes,
  method: 'PUT',
  path: '/work-orders/{wo_id}/items/{item_id}',
  operation_id: 'work_order_item_change',
  summary: 'Fill in an item of the checklist of a work order',
  description:
    'The fields that are given; the others stay. Answers with the work order whole. A measurement ' +
    'passes with a value within its limits that can be measured at all, and with a `note` where ' +
    'the calibration of the tester is over; `pass_fail` with `value_bool` true, and it fails not ' +
    'with it; `photo` with an attachment of the work order, `text` and `signature` with a text; ' +
    'a required item does not apply only with a `note`. Once the work is completed its ' +
    'checklist stays as it is: 409 with the states in which it may be filled in, ' +
    `\`allowed_from\`. ${matched}`,
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
    answer: itemExample,
  },
  handle: (request, needs: Needs) =>
    changeItem(request.tx, actorOf(request, needs), request.params, request.body),
})

export const approveOrder = endpoint({
  ...writes,
  method: 'POST',
  path: '/work-orders/{wo_id}/approve',
  operation_id: 'work_order_approve',
  summary: 'Approve a completed work order',
  description:
    'Only a `completed` one; any other is 409 `conflict_state` with `allowed_from`. Where the ' +
    'site asks for it, not by ' +
    `the key that completed it: 409 too, with the reason as \`details.message\`. ${matched}`,
  params: { wo_id: WorkOrderId },
  body: Approval,
  cache: 'resource',
  if_match: true,
  returns: WholeWorkOrder,
  example: { body: { note: 'Checked on site.' }, answer: approvedExample },
  handle: (request, needs: Needs) =>
    approveWorkOrder(
      request.tx,
      actorOf(request, needs),
      request.params.wo_id,
      request.body.note ?? null,
    ),
})
