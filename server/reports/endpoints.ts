import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { requireModule, requireScope } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList, List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { FileAnswer, FileBytes } from '../http/file-answer.ts'
import { limit, Timestamp } from '../http/params.ts'
import { scopeModules } from '../http/scope-modules.ts'
import type { Catalog } from './catalog.ts'
import { actorOf, change, create, remove, runNow } from './commands.ts'
import {
  fileExample,
  newSubscriptionExample,
  overviewExample,
  runExample,
  subscriptionExample,
  templateExample,
} from './examples.ts'
import { file_days_kept, ReportRun, RunId, runRecord, runStatus } from './run.ts'
import {
  CatalogTemplate,
  catalogTemplate,
  NewSubscription,
  QueuedRun,
  ReportsOverview,
  SubId,
  SubscriptionChange,
} from './schemas.ts'
import type { ReportStore } from './store.ts'
import { ReportSubscription, subscriptionRecord } from './subscription.ts'

export interface Needs {
  clock: Clock
  reports: ReportStore
  reportCatalog: Catalog
}

const chapter = { tag: 'Reports', module: 'basic_scada' } as const
const reads = { ...chapter, method: 'GET', scope: 'reports:read' } as const
const writes = { ...chapter, scope: 'reports:write' } as const

const recent_runs_max = 5

export const reportsOverview = endpoint({
  ...reads,
  path: '/reports/overview',
  operation_id: 'reports_overview',
  summary: 'How many reports there are, and the newest of them',
  returns: ReportsOverview,
  example: { answer: overviewExample },
  async handle({ site: { site_id } }, { clock, reports, reportCatalog }: Needs) {
    const now = clock.now()
    const page = { site_id, after: null, limit: recent_runs_max }
    const { counts, rows: runs } = await reports.runs(page, now)
    const { active, next_run_at } = await reports.schedules(site_id)
    return {
      templates_total: reportCatalog.templates.length,
      subscriptions_active: active,
      runs_last_30d: counts.last_30d,
      runs_failed_last_30d: counts.failed_last_30d,
      last_run_at: counts.last_run_at?.toISOString() ?? null,
      next_run_at: next_run_at?.toISOString() ?? null,
      recent_runs: runs.map((run) => runRecord(site_id, run, now)),
    }
  },
})

export const reportsCatalog = endpoint({
  ...reads,
  path: '/reports/catalog',
  operation_id: 'reports_catalog',
  summary: 'The templates that reports can be ordered by',
  cache: 'static',
  returns: List(CatalogTemplate),
  example: { answer: list([templateExample]) },
  async handle(_, { reportCatalog }: Needs) {
    return list(reportCatalog.templates.map(catalogTemplate))
  },
})

export const listReportRuns = endpoint({
  ...reads,
  path: '/reports/runs',
  operation_id: 'report_runs_list',
  summary: 'The runs of reports',
  description: 'The newest first, those of deleted subscriptions among them.',
  query: { limit: limit(100, 20) },
  cursor: { queued_at: Timestamp, run_id: RunId },
  returns: CursorList(ReportRun),
  example: { answer: cursorList({ rows: [runExample], next_cursor: null }) },
  async handle({ site: { site_id }, query, after }, { clock, reports }: Needs) {
    const now = clock.now()
    const page = { site_id, after, limit: query.limit! }
    const { counts, rows, next_cursor } = await reports.runs(page, now)
    const records = rows.map((run) => runRecord(site_id, run, now))
    return cursorList({ rows: records, next_cursor }, counts.count)
  },
})

export const getReportFile = endpoint({
  ...reads,
  path: '/reports/runs/{run_id}/file',
  operation_id: 'report_run_file',
  summary: 'Download the file of a run',
  description:
    'An extension. Rejected with 403 `forbidden_scope` when the key lacks one of the ' +
    '`required_scopes` of the run, and with 403 `forbidden_module` when the plan lacks its module. ' +
    'Rejected with 409 while there is no file, with the status of the run as ' +
    '`details.current_state`: `queued` and `running` files are yet to be made, `failed` and ' +
    `\`expired\` ones are gone. A file is kept for ${file_days_kept} days. The ETag is the ` +
    '`sha256` of the run.',
  params: { run_id: RunId },
  cache: 'resource',
  file_types: [
    'application/pdf',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'text/csv',
  ],
  returns: FileBytes,
  example: { answer: fileExample },
  async handle({ site: { site_id }, caller, params }, { clock, reports }: Needs) {
    const now = clock.now()
    const run = await reports.run({ ...params, site_id })
    // The scopes of a file are unknown where a server of an earlier version made it.
    const is_unknown = run?.state === 'succeeded' && run.required_scopes === null
    if (run === null || is_unknown) throw new ApiError('not_found', params)
    for (const scope of run.required_scopes ?? []) {
      requireScope(caller, scope)
      requireModule(caller, scopeModules[scope])
    }
    const status = runStatus(run, now)
    const file = status === 'succeeded' ? await reports.file({ ...params, site_id }, now) : null
    if (file === null) {
      throw new ApiError('conflict_state', { current_state: status, allowed_from: ['succeeded'] })
    }
    return new FileAnswer({ ...file, sha256: run.sha256! })
  },
})

