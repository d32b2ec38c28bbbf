import { type QueuedMail, singleLine } from '../mail/outbox.ts'
import type { NewNotification } from '../work/notifications.ts'
import type { ReportDocument } from './document.ts'
import { type FaultCode, faultMessage } from './faults.ts'
import { localDays } from './periods.ts'
import { filePath } from './run.ts'
import { type ClaimedRun, type FinishedFile, mail_key } from './runs.ts'
import type { EndedReason, StoredSubscription } from './subscription.ts'

/** The outbox truncates longer subjects. */
const subject_characters_max = 200

const daysOf = (run: ClaimedRun) => localDays(run, ' to ')

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
    `Data: ${completeness === null ? 'completeness unknown' : `${completeness.toFixed(1)} % complete`}`,
    `File: ${file.file_name}${page_count === null ? '' : `, pages: ${page_count}`}`,
    ...notes.map((note) => `Note: ${note}`),
    '',
    `The file can be downloaded with an API key until ${file.expires_at.toISOString().slice(0, 10)}:`,
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

/** The least length of name and site in a subject. */
const characters_least = 40

/** A long subject truncates the name first, then the site; the period always stays. */
function subjectOf(run: ClaimedRun, site_name: string): string {
  const days = daysOf(run)
  const available = subject_characters_max - days.length - ': , '.length
  const site = singleLine(site_name, available - characters_least)
  const name = singleLine(run.name, available - [...site].length)
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
  body: `${file.file_name}, period ${daysOf(run)}.`,
})

export const failedNotice = (run: ClaimedRun, code: FaultCode, at: Date): NewNotification => ({
  ...about(run, at),
  type: 'system',
  severity: 'warning',
  title: `Report failed: ${run.name}`,
  body: `The report for ${daysOf(run)} failed. ${faultMessage(code)}`,
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
  body: `The subscription has ended: ${endings[ended_reason!]}. Enable it again to take it over.`,
})
