import type { Clock } from '@heliograph/domain/clock'
import { endpoint, type Request, type WriteParts } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { defectRule } from '../defect-states.ts'
import { type Actor, changeDefect, createDefect } from './commands.ts'
import { createdExample, resolvedExample } from './examples.ts'
import { Defect, DefectChange, DefectId, filters, NewDefect } from './schemas.ts'
import type { DefectStore } from './store.ts'

export interface Needs {
  clock: Clock
  defects: DefectStore
}

const tag = { tag: 'Defects', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const
const writes = { ...tag, scope: 'om:write' } as const

type Write = Request<unknown, unknown, unknown> & WriteParts

const actorOf = ({ site, caller, if_match, read_only }: Write, { clock }: Needs): Actor => ({
  site_id: site.site_id,
  key_name: caller.key_name,
  if_match,
  read_only,
  now: clock.now(),
  clock,
})

const transitions =
  `Its status goes from ${defectRule}. Any other change of status is 409 \`conflict_state\` with ` +
  '`current_state` and what it may become, `allowed`; one that is `verified` does not change any ' +
  'more: 409 with the states in which one does, `allowed_from`. What changes nothing leaves ' +
  '`version` and `ETag`.'

export const listDefects = endpoint({
  ...reads,
  path: '/defects',
  operation_id: 'defects_list',
  summary: 'Defects, page by page',
  description:
    'In the order in which they were reported, so that one reported meanwhile moves none to ' +
    'another page.',
  query: filters,
  returns: Page(Defect),
  example: { answer: { data: [createdExample], meta: { count: 1, limit: 50, offset: 0 } } },
  async handle({ site: { site_id }, query }, { defects }: Needs) {
    const { offset = 0, limit = 50 } = query
    const { rows, count } = await defects.page({ ...query, site_id, offset, limit })
    return { data: rows, meta: { count, limit, offset } }
  },
})

export const reportDefect = endpoint({
  ...writes,
  method: 'POST',
  path: '/defects',
  operation_id: 'defect_create',
  summary: 'Report a defect',
  description:
    'It is `open`. What it names must be there: devices and alerts of the site, and a work order ' +
    'that is neither approved nor cancelled. Reported of alerts without a device it has that of ' +
    'its alerts.',
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
    answer: createdExample,
  },
  handle: (request, needs: Needs) =>
    createDefect(request.tx, actorOf(request, needs), request.body),
})

export const getDefect = endpoint({
  ...reads,
  path: '/defects/{defect_id}',
  operation_id: 'defect_get',
  summary: 'One defect',
  description: `${transitions} Send its \`ETag\` as \`If-Match\` with what changes it.`,
  params: { defect_id: DefectId },
  cache: 'resource',
  returns: Defect,
  example: { answer: createdExample },
  async handle({ site: { site_id }, params }, { defects }: Needs) {
    const found = await defects.one({ ...params, site_id })
    if (found === null) throw new ApiError('not_found', params)
    return found
  },
})

export const changeOneDefect = endpoint({
  ...writes,
  method: 'PUT',
  path: '/defects/{defect_id}',
  operation_id: 'defect_change',
  summary: 'Change a defect',
  description:
    `The fields that are given; the others stay, lists are replaced whole. ${transitions} ` +
    '`wo_id` gives it to another work order, null takes it from the one that it has, unless that ' +
    'is approved: 409 with the state of the order as `current_state`. ' +
    '`If-Match`, with the `ETag` of the defect, makes sure that it is as it was seen.',
  params: { defect_id: DefectId },
  body: DefectChange,
  object: Defect,
  cache: 'resource',
  if_match: true,
  returns: Defect,
  example: {
    body: { status: 'resolved', resolution: 'Module replaced.' },
    answer: resolvedExample,
  },
  handle: (request, needs: Needs) =>
    changeDefect(request.tx, actorOf(request, needs), request.params.defect_id, request.body),
})
