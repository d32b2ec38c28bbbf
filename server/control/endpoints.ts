import type { Clock } from '@heliograph/domain/clock'
import { significant } from '@heliograph/domain/significant'
import { day_ms } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import { mayRead } from '../http/authorize.ts'
import { endpoint, type Request, type WriteParts } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
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
import { type CurtailmentStore, groupRecords } from './store.ts'

export interface Needs {
  clock: Clock
  curtailment: CurtailmentStore
}

const tag = { tag: 'Curtailment', module: 'basic_scada' } as const
const reads = { ...tag, method: 'GET', scope: 'curtailment:read' } as const
const writes = { ...tag, scope: 'curtailment:write' } as const

const minute_ms = 60_000
const history_days = 90
const sinceDays = (days: number | undefined, now: Date) =>
  new Date(now.getTime() - (days ?? history_days) * day_ms)

/** How long a release waits for the edge to confirm it. */
const release_ms_max = 10_000

export const listCurtailment = endpoint({
  ...reads,
  path: '/curtailment',
  operation_id: 'curtailment_list',
  summary: 'What limits the plants now or will, row by row',
  description:
    'Active and scheduled rows, and those whose end or release the edge has yet to confirm ' +
    '(`releasing`); by their start. Where several rows limit a plant the lowest holds. None lifts it: the edge holds the ' +
    'grid permit in any case, and does not tell it.',
  returns: List(CurtailmentRow),
  example: { answer: { data: [rowExample], meta: { count: 1 } } },
  async handle(request, { clock, curtailment }: Needs) {
    return list(await curtailment.open(readerOf(request), clock.now()))
  },
})

export const curtailmentHistory = endpoint({
  ...reads,
  path: '/curtailment/history',
  operation_id: 'curtailment_history_list',
  summary: 'What limited the plants in the past, row by row',
  description: 'Completed, cancelled and failed rows, the newest first.',
  query: {
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        default: history_days,
        description: 'Rows that were completed, cancelled or failed within so many days.',
      }),
    ),
  },
  heavy: true,
  returns: List(CurtailmentRow),
  example: { answer: { data: [pastRowExample], meta: { count: 1 } } },
  async handle(request, { clock, curtailment }: Needs) {
    const now = clock.now()
    const since = sinceDays(request.query.days, now)
    return list(await curtailment.past(readerOf(request), since, now))
  },
  async exports(request, { clock, curtailment }: Needs) {
    const now = clock.now()
    return curtailment.pastItems(readerOf(request), sinceDays(request.query.days, now), now)
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
  'Answers once it is recorded: `acknowledged_at`, `applied_at` and `verified_at` of the rows, in ' +
  '/curtailment, tell how far the edge has come. With scope `site` each plant in service gets a ' +
  'row. Output is only ever reduced.'

export const curtailWindow = endpoint({
  ...writes,
  method: 'POST',
  path: '/curtailment/window',
  operation_id: 'curtailment_window_create',
  summary: 'Limit plants from one time to another',
  description: rules,
  body: WindowBody,
  status: 201,
  returns: CurtailmentGroup,
  example: {
    body: {
      scope: 'site',
      limit_mode: 'percent',
      limit_value: 60,
      start_at: '2036-06-21T11:00:00Z',
      end_at: '2036-06-21T13:30:00Z',
    },
    answer: groupExample,
  },
  handle: (request, { clock }: Needs) => {
    const [start_at, end_at] = [new Date(request.body.start_at), new Date(request.body.end_at)]
    return create(request, { start_at, end_at, hold_until_at: null, now: clock.now() })
  },
})

export const curtailNow = endpoint({
  ...writes,
  method: 'POST',
  path: '/curtailment/immediate',
  operation_id: 'curtailment_immediate_create',
  summary: 'Limit plants at once',
  description: `${rules} Where the edge is connected, within seconds.`,
  body: ImmediateBody,
  status: 201,
  returns: CurtailmentGroup,
  example: {
    body: { scope: 'logger', logger_id: 2, limit_mode: 'kw', limit_value: 240 },
    answer: groupExample,
  },
  handle: (request, { clock }: Needs) => {
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
  const rows = await groupRecords(tx, { ...reader, group_id: made.group_id }, times.now)
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
  summary: 'Release what a command limits, before its end',
  description:
    'Waits up to 10 s until the edge has proved that every plant is restored, to the grid permit ' +
    'and the other rows at most. Rows that no edge was told of are cancelled at once. `releasing` ' +
    'in the answer: the edge has not confirmed, and the plants may still be limited; ' +
    '`releasing_reason` says why. The edge goes on by itself, and no time makes such a row ' +
    '`cancelled`. /curtailment tells how it goes on, and the request may be repeated, with another ' +
    'Idempotency-Key: the same one gets the recorded answer. A group that is over stays as it is.',
  params: {
    group_id: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'As the command answered it.',
      examples: [groupExample.group_id],
    }),
  },
  returns: CurtailmentRelease,
  example: { answer: releaseExample },
  async handle({ site, params: { group_id }, caller, tx }, { clock }: Needs) {
    const { site_id } = site
    const now = clock.now()
    const is_there = await releaseGroup(tx, { site_id, group_id, now, by: caller.key_name })
    if (!is_there) throw new ApiError('not_found', { group_id })
    const reader = readerOf({ site, caller })
    return releaseOf(group_id, await groupRecords(tx, { ...reader, group_id }, now))
  },
  async settle({ site, caller, params: { group_id } }, { clock, curtailment }: Needs) {
    const reader = readerOf({ site, caller })
    await curtailment.untilReleased({ site_id: site.site_id, group_id }, release_ms_max)
    return releaseOf(group_id, await curtailment.ofGroup(reader, group_id, clock.now()))
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

/** What a group is called after, of all that its rows are. */
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
