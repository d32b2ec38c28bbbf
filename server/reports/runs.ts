/** Report runs in the database: queued once, claimed by one server at a time, ended once. */

import { type Paged, pageOf } from '../http/cursor.ts'
import type { Scope } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { type Columns, changeRows, countRows, insertRow } from '../storage/rows.ts'
import type { ReportFormat } from './document.ts'
import { type FaultCode, faultMessage } from './faults.ts'
import { type Occurrence, periodOf } from './periods.ts'
import type { StoredRun } from './run.ts'
import type { StoredSubscription } from './subscription.ts'
import type { SubscriptionKey } from './subscriptions.ts'

export const queued_channel = 'report_queued'

/** Prefix of the deduplication key of the mails of a run. */
export const mail_key = 'report_run:'

export const attempts_max = 3
/** A run is taken over this long after it was claimed. Longer than a run may take. */
export const lease_ms = 180_000

/** Requested runs of a site. */
const queued_runs_max = 20

/** Class of the PostgreSQL advisory lock for the report limits of a client: `hgrs`. */
const advisory_class = 0x68677273

/** Serialises writes that count against a limit of the client. */
export async function lockClient(tx: Transaction, client_id: number): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock($1, $2)', [advisory_class, client_id])
}

/**
 * Requires `lockClient`.
 * @throws ApiError conflict_state
 */
export async function requireQueueSpace(tx: Transaction, site_id: string): Promise<void> {
  const requested = "report_runs where site_id = $1 and state = 'queued' and trigger = 'api'"
  if ((await countRows(tx, requested, [site_id])) < queued_runs_max) return
  const message = `${queued_runs_max} requested runs are queued already: try again later`
  throw new ApiError('conflict_state', { current_state: 'queue_full', message })
}

export interface RunKey {
  site_id: string
  run_id: string
}

interface RequestedRun {
  site_id: string
  subscription: Pick<StoredSubscription, 'sub_id' | 'period' | 'timezone'>
  /** The name of the key; null for a scheduled run. */
  requested_by: string | null
  /** null for a requested run. */
  due: Occurrence | null
  now: Date
}

/** Queues a run and returns its id; null for an occurrence that was queued before. */
export async function queueRun(db: Queries, run: RequestedRun): Promise<string | null> {
  const { site_id, subscription, requested_by, due, now } = run
  const { sub_id, period, timezone } = subscription
  const { start_at, end_at } = periodOf(period, due?.due_at ?? now, timezone)
  const [row] = await db.query<{ run_id: string }>(
    `insert into report_runs (site_id, sub_id, name, template_id, trigger, due_at, missed_count,
       period_start_at, period_end_at, timezone, format, language, recipients, parameters,
       logger_ids, key_id, requested_by, state, queued_at, not_before)
     select site_id, sub_id, name, template_id, $3, $4, $5, $6, $7, timezone, format, language,
       recipients, parameters, logger_ids, key_id, $8, 'queued', $9, $9
     from report_subscriptions where site_id = $1 and sub_id = $2
     on conflict (site_id, sub_id, due_at) do nothing returning run_id`,
    [
      site_id,
      sub_id,
      due ? 'schedule' : 'api',
      due?.due_at ?? null,
      due?.missed_count ?? 0,
      start_at,
      end_at,
      requested_by ?? 'system',
      now,
    ],
  )
  if (!row) return null
  await notifyQueued(db)
  return row.run_id
}

/** Stored for runs without a subscription; ids of subscriptions start at 1. */
const no_subscription = 0

interface OneOffRun
  extends Pick<
    ClaimedRun,
    'site_id' | 'name' | 'template_id' | 'format' | 'timezone' | 'parameters' | 'logger_ids'
  > {
  period: { start_at: Date; end_at: Date }
  key_id: string
  requested_by: string
  now: Date
}

/** Queues a run without a subscription and without mails; returns its id. */
export async function queueOneOff(db: Queries, run: OneOffRun): Promise<string> {
  const { period, now, ...ordered } = run
  const columns = {
    ...ordered,
    sub_id: no_subscription,
    trigger: 'api',
    period_start_at: period.start_at,
    period_end_at: period.end_at,
    language: 'en',
    recipients: [],
    state: 'queued',
    queued_at: now,
    not_before: now,
  }
  const row = await insertRow<{ run_id: string }>(db, 'report_runs', columns, 'returning run_id')
  await notifyQueued(db)
  return row!.run_id
}

/** The notification is sent at the commit. */
export async function notifyQueued(db: Queries): Promise<void> {
  await db.execute(`select pg_notify($1, '')`, [queued_channel])
}

/** A run that this server has claimed, with its order. */
export interface ClaimedRun extends RunKey {
  /** 0 for a run without a subscription. */
  sub_id: number
  name: string
  template_id: string
  missed_count: number
  period_start_at: Date
  period_end_at: Date
  timezone: string
  format: ReportFormat
  recipients: string[]
  parameters: Record<string, unknown>
  logger_ids: number[] | null
  /** Includes the present one. Only the latest attempt may store a result. */
  attempts: number
}

