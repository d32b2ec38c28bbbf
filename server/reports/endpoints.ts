import { Type } from 'typebox'
import { requireModule, requireScope } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList, List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { FileAnswer, FileBytes } from '../http/file-answer.ts'
import { limit, Timestamp } from '../http/params.ts'
import { scopeModules } from '../http/scope-modules.ts'
import { served } from '../storage/records.ts'
import type { Catalog } from './catalog.ts'
import { actorOf, change, create, remove, runNow } from './commands.ts'
import { file_days_kept, ReportRun, RunId, runRecord, runStatus } from './run.ts'
import { readFile, readRun, readRuns } from './runs.ts'
import {
  CatalogTemplate,
  catalogTemplate,
  NewSubscription,
  QueuedRun,
  ReportsOverview,
  SubId,
  SubscriptionChange,
} from './schemas.ts'
import { ReportSubscription, subscriptionRecord } from './subscription.ts'
import { readSchedules, readSubscriptions } from './subscriptions.ts'
import { performanceMonthly } from './templates/performance-monthly.ts'

export interface Needs extends Context {
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
  summary: 'Count reports and list the newest runs',
  returns: ReportsOverview,
  async handle({ site: { site_id } }, { db, clock, reportCatalog }: Needs) {
    const now = clock.now()
    const page = { site_id, after: null, limit: recent_runs_max }
    const { counts, rows: runs } = await readRuns(db, page, now)
    return served(ReportsOverview, {
      ...counts,
      ...(await readSchedules(db, site_id)),
      templates_total: reportCatalog.length,
      recent_runs: runs.map((run) => runRecord(site_id, run, now)),
    })
  },
})

export const reportsCatalog = endpoint({
  ...reads,
  path: '/reports/catalog',
  operation_id: 'reports_catalog',
  summary: 'List report templates',
  cache: 'static',
  returns: List(CatalogTemplate),
  example: { answer: list([catalogTemplate(performanceMonthly)]) },
  async handle(_, { reportCatalog }: Needs) {
    return list(reportCatalog.map(catalogTemplate))
  },
})

export const listReportRuns = endpoint({
  ...reads,
  path: '/reports/runs',
  operation_id: 'report_runs_list',
  summary: 'List report runs',
  description: 'Returns runs newest first, including those of deleted subscriptions.',
  query: { limit: limit(100, 20) },
  cursor: { queued_at: Timestamp, run_id: RunId },
  returns: CursorList(ReportRun),
  async handle({ site: { site_id }, query, after }, { db, clock }: Context) {
    const now = clock.now()
    const page = { site_id, after, limit: query.limit! }
    const { counts, rows, next_cursor } = await readRuns(db, page, now)
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
    'Returns the file. An extension. Rejected with 403 `forbidden_scope` when the key lacks one of the ' +
    '`required_scopes` of the run, and with 403 `forbidden_module` when the plan lacks its module. ' +
    'Rejected with 409 while there is no file, with the status of the run as ' +
    '`details.current_state`: the file of a `queued` or `running` run is not ready, a `failed` or ' +
    `\`expired\` run has none. Files are stored for ${file_days_kept} days. The ETag is the ` +
    '`sha256` of the run.',
  params: { run_id: RunId },
  cache: 'resource',
  file_types: [
    'application/pdf',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'text/csv',
  ],
  returns: FileBytes,
  example: {
    answer: new FileAnswer({
      bytes: Buffer.from('%PDF-1.7'),
      content_type: 'application/pdf',
      stored: {
        file_name: 'demo_performance_monthly_2026-05-01_2026-05-31.pdf',
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      },
    }),
  },
  async handle({ site: { site_id }, caller, params }, { db, clock }: Context) {
    const now = clock.now()
    const run = await readRun(db, { ...params, site_id })
    // The scopes of a file are unknown where a server of an earlier version made it.
    const is_unknown = run?.state === 'succeeded' && run.required_scopes === null
    if (run === null || is_unknown) throw new ApiError('not_found', params)
    for (const scope of run.required_scopes ?? []) {
      requireScope(caller, scope)
      requireModule(caller, scopeModules[scope])
    }
    const status = runStatus(run, now)
    const file = status === 'succeeded' ? await readFile(db, { ...params, site_id }, now) : null
    if (file === null) {
      throw new ApiError('conflict_state', { current_state: status, allowed_from: ['succeeded'] })
    }
    const { bytes, content_type, file_name } = file
    return new FileAnswer({ bytes, content_type, stored: { file_name, sha256: run.sha256! } })
  },
})

export const listReportSubscriptions = endpoint({
  ...reads,
  path: '/reports/subscriptions',
  operation_id: 'report_subscriptions_list',
  summary: 'List report subscriptions',
  description: 'Returns subscriptions by id.',
  returns: List(ReportSubscription),
  async handle({ site: { site_id } }, { db, clock }: Context) {
    const found = await readSubscriptions(db, site_id, clock.now())
    return list(found.map(subscriptionRecord))
  },
})

const sections_rule =
  'A run contains the sections that the key or person who last ordered or changed the subscription ' +
  'may read at that time; see `omitted_sections` of the run.'

export const createReportSubscription = endpoint({
  ...writes,
  method: 'POST',
  path: '/reports/subscriptions',
  operation_id: 'report_subscription_create',
  summary: 'Create a report subscription',
  description:
    `Returns the subscription. ${sections_rule} Each run makes one file, which can be downloaded ` +
    'and is mailed to every recipient that has confirmed its address (see `pending_recipients`), ' +
    'if the server can send mail. When several runs were missed during an outage of the server, ' +
    'only the newest is made, with a note. The subscription ends with the key: see ' +
    '`ended_reason`. Rejected with 409 and `too_many_recipients` as `details.current_state` when ' +
    'the subscriptions of the client would have more than 100 addresses in total.',
  body: NewSubscription,
  status: 201,
  cache: 'resource',
  returns: ReportSubscription,
  example: {
    body: {
      name: 'Monthly performance for the owner',
      template_id: 'performance_monthly',
      frequency: 'monthly',
      day_of_month: 1,
      time_of_day: '06:00',
      timezone: 'Europe/Berlin',
      period: 'previous_month',
      format: 'pdf',
      recipients: ['owner@example.com'],
    },
  },
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
    `Returns the changed subscription. ${sections_rule} Omitted fields stay, except days that do not ` +
    'fit a new frequency and parameters of another template. Queued runs keep their settings; with ' +
    '`enabled` false, queued runs of the schedule fail. Runs also change the subscription and its ' +
    'ETag: send `{}` to read the present one.',
  params: { sub_id: SubId },
  body: SubscriptionChange,
  cache: 'resource',
  if_match: true,
  returns: ReportSubscription,
  example: { body: { time_of_day: '06:00' } },
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
  description: 'Runs of the subscription stay; queued ones fail.',
  params: { sub_id: SubId },
  status: 204,
  if_match: true,
  returns: Type.Null(),
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
  summary: 'Run a report subscription now',
  description:
    `Returns the queued run. ${sections_rule} The report covers the last period and is mailed like ` +
    'scheduled ones; the schedule is unaffected. The run starts within seconds. `Location` is the ' +
    'address of the file. Rejected with 409 (`queue_full`) when too many requested runs are queued.',
  params: { sub_id: SubId },
  status: 202,
  location: ({ run_id }) => `/reports/runs/${run_id}/file`,
  returns: QueuedRun,
  async handle(request, { clock, reportCatalog }: Needs) {
    const actor = actorOf(request, reportCatalog, clock.now())
    return { run_id: await runNow(actor, request.params.sub_id), status: 'queued' as const }
  },
})