export const listReportSubscriptions = endpoint({
  ...reads,
  path: '/reports/subscriptions',
  operation_id: 'report_subscriptions_list',
  summary: 'The reports that are made again and again',
  description: 'By id.',
  returns: List(ReportSubscription),
  example: { answer: list([subscriptionExample]) },
  async handle({ site: { site_id } }, { clock, reports }: Needs) {
    const found = await reports.subscriptions(site_id, clock.now())
    return list(found.map(subscriptionRecord))
  },
})

const sections_rule =
  'A run has the sections that the key or person which ordered or changed the subscription last ' +
  'may read when it is made; see `omitted_sections` of the run.'

export const createReportSubscription = endpoint({
  ...writes,
  method: 'POST',
  path: '/reports/subscriptions',
  operation_id: 'report_subscription_create',
  summary: 'Have a report made and sent again and again',
  description:
    `${sections_rule} Each run is one file, mailed to every recipient that has confirmed its ` +
    'address (see `pending_recipients`) where the server can send mail, and kept for download. Of several runs that came due while no server ran, only the ' +
    'newest is made, and says so. It ends with the key: see `ended_reason`. 409 with ' +
    '`too_many_recipients` as `details.current_state` where the subscriptions of the client would ' +
    'have more than 100 addresses together.',
  body: NewSubscription,
  status: 201,
  cache: 'resource',
  returns: ReportSubscription,
  example: { body: newSubscriptionExample, answer: subscriptionExample },
  async handle(request, { clock, reportCatalog }: Needs) {
    const { body, site } = request
    const actor = actorOf(request, reportCatalog, clock.now())
    return create(actor, { timezone: site.timezone, ...body })
  },
})

export const changeReportSubscription = endpoint({
  ...writes,
  method: 'PATCH',
  path: '/reports/subscriptions/{sub_id}',
  operation_id: 'report_subscription_change',
  summary: 'Change a report subscription',
  description:
    `${sections_rule} What is left out stays, but for days that do not go with another frequency ` +
    'and parameters of another template. Runs that are queued stay as they were ordered; with ' +
    '`enabled` false those of the schedule that have not begun fail. Its runs change the record, ' +
    'and with it the ETag: `{}` answers with it as it is.',
  params: { sub_id: SubId },
  body: SubscriptionChange,
  cache: 'resource',
  if_match: true,
  returns: ReportSubscription,
  example: { body: { time_of_day: '06:00' }, answer: subscriptionExample },
  async handle(request, { clock, reportCatalog }: Needs) {
    const { params, body } = request
    return change(actorOf(request, reportCatalog, clock.now()), params.sub_id, body)
  },
})

export const deleteReportSubscription = endpoint({
  ...writes,
  method: 'DELETE',
  path: '/reports/subscriptions/{sub_id}',
  operation_id: 'report_subscription_delete',
  summary: 'Delete a report subscription',
  description: 'Its runs stay; those that have not begun fail.',
  params: { sub_id: SubId },
  status: 204,
  if_match: true,
  returns: Type.Null(),
  example: { answer: null },
  async handle(request, { clock, reportCatalog }: Needs) {
    await remove(actorOf(request, reportCatalog, clock.now()), request.params.sub_id)
    return null
  },
})

export const runReportSubscription = endpoint({
  ...writes,
  method: 'POST',
  path: '/reports/subscriptions/{sub_id}/run',
  operation_id: 'report_subscription_run',
  summary: 'Make the report of a subscription now',
  description:
    `${sections_rule} It is about the period before now, and is mailed like the others; the ` +
    'schedule stays as it is. Begins within seconds: `Location` is where its file will be. 409 ' +
    '(`queue_full`) when too many that were asked for wait already.',
  params: { sub_id: SubId },
  status: 202,
  location: ({ run_id }) => `/reports/runs/${run_id}/file`,
  returns: QueuedRun,
  example: { answer: { run_id: runExample.run_id, status: 'queued' } },
  async handle(request, { clock, reportCatalog }: Needs) {
    const actor = actorOf(request, reportCatalog, clock.now())
    return { run_id: await runNow(actor, request.params.sub_id), status: 'queued' as const }
  },
})
