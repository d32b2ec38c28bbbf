/** The job that makes queued reports: content, file, mails and notification, each once. */

import { createHash } from 'node:crypto'
import { day_ms } from '@heliograph/domain/durations'
import type { Scope } from '../http/endpoint.ts'
import type { JobContext } from '../jobs/job.ts'
import { queueMail } from '../mail/outbox.ts'
import { askRecipients, confirmedRecipients } from '../mail/recipients.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { Database } from '../storage/database.ts'
import { notify } from '../work/notifications.ts'
import { type Catalog, checkParameters, findTemplate, type Parameters } from './catalog.ts'
import type { ReportDocument } from './document.ts'
import { ReportFault } from './faults.ts'
import { localDays } from './periods.ts'
import { publishReady } from './published.ts'
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
  type ReportTemplate,
  scopesOfParts,
} from './template.ts'
import { documentOf } from './templates/frame.ts'
import type { ReportWriter } from './writers/write.ts'

/** Shorter than the lease, so that no active run is taken over. */
const run_ms_max = 150_000
/** Then the job yields to other jobs and requests to be continued. */
const job_ms_max = 30_000
/** Delay before the second attempt; doubled before the third. */
const retry_ms = 60_000
/** Mail servers accept less; ordinary reports are far smaller. */
const file_bytes_max = 32 * 1024 * 1024

export interface MakingContext extends JobContext {
  catalog: Catalog
  /** Closed after a failed run and at the end; the next report starts it again. */
  writer: ReportWriter
}

/**
 * Makes all queued reports in turn. A failed run is retried with a delay and given up after the
 * third attempt. A run of a lost server is taken over when its lease expires. All results of a run
 * are committed in one transaction, only by the server that holds the run.
 */
export async function makeReports(context: MakingContext): Promise<void> {
  const { db, clock, signal, writer } = context
  const began_ms = clock.now().getTime()
  await failLost(context)
  try {
    while (clock.now().getTime() - began_ms < job_ms_max) {
      signal.throwIfAborted()
      const run = await claimRun(db, clock.now())
      if (run === null) return
      await makeOne(context, run)
    }
    await notifyQueued(db)
  } finally {
    await writer.close()
  }
}

async function makeOne(context: MakingContext, run: ClaimedRun): Promise<void> {
  const { db, clock, log, signal, writer } = context
  const { site_id, run_id, sub_id, attempts } = run
  try {
    const made = await inTime(make(context, run), signal)
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
    await writer.close()
  }
}

async function failOrRetry({ db, clock }: MakingContext, run: ClaimedRun, error: unknown) {
  const { code, is_final } = error instanceof ReportFault ? error : new ReportFault('write_failed')
  const now = clock.now()
  if (!is_final && run.attempts < attempts_max) {
    await postponeRun(db, run, new Date(now.getTime() + retry_ms * run.attempts))
    return
  }
  await db.transaction(async (tx) => {
    const is_ours = await failRun(tx, run, code, now)
    if (is_ours) await notify(tx, failedNotice(run, code, now))
  })
}

async function failLost({ db, clock, log }: MakingContext): Promise<void> {
  const now = clock.now()
  await db.transaction(async (tx) => {
    for (const run of await failLostRuns(tx, 'server_lost', now)) {
      const { site_id, run_id } = run
      log.error({ site_id, run_id }, 'a report failed: its server was lost')
      await notify(tx, failedNotice(run, 'server_lost', now))
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

async function make(
  { db, clock, catalog, writer }: MakingContext,
  run: ClaimedRun,
): Promise<FinishedReport> {
  const template = findTemplate(catalog, run.template_id)
  if (template === null) throw new ReportFault('template_gone')
  const now = clock.now()
  const may_read = await readableScopes(db, run, now)
  const isShown = ({ scopes }: ReportPart) => scopes.every((scope) => may_read.has(scope))
  const shown = template.parts.filter(isShown)
  const omitted = template.parts.filter((part) => !isShown(part))
  const order: ReportOrder = {
    site: { site_id: run.site_id, ...(await siteFacts(db, run.site_id)) },
    period: { start_at: run.period_start_at, end_at: run.period_end_at },
    timezone: run.timezone,
    logger_ids: run.logger_ids,
    parameters: presentParameters(template, run.parameters),
    may_read,
    now,
  }
  // All queries of a report read one snapshot.
  const snapshot = { isolation: 'repeatable read', read_only: true } as const
  const built = await stage('build_failed', async () =>
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

/** `demo_performance_monthly_2026-05-01_2026-05-31.pdf`: safe in headers and file systems. */
const fileName = (run: ClaimedRun, extension: string) =>
  `${run.site_id}_${run.template_id}_${localDays(run, '_')}.${extension}`

/** A report without any part that the reader may read. */
const emptyDocument = (template: ReportTemplate, order: ReportOrder): ReportDocument =>
  documentOf(
    template,
    { order, notes: [], measured: { known: 0, all: 0, unit: 'days' } },
    { title: template.name, data_completeness_pct: null, notes: [], sections: [] },
  )

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

/** The template may have changed since the report was ordered. */
function presentParameters(template: ReportTemplate, stored: Parameters) {
  const { parameters, violations } = checkParameters(template, stored)
  if (violations.length > 0) {
    throw new ReportFault('parameters_invalid', { cause: new Error(JSON.stringify(violations)) })
  }
  return parameters
}

/** Stores the file, the mails and the notification; false if the run was taken over. */
function store(db: Database, run: ClaimedRun, { document, file }: FinishedReport, now: Date) {
  return db.transaction(async (tx) => {
    if (!(await succeedRun(tx, run, file, now))) return false
    const recipients = await confirmedRecipients(tx, run)
    for (const mail of reportMails({ ...run, recipients }, document, file)) {
      await queueMail(tx, mail)
    }
    await askRecipients(tx, run, now)
    await notify(tx, readyNotice(run, file, now))
    await publishReady(tx, run, now)
    return true
  })
}
