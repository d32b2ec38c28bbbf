import { type Static, Type } from 'typebox'
import { scopes } from '../http/endpoint.ts'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { type Stored, served } from '../storage/records.ts'
import type { ReportFormat } from './document.ts'

export const runStatuses = ['queued', 'running', 'succeeded', 'failed', 'expired'] as const
type RunStatus = (typeof runStatuses)[number]

const runTriggers = ['schedule', 'manual', 'api'] as const

export const reportFormats = ['pdf', 'xlsx', 'csv'] as const satisfies readonly ReportFormat[]

/** How long the file of a run can be downloaded. */
export const file_days_kept = 60

export const RunId = field.Text('A run of a report.', {
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  examples: ['5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f11'],
})

export type ReportRun = Static<typeof ReportRun>
export const ReportRun = Named('ReportRun', {
  run_id: RunId,
  template_id: Type.String({ examples: ['performance_monthly'] }),
  subscription_id: field.IntOrNull(
    'The subscription of the run, which may have been deleted; null for a one-off report.',
    { minimum: 1, examples: [7] },
  ),
  status: field.OneOf(
    runStatuses,
    '`queued`: waiting. `running`: in progress. `succeeded`: the file can be downloaded. ' +
      '`failed`: given up, see `error_code`. `expired`: the file has been deleted.',
    'succeeded',
  ),
  trigger: field.OneOf(
    runTriggers,
    '`schedule`: due by the schedule. `api`: a requested run of a subscription. `manual`: a ' +
      'one-off report.',
  ),
  period_start_at: At('Start of the period, inclusive.', '2026-04-30T22:00:00.000Z'),
  period_end_at: At('End of the period, exclusive.', '2026-05-31T22:00:00.000Z'),
  format: Type.Enum([...reportFormats]),
  language: Type.Enum(['en']),
  requested_by: field.Text(
    'The name of the key or person that requested the run; `system` for a scheduled run.',
    'system',
  ),
  queued_at: At('When the run was queued.', '2026-06-01T04:00:12.000Z'),
  started_at: Nullable(At('When the last attempt started.')),
  finished_at: Nullable(At('When the run succeeded or failed.')),
  duration_ms: field.CountOrNull('From `started_at` to `finished_at`.', 3200),
  file_name: Nullable(
    Type.String({ examples: ['demo_performance_monthly_2026-05-01_2026-05-31.pdf'] }),
  ),
  file_size_bytes: Nullable(Type.Integer({ minimum: 0, examples: [184_320] })),
  sha256: field.TextOrNull('SHA-256 of the file, also the ETag of the download.', {
    pattern: '^[0-9a-f]{64}$',
  }),
  download_url: field.TextOrNull('Path of the file on this server; null without a file.'),
  download_expires_at: Nullable(At('When the file will be deleted.')),
  page_count: field.CountOrNull('Null for a format without pages.', 6),
  data_completeness_pct: field.PercentOrNull('Share of the expected readings that were available.'),
  required_scopes: Nullable(
    Type.Array(Type.Enum([...scopes]), {
      description:
        'An extension. Scopes required for the download, from the sections in the file. Null before ' +
        'the run has succeeded.',
    }),
  ),
  omitted_sections: Type.Array(Type.String(), {
    description:
      'An extension. Sections that were omitted because the key or person that ordered the report ' +
      'lacked a scope, or the plan lacked the module of that scope.',
    examples: [['Work orders and defects']],
  }),
  error_code: field.TextOrNull(
    'The reason of the failure: `template_gone`, `parameters_invalid`, `subscription_disabled`, ' +
      '`subscription_deleted`, `build_failed`, `write_failed`, `file_too_large`, `timed_out` ' +
      'or `server_lost`.',
  ),
  error_message: field.TextOrNull('The reason of the failure in words.'),
  recipients_sent: field.Count(
    'Mails with the file that the mail server accepted; 0 without a mail server.',
    1,
  ),
})

/** A row of `report_runs` with the number of mails sent. */
export interface StoredRun
  extends Stored<Omit<ReportRun, 'subscription_id' | 'status' | 'duration_ms' | 'download_url'>> {
  sub_id: number | null
  state: Exclude<RunStatus, 'expired'>
}

export function runStatus(
  { state, download_expires_at }: Pick<StoredRun, 'state' | 'download_expires_at'>,
  now: Date,
): RunStatus {
  const is_over =
    state === 'succeeded' && download_expires_at !== null && download_expires_at <= now
  return is_over ? 'expired' : state
}

export const filePath = (site_id: string, run_id: string) =>
  `/v1/sites/${site_id}/reports/runs/${run_id}/file`

export function runRecord(site_id: string, run: StoredRun, now: Date): ReportRun {
  const { started_at, finished_at } = run
  const status = runStatus(run, now)
  const has_ended = started_at !== null && finished_at !== null
  return {
    ...served(ReportRun, run),
    subscription_id: run.sub_id,
    status,
    // The clocks of two servers may differ.
    duration_ms: has_ended ? Math.max(0, finished_at.getTime() - started_at.getTime()) : null,
    download_url: status === 'succeeded' ? filePath(site_id, run.run_id) : null,
  }
}
