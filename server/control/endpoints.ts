import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { Type } from 'typebox'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import { endpoint, type Request, type WriteParts } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { type Command, createGroup, releaseGroup } from './commands.ts'
import { CurtailmentRow, type RowStatus } from './curtailment-row.ts'
import { groupExample, pastRowExample, releaseExample, rowExample } from './examples.ts'
import {
  CurtailmentGroup,
  CurtailmentRelease,
  hold_minutes_max,
  ImmediateBody,
  WindowBody,
} from './schemas.ts'
import { groupRows, openRows, pastItems, pastRows, untilReleased } from './store.ts'

const tag = { tag: 'Curtailment', module: 'basic_scada' } as const
const reads = { ...tag, method: 'GET', scope: 'curtailment:read' } as const
const writes = { ...tag, scope: 'curtailment:write' } as const

const history_days = 90
const sinceDays = (days: number | undefined, now: Date) =>
  new Date(now.getTime() - (days ?? history_days) * day_ms)

/** Time that a release waits for confirmation by the edge. */
const release_ms_max = 10_000

export const listCurtailment = endpoint({
  ...reads,
  path: '/curtailment',
  operation_id: 'curtailment_list',
  summary: 'Current and scheduled curtailment, row by row',
  description:
    'Returns active and scheduled rows, and rows whose end or release the edge has yet to confirm ' +
    '(`releasing`), by start. Where several rows limit a plant, the lowest applies. No row raises ' +
    'a plant above its grid permit, which the edge enforces and does not report.',
  returns: List(CurtailmentRow),
  example: { answer: { data: [rowExample], meta: { count: 1 } } },
  async handle(request, { db, clock }: Context) {
    return list(await openRows(db, readerOf(request), clock.now()))
  },
})

export const curtailmentHistory = endpoint({
  ...reads,
  path: '/curtailment/history',
  operation_id: 'curtailment_history_list',
  summary: 'Past curtailment, row by row',
  description: 'Returns completed, cancelled and failed rows, newest first.',
  query: {
    days: Type.Optional(
      field.Int('Number of days to go back from now.', {
        minimum: 1,
        maximum: 365,
        default: history_days,
      }),
    ),
  },
  heavy: true,
  returns: List(CurtailmentRow),
  example: { answer: { data: [pastRowExample], meta: { count: 1 } } },
  async handle(request, { db, clock }: Context) {
    const now = clock.now()
    return list(await pastRows(db, readerOf(request), sinceDays(request.query.days, now), now))
  },
  async exports(request, { clock }: Context) {
    const now = clock.now()
    return pastItems(readerOf(request), sinceDays(request.query.days, now), now)
  },
})

const readerOf = ({
  site,
  caller,
}: Pick<Request<unknown, unknown, unknown>, 'site' | 'caller'>) => ({
  site_id: site.site_id,
  has_money: mayRead(caller, 'earnings:read'),
})

const rules =
  'Returns the group as soon as the command is recorded. Follow `acknowledged_at`, `applied_at` and ' +
  '`verified_at` of its rows in /curtailment for the progress of the edge. With scope `site`, each ' +
  'plant in service gets a row. A command can only reduce output.'

export const windowExample = {
  scope: 'site',
  limit_mode: 'percent',
  limit_value: 60,
  start_at: '2036-06-21T11:00:00Z',
  end_at: '2036-06-21T13:30:00Z',
} as const

export const curtailWindow = endpoint({
  ...writes,
  method: 'POST',
  path: '/curtailment/window',
  operation_id: 'curtailment_window_create',
  summary: 'Limit plants in a time window',
  description: rules,
  body: WindowBody,
  status: 201,
  returns: CurtailmentGroup,
  example: {
    body: windowExample,
    answer: groupExample,
  },
  handle: (request, { clock }: Context) => {
    const [start_at, end_at] = [new Date(request.body.start_at), new Date(request.body.end_at)]
    return create(request, { start_at, end_at, hold_until_at: null, now: clock.now() })
  },
})