const claimed_columns = `site_id, run_id, sub_id, name, template_id, missed_count,
  period_start_at, period_end_at, timezone, format, recipients, parameters, logger_ids, attempts`

const is_free = `((state = 'queued' and not_before <= $1)
  or (state = 'running' and lease_until <= $1 and attempts < ${attempts_max}))`

/** Claims the oldest run that is due, or whose server was lost; null without any. */
export async function claimRun(db: Queries, now: Date): Promise<ClaimedRun | null> {
  for (;;) {
    const free = await db.queryOne<RunKey>(
      `select site_id, run_id from report_runs where ${is_free}
       order by not_before, site_id, run_id limit 1`,
      [now],
    )
    if (free === null) return null
    const claimed = await db.queryOne<ClaimedRun>(
      `update report_runs
       set state = 'running', attempts = attempts + 1, started_at = $1, lease_until = $2
       where site_id = $3 and run_id = $4 and ${is_free}
       returning ${claimed_columns}`,
      [now, new Date(now.getTime() + lease_ms), free.site_id, free.run_id],
    )
    // Otherwise another server has claimed it meanwhile.
    if (claimed) return claimed
  }
}

/** Ends the claim of a run; false if it was taken over. */
async function endClaim(
  db: Queries,
  { site_id, run_id, attempts }: ClaimedRun,
  columns: Columns,
): Promise<boolean> {
  const claimed = { site_id, run_id, attempts, state: 'running' }
  const ended = { lease_until: null, ...columns }
  return (await changeRows(db, 'report_runs', claimed, ended)) > 0
}

/** Returns a run to the queue without counting the attempt, when the server stops. */
export const releaseRun = (db: Queries, run: ClaimedRun) =>
  endClaim(db, run, { state: 'queued', attempts: run.attempts - 1, started_at: null })

export const postponeRun = (db: Queries, run: ClaimedRun, not_before: Date) =>
  endClaim(db, run, { state: 'queued', not_before })

/** false if the run was taken over. */
export const failRun = (db: Queries, run: ClaimedRun, code: FaultCode, now: Date) =>
  endClaim(db, run, {
    state: 'failed',
    finished_at: now,
    error_code: code,
    error_message: faultMessage(code),
  })

/** SQL: `$1` is now, `$2` the code and `$3` its message. */
const failed = `state = 'failed', finished_at = $1, error_code = $2, error_message = $3`

/** Fails runs whose server was lost in the last attempt. */
export const failLostRuns = (db: Queries, code: FaultCode, now: Date) =>
  db.query<ClaimedRun>(
    `update report_runs r set lease_until = null, ${failed}
     where state = 'running' and lease_until <= $1 and attempts >= ${attempts_max}
     returning ${claimed_columns}`,
    [now, code, faultMessage(code)],
  )

export async function failQueuedRuns(
  db: Queries,
  { site_id, sub_id }: SubscriptionKey,
  { code, now, triggers }: { code: FaultCode; now: Date; triggers: readonly string[] },
): Promise<void> {
  await db.execute(
    `update report_runs set ${failed}
     where site_id = $4 and sub_id = $5 and state = 'queued' and trigger = any($6)`,
    [now, code, faultMessage(code), site_id, sub_id, triggers],
  )
}

export interface FinishedFile {
  file_name: string
  content_type: string
  bytes: Buffer
  sha256: string
  expires_at: Date
  page_count: number | null
  data_completeness_pct: number | null
  required_scopes: Scope[]
  omitted_sections: string[]
}

/**
 * Stores the result with its file. False if another server has taken the run over: then the caller
 * must store nothing else.
 */
export async function succeedRun(
  tx: Queries,
  run: ClaimedRun,
  file: FinishedFile,
  now: Date,
): Promise<boolean> {
  const { content_type, bytes, expires_at, ...facts } = file
  const is_ours = await endClaim(tx, run, {
    ...facts,
    state: 'succeeded',
    finished_at: now,
    file_size_bytes: bytes.length,
    download_expires_at: expires_at,
  })
  if (!is_ours) return false
  const { site_id, run_id } = run
  const { file_name } = facts
  await insertRow(tx, 'report_files', {
    site_id,
    run_id,
    file_name,
    content_type,
    bytes,
    expires_at,
  })
  return true
}

/** null for an expired or missing file. */
export const readFile = (db: Queries, { site_id, run_id }: RunKey, now: Date) =>
  db.queryOne<Pick<FinishedFile, 'file_name' | 'content_type' | 'bytes'>>(
    `select file_name, content_type, bytes from report_files
     where site_id = $1 and run_id = $2 and expires_at > $3`,
    [site_id, run_id, now],
  )

