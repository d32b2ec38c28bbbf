/** The mail that a report goes out with, and the notification that it is there. */

import { type QueuedMail, singleLine } from '../mail/outbox.ts'
import type { NewNotification } from '../work/notifications.ts'
import type { ReportDocument } from './document.ts'
import { localDays } from './periods.ts'
import { filePath } from './run.ts'
import { type ClaimedRun, type FinishedFile, mail_key, type RunFailure } from './runs.ts'
import type { EndedReason, StoredSubscription } from './subscription.ts'

/** Longer ones are cut at their end when they are queued. */
const subject_characters_max = 200

function daysOf(run: ClaimedRun): string {
  const { first, last } = localDays(
    { start_at: run.period_start_at, end_at: run.period_end_at },
    run.timezone,
  )
  return first === last ? first : `${first} to ${last}`
}

/** One for each recipient, and of a run each gets one. */
export function reportMails(
  run: ClaimedRun,
  { title, site_name, notes }: ReportDocument,
  file: FinishedFile,
): QueuedMail[] {
  const { data_completeness_pct: completeness, page_count } = file
  const text = [
    `${title}: ${site_name}`,
    '',
    `Period: ${daysOf(run)} (days of ${run.timezone})`,
    `Data: ${completeness === null ? 'completeness not known' : `${completeness.toFixed(1)} % complete`}`,
    `File: ${file.file_name}${page_count === null ? '' : `, pages: ${page_count}`}`,
    ...notes.map((note) => `Note: ${note}`),
    '',
    `Until ${file.expires_at.toISOString().slice(0, 10)} the file can be downloaded, with an API key:`,
    filePath(run.site_id, run.run_id),
    '',
  ].join('\n')
  return run.recipients.map((recipient) => ({
    site_id: run.site_id,
    dedup_key: `${mail_key}${run.run_id}`,
    recipient,
    subject: subjectOf(run, site_name),
    text,
    attach_run_id: run.run_id,
    link_path: `/sites/${run.site_id}/reports`,
  }))
}

/** Of the longest name and site something is to be seen. */
const characters_least = 40

/** Where it is too long the name is cut first, and then the site: the period is always told. */
function subjectOf(run: ClaimedRun, site_name: string): string {
  const days = daysOf(run)
  const room = subject_characters_max - days.length - ': , '.length
  const site = singleLine(site_name, room - characters_least)
  const name = singleLine(run.name, room - [...site].length)
  return `${name}: ${site}, ${days}`
}

const about = ({ site_id, run_id }: ClaimedRun, at: Date) => ({
  site_id,
  at,
  recipient: null,
  resource_type: 'report_run' as const,
  resource_id: run_id,
})

export const readyNotice = (run: ClaimedRun, file: FinishedFile, at: Date): NewNotification => ({
  ...about(run, at),
  type: 'report_ready',
  severity: 'info',
  title: `Report ready: ${run.name}`,
  body: `${file.file_name}, about ${daysOf(run)}.`,
})

export const failedNotice = (run: ClaimedRun, failure: RunFailure, at: Date): NewNotification => ({
  ...about(run, at),
  type: 'system',
  severity: 'warning',
  title: `Report failed: ${run.name}`,
  body: `The report about ${daysOf(run)} was given up. ${failure.message}`,
})

const endings = {
  key_revoked: 'the key that ordered it was revoked',
  key_expired: 'the key that ordered it has expired',
  person_disabled: 'the account that ordered it is disabled',
  person_removed: 'the account that ordered it was removed',
  no_access: 'the key or account that ordered it has no access to this site',
} as const satisfies Record<EndedReason, string>

export const endedNotice = (
  site_id: string,
  { name, ended_reason }: Pick<StoredSubscription, 'name' | 'ended_reason'>,
  at: Date,
): NewNotification => ({
  site_id,
  at,
  recipient: null,
  type: 'system',
  severity: 'warning',
  title: `Report ended: ${name}`,
  body: `It is not run any more: ${endings[ended_reason!]}. Whoever enables it takes it over.`,
})
