/** The job that makes queued reports: content, file, mails and notification, each once. */

import { createHash } from 'node:crypto'
import type { Clock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import type { Scope } from '../http/endpoint.ts'
import { queueMail } from '../mail/outbox.ts'
import { askRecipients, confirmedRecipients } from '../mail/recipients.ts'
import type { Database, Log, Queries } from '../storage/database.ts'
import { notify } from '../work/notifications.ts'
import type { Catalog, Parameters } from './catalog.ts'
import type { ReportDocument, WriteReport } from './document.ts'
import { failureOf, ReportFault } from './faults.ts'
import { file_bytes_max, fileName } from './files.ts'
import { readableScopes } from './reader.ts'
import { failedNotice, readyNotice, reportMails } from './report-mail.ts'
import { file_days_kept } from './run.ts'
import {
  attempts_max,
  type ClaimedRun,
  claimRun,
  type FinishedFile,
  failLostRuns,
  failRun,
  notifyQueued,
  postponeRun,
  releaseRun,
  succeedRun,
} from './runs.ts'
import {
  type ReportOrder,
  type ReportPart,
  type ReportSite,
  type ReportTemplate,
  scopesOfParts,
} from './template.ts'

/** Shorter than the lease, so that no active run is taken over. */
const run_ms_max = 150_000
/** Then the job yields to other jobs and requests to be continued. */
const job_ms_max = 30_000
/** Delay before the second attempt; doubled before the third. */
const retry_ms = 60_000

interface ReportWriter {
  write: WriteReport
  close(): Promise<void> | void
}

export interface MakingContext {
  db: Database
  clock: Clock
  log: Log
  signal: AbortSignal
  catalog: Catalog
  /** Called for the first file of a job; closed at its end. */
  openWriter(): ReportWriter
}

/**
 * Makes all queued reports in turn. A failed run is retried with a delay and given up after the
 * third attempt. A run of a lost server is taken over when its lease expires. All results of a run
 * are committed in one transaction, only by the server that holds the run.
 */
export async function makeReports(context: MakingContext): Promise<void> {
  const { db, clock, signal } = context
  const began_ms = clock.now().getTime()
  await failLost(context)
  const writer = createLazyWriter(context)
  try {
    while (clock.now().getTime() - began_ms < job_ms_max) {
      signal.throwIfAborted()
      const run = await claimRun(db, clock.now())
      if (run === null) return
      await makeOne(context, writer, run)
    }
    await notifyQueued(db)
  } finally {
    await writer.clear()
  }
}

/** Opens a writer for the first file. */
function createLazyWriter({ openWriter }: MakingContext) {
  let writer: ReportWriter | null = null
  return {
    write: ((document, format) => {
      writer ??= openWriter()
      return writer.write(document, format)
    }) satisfies WriteReport,
    async clear() {
      const open = writer
      writer = null
      await open?.close()
    },
  }
}

type LazyWriter = ReturnType<typeof createLazyWriter>

async function makeOne(context: MakingContext, writer: LazyWriter, run: ClaimedRun): Promise<void> {
  const { db, clock, log, signal } = context
  const { site_id, run_id, sub_id, attempts } = run
  try {
    const made = await inTime(make(context, writer, run), signal)
    const is_ours = await store(db, run, made, clock.now())
    if (!is_ours)
      log.warn({ site_id, run_id, attempts }, 'a report was taken over by another server')
  } catch (error) {
    if (signal.aborted) {
      await releaseRun(db, run)
      throw error
    }
    log.error({ err: error, site_id, sub_id, run_id, attempts }, 'a report failed')
    await failOrRetry(context, run, error)
    // The writer may still be busy with a file that took too long.
    await writer.clear()
  }
}

async function failOrRetry({ db, clock }: MakingContext, run: ClaimedRun, error: unknown) {
  const fault = error instanceof ReportFault ? error : new ReportFault('write_failed')
  const now = clock.now()
  if (!fault.is_final && run.attempts < attempts_max) {
    await postponeRun(db, run, new Date(now.getTime() + retry_ms * run.attempts))
    return
  }
  const failure = failureOf(fault.code)
  await db.transaction(async (tx) => {
    const is_ours = await failRun(tx, run, { failure, now })
    if (is_ours) await notify(tx, failedNotice(run, failure, now))
  })
}

async function failLost({ db, clock, log }: MakingContext): Promise<void> {
  const failure = failureOf('server_lost')
  const now = clock.now()
  await db.transaction(async (tx) => {
    for (const run of await failLostRuns(tx, { failure, now })) {
      log.error(
        { site_id: run.site_id, run_id: run.run_id },
        'a report failed: its server was lost',
      )
      await notify(tx, failedNotice(run, failure, now))
    }
  })
}

/** Rejects on timeout or abort; later results of the work are ignored. */
function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const late = AbortSignal.timeout(run_ms_max)
  return new Promise((resolve, reject) => {
    late.addEventListener('abort', () => reject(new ReportFault('timed_out')), { once: true })
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

interface FinishedReport {
  document: ReportDocument
  file: FinishedFile
}

async function make({ db, clock, catalog }: MakingContext, writer: LazyWriter, run: ClaimedRun) {
  const template = catalog.find(run.template_id)
  if (template === null) throw new ReportFault('template_gone')
  const now = clock.now()
  const may_read = await readableScopes(db, run, now)
  const [shown, omitted] = partsOf(template, may_read)
  const order: ReportOrder = {
    site: await readSite(db, run.site_id),
    period: { start_at: run.period_start_at, end_at: run.period_end_at },
    timezone: run.timezone,
    logger_ids: run.logger_ids,
    parameters: presentParameters(catalog, template, run.parameters),
    may_read,
    now,
  }
  // All queries of a report read one snapshot.
  const snapshot = { isolation: 'repeatable read', read_only: true } as const
  const built = await stage('build_failed', () =>
    shown.length === 0
      ? emptyDocument(template, order)
      : db.transaction((tx) => template.build(tx, order), snapshot),
  )
  const notes = [...omissionNotes(omitted, may_read), ...missedNotes(run), ...built.notes]
  const document = { ...built, notes }
  const written = await stage('write_failed', () => writer.write(document, run.format))
  const bytes = Buffer.from(written.bytes)
  if (bytes.length > file_bytes_max) throw new ReportFault('file_too_large')
  const file: FinishedFile = {
    file_name: fileName(run, written.file_extension),
    content_type: written.content_type,
    bytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    expires_at: new Date(now.getTime() + file_days_kept * day_ms),
    page_count: written.page_count,
    data_completeness_pct: document.data_completeness_pct,
    required_scopes: scopesOfParts(shown),
    omitted_sections: omitted.map(({ name }) => name),
  }
  return { document, file }
}

/** The parts that the reader may see, and the omitted ones. */
function partsOf({ parts }: ReportTemplate, may_read: ReadonlySet<Scope>) {
  const isShown = ({ scopes }: ReportPart) => scopes.every((scope) => may_read.has(scope))
  return [parts.filter(isShown), parts.filter((part) => !isShown(part))] as const
}

/** A report whose reader may see no part. */
async function emptyDocument(
  { template_id, name }: ReportTemplate,
  { site, period, timezone, now }: ReportOrder,
): Promise<ReportDocument> {
  return {
    template_id,
    title: name,
    site_name: site.name,
    timezone,
    period_start_at: period.start_at,
    period_end_at: period.end_at,
    generated_at: now,
    language: 'en',
    currency: null,
    data_completeness_pct: null,
    notes: [],
    sections: [],
  }
}

const omissionNotes = (omitted: readonly ReportPart[], may_read: ReadonlySet<Scope>): string[] =>
  omitted.map(({ name, scopes }) => {
    const lacking = scopes.filter((scope) => !may_read.has(scope)).join(', ')
    return `Omitted: ${name}. The key or account that ordered the report lacks ${lacking}.`
  })

async function stage<Result>(
  code: 'build_failed' | 'write_failed',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw new ReportFault(code, { cause: error })
  }
}

function missedNotes({ missed_count }: ClaimedRun): string[] {
  if (missed_count === 0) return []
  const were = missed_count === 1 ? 'One earlier report' : `${missed_count} earlier reports`
  return [
    `${were} of this subscription came due during an outage of the server and will not be made.`,
  ]
}

async function readSite(db: Queries, site_id: string): Promise<ReportSite> {
  const [site] = await db.query<ReportSite>(
    `select site_id, s.name, coalesce(inventory ->> 'timezone', 'UTC') as timezone,
       (inventory ->> 'latitude')::float8 as latitude,
       (inventory ->> 'longitude')::float8 as longitude
     from sites s where site_id = $1`,
    [site_id],
  )
  return site!
}

/** The template may have changed since the report was ordered. */
function presentParameters(catalog: Catalog, template: ReportTemplate, stored: Parameters) {
  const { parameters, violations } = catalog.checkParameters(template, stored)
  if (violations.length > 0) {
    throw new ReportFault('parameters_invalid', { cause: new Error(JSON.stringify(violations)) })
  }
  return parameters
}

/** Stores the file, the mails and the notification; false if the run was taken over. */
function store(db: Database, run: ClaimedRun, { document, file }: FinishedReport, now: Date) {
  return db.transaction(async (tx) => {
    if (!(await succeedRun(tx, run, { file, now }))) return false
    const recipients = await confirmedRecipients(tx, run)
    for (const mail of reportMails({ ...run, recipients }, document, file)) {
      await queueMail(tx, mail)
    }
    await askRecipients(tx, run, now)
    await notify(tx, readyNotice(run, file, now))
    return true
  })
}