/** Stores the number of mails sent with expired files, and deletes the files. */
export async function deleteExpiredFiles(db: Queries, now: Date): Promise<void> {
  const expired = await db.query<RunKey>(
    'select site_id, run_id from report_files where expires_at <= $1',
    [now],
  )
  for (const { site_id, run_id } of expired) {
    const sent = await mailsSent(db, site_id, [run_id])
    await db.execute(
      'update report_runs set recipients_sent = $3 where site_id = $1 and run_id = $2',
      [site_id, run_id, sent.get(run_id) ?? 0],
    )
    await db.execute('delete from report_files where site_id = $1 and run_id = $2', [
      site_id,
      run_id,
    ])
  }
}

/** Mails that were sent with the files of runs. No join: on a cluster they are on other nodes. */
async function mailsSent(
  db: Queries,
  site_id: string,
  run_ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (run_ids.length === 0) return new Map()
  const sent = await db.query<{ dedup_key: string; count: number }>(
    `select dedup_key, count(*) as count from mail_outbox
     where site_id = $1 and dedup_key = any ($2) and state = 'sent' group by dedup_key`,
    [site_id, run_ids.map((run_id) => `${mail_key}${run_id}`)],
  )
  return new Map(sent.map(({ dedup_key, count }) => [dedup_key.slice(mail_key.length), count]))
}

const run_columns = `r.run_id, nullif(r.sub_id, ${no_subscription}) as sub_id, r.template_id,
  case when r.sub_id = ${no_subscription} then 'manual' else r.trigger end as trigger,
  r.state, r.period_start_at,
  r.period_end_at, r.format, r.language, r.requested_by, r.queued_at, r.started_at, r.finished_at,
  r.file_name, r.file_size_bytes, r.sha256, r.download_expires_at, r.page_count,
  r.data_completeness_pct, r.required_scopes, r.omitted_sections, r.error_code, r.error_message,
  r.recipients_sent`

/** `recipients_sent` is null while the file exists: then the mails are counted. */
type RunRow = Omit<StoredRun, 'recipients_sent'> & { recipients_sent: number | null }

async function withMails(
  db: Queries,
  site_id: string,
  rows: readonly RunRow[],
): Promise<StoredRun[]> {
  const uncounted = rows.filter(({ recipients_sent }) => recipients_sent === null)
  const sent = await mailsSent(
    db,
    site_id,
    uncounted.map(({ run_id }) => run_id),
  )
  return rows.map(({ recipients_sent, ...run }) => ({
    ...run,
    recipients_sent: recipients_sent ?? sent.get(run.run_id) ?? 0,
  }))
}

interface RunPage {
  site_id: string
  /** The last run of the page before; null for the first page. */
  after: { queued_at: string; run_id: string } | null
  limit: number
}

/** A page of runs, newest first, and the counts of the site, in one snapshot. */
export function readRuns(db: Database, of: RunPage, now: Date) {
  const snapshot = { isolation: 'repeatable read', read_only: true } as const
  return db.transaction(async (tx) => {
    const counts = await countRuns(tx, of.site_id, now)
    return { counts, ...(await newestRuns(tx, of)) }
  }, snapshot)
}

export async function newestRuns(
  db: Queries,
  { site_id, after, limit }: RunPage,
): Promise<Paged<StoredRun>> {
  const rows = await db.query<RunRow>(
    `select ${run_columns} from report_runs r
     where r.site_id = $1 and ($3::timestamptz is null
       or r.queued_at <= $3 and (r.queued_at < $3 or r.run_id > $4))
     order by r.queued_at desc, r.run_id limit $2`,
    [site_id, limit + 1, after?.queued_at ?? null, after?.run_id ?? null],
  )
  const stored = await withMails(db, site_id, rows)
  return pageOf(stored, limit, ({ queued_at, run_id }) => ({ queued_at, run_id }))
}

/** null for an unknown id. */
export async function readRun(db: Queries, { site_id, run_id }: RunKey): Promise<StoredRun | null> {
  const rows = await db.query<RunRow>(
    `select ${run_columns} from report_runs r where r.site_id = $1 and r.run_id = $2`,
    [site_id, run_id],
  )
  const [stored] = await withMails(db, site_id, rows)
  return stored ?? null
}

interface RunCounts {
  count: number
  runs_last_30d: number
  runs_failed_last_30d: number
  last_run_at: Date | null
}

/** Runs that ended with their subscription do not count as failed. */
async function countRuns(db: Queries, site_id: string, now: Date): Promise<RunCounts> {
  const [row] = await db.query<RunCounts>(
    `select count(*) as count, max(queued_at) as last_run_at,
       count(*) filter (where queued_at > $2::timestamptz - interval '30 days') as runs_last_30d,
       count(*) filter (where queued_at > $2::timestamptz - interval '30 days'
         and state = 'failed'
        and error_code not in ('subscription_deleted', 'subscription_disabled')
      ) as runs_failed_last_30d
     from report_runs where site_id = $1`,
    [site_id, now],
  )
  return row!
}
