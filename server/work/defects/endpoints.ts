import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { actorOf } from '../actor.ts'
import { defectRule } from '../defect-states.ts'
import { changeDefect, createDefect } from './commands.ts'
import { Defect, DefectChange, DefectId, filters, NewDefect } from './schemas.ts'
import { defectRecord, readDefect, readDefects } from './store.ts'

const tag = { tag: 'Defects', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const
const writes = { ...tag, scope: 'om:write' } as const

const transitions =
  `Allowed transitions of \`status\`: ${defectRule}. Rejected with 409 \`conflict_state\` for ` +
  'another transition, with `current_state` and the `allowed` states, and for any change of a ' +
  '`verified` defect, with the states in `allowed_from`. A change without effect keeps `version` ' +
  'and `ETag`.'

export const listDefects = endpoint({
  ...reads,
  path: '/defects',
  operation_id: 'defects_list',
  summary: 'List defects',
  description:
    'Returns defects in the order in which they were reported, so that new defects do not shift ' +
    'pages.',
  query: filters,
  returns: Page(Defect),
  handle: ({ site: { site_id }, query }, { db }: Context) => readDefects(db, { ...query, site_id }),
})

export const reportDefect = endpoint({
  ...writes,
  method: 'POST',
  path: '/defects',
  operation_id: 'defect_create',
  summary: 'Report a defect',
  description:
    'Returns the new defect, which is `open`. Without a device, it takes the device of its alerts. ' +
    'Rejected with 422 when a device, alert or work order does not exist at the site, or when the ' +
    'work order is approved or cancelled.',
  body: NewDefect,
  status: 201,
  cache: 'resource',
  returns: Defect,
  example: {
    body: {
      title: 'Hot spot on a module of string 3 of inverter 1',
      description: '21 K above its neighbours.',
      severity: 'high',
      type: 'hotspot',
      inverter_id: 1,
      string_index: 3,
      module_position: 'row 12, table 3, module 7',
      latitude: 48.6213,
      longitude: 12.1702,
      detected_at: '2026-06-20T08:30:00Z',
      detection_method: 'thermography',
      temperature_delta_k: 21,
      affected_module_count: 1,
      affected_power_kw: 0.4,
      estimated_loss_kwh_year: 310,
      estimated_loss_amount_year: 22,
      tags: ['flight 2026-06'],
    },
  },
  handle: (request, context: Context) =>
    createDefect(request.tx, actorOf(request, context), request.body),
})

export const getDefect = endpoint({
  ...reads,
  path: '/defects/{defect_id}',
  operation_id: 'defect_get',
  summary: 'Read a defect',
  description: `Returns the defect. ${transitions} Send the \`ETag\` as \`If-Match\` with a change.`,
  params: { defect_id: DefectId },
  cache: 'resource',
  returns: Defect,
  async handle({ site: { site_id }, params }, { db }: Context) {
    const found = await readDefect(db, { ...params, site_id })
    if (found === null) throw new ApiError('not_found', params)
    return defectRecord(found)
  },
})

export const changeOneDefect = endpoint({
  ...writes,
  method: 'PUT',
  path: '/defects/{defect_id}',
  operation_id: 'defect_change',
  summary: 'Change a defect',
  description:
    'Returns the changed defect. Omitted fields stay; lists are replaced. ' +
    `${transitions} \`wo_id\` moves the defect to another work order, or removes it with null. ` +
    'Rejected with 409 when the present work order is approved, with its state as ' +
    '`current_state`. Rejected with 412 when `If-Match` is not the current `ETag`.',
  params: { defect_id: DefectId },
  body: DefectChange,
  object: Defect,
  cache: 'resource',
  if_match: true,
  returns: Defect,
  example: {
    body: { status: 'resolved', resolution: 'Module replaced.' },
  },
  handle: (request, context: Context) =>
    changeDefect(request.tx, actorOf(request, context), request.params.defect_id, request.body),
})