export const curtailNow = endpoint({
  ...writes,
  method: 'POST',
  path: '/curtailment/immediate',
  operation_id: 'curtailment_immediate_create',
  summary: 'Limit plants immediately',
  description: `${rules} A connected edge applies the limit within seconds.`,
  body: ImmediateBody,
  status: 201,
  returns: CurtailmentGroup,
  example: {
    body: { scope: 'logger', logger_id: 2, limit_mode: 'kw', limit_value: 240 },
    answer: groupExample,
  },
  handle: (request, { clock }: Context) => {
    const now = clock.now()
    const held_ms = (request.body.duration_minutes ?? hold_minutes_max) * minute_ms
    const end_at = new Date(now.getTime() + held_ms)
    return create(request, { start_at: now, end_at, hold_until_at: end_at, now })
  },
})

type Write<Body> = Request<unknown, unknown, Body> & WriteParts
type Times = Pick<Command, 'start_at' | 'end_at' | 'hold_until_at' | 'now'>

async function create(
  { site, caller, body, tx, request_id, idempotency_key }: Write<WindowBody | ImmediateBody>,
  times: Times,
): Promise<CurtailmentGroup> {
  const { scope, logger_id, limit_mode, limit_value } = body
  const { site_id } = site
  const made = await createGroup(tx, {
    site_id,
    source: 'api',
    scope,
    logger_id,
    limit_mode,
    limit_value,
    ...times,
    created_by: caller.key_name,
    request_id,
    idempotency_key,
  })
  const reader = readerOf({ site, caller })
  const rows = await groupRows(tx, { ...reader, group_id: made.group_id }, times.now)
  const sum_kw = rows.reduce((sum, { max_power_kw }) => sum + max_power_kw, 0)
  return {
    group_id: made.group_id,
    status: groupStatus(rows),
    scope,
    limit_mode,
    limit_value,
    site_max_power_kw: scope === 'site' ? significant(sum_kw) : null,
    hold_until_at: times.hold_until_at?.toISOString() ?? null,
    schedules: rows,
    warnings: made.warnings,
    skipped: made.skipped,
  }
}

export const releaseCurtailment = endpoint({
  ...writes,
  method: 'DELETE',
  path: '/curtailment/group/{group_id}',
  operation_id: 'curtailment_group_release',
  summary: 'Release a curtailment command before its end',
  description:
    'Returns the group once the edge has confirmed that every plant is restored, within the grid ' +
    'permit and other rows, or after 10 s. Rows that were never sent to an edge are cancelled at ' +
    'once. The status `releasing` means that the edge has not confirmed and that plants may still ' +
    'be limited; see `releasing_reason`. The edge keeps trying, and such a row never becomes ' +
    '`cancelled` by time alone. Poll /curtailment for the progress, or repeat the request with a ' +
    'new Idempotency-Key: the same key returns the recorded answer. Has no effect on a group that ' +
    'is over.',
  params: {
    group_id: field.Text('The group, as returned by the command.', {
      minLength: 1,
      maxLength: 100,
      examples: [groupExample.group_id],
    }),
  },
  returns: CurtailmentRelease,
  example: { answer: releaseExample },
  async handle({ site, params: { group_id }, caller, tx }, { clock }: Context) {
    const { site_id } = site
    const now = clock.now()
    const is_there = await releaseGroup(tx, { site_id, group_id, now, by: caller.key_name })
    if (!is_there) throw new ApiError('not_found', { group_id })
    const reader = readerOf({ site, caller })
    return releaseOf(group_id, await groupRows(tx, { ...reader, group_id }, now))
  },
  async settle({ site, caller, params: { group_id } }, context: Context) {
    const group = { ...readerOf({ site, caller }), group_id }
    await untilReleased(context, group, release_ms_max)
    return releaseOf(group_id, await groupRows(context.db, group, context.clock.now()))
  },
})

function releaseOf(group_id: string, rows: CurtailmentRow[]) {
  return {
    group_id,
    status: groupStatus(rows),
    schedules: rows,
    restored_count: rows.filter(({ restored_at }) => restored_at !== null).length,
    pending_restore_count: rows.filter(({ status }) => status === 'releasing').length,
  }
}

/** A group has the first of these statuses that one of its rows has. */
const precedence: readonly RowStatus[] = [
  'releasing',
  'active',
  'scheduled',
  'failed',
  'completed',
  'cancelled',
]

function groupStatus(rows: readonly CurtailmentRow[]): RowStatus {
  const found = precedence.find((status) => rows.some((row) => row.status === status))
  return found ?? 'cancelled'
}
