/** A run of a report, as it is stored and served. */
import { type Static, Type } from 'typebox'
import { scopes } from '../http/endpoint.ts'
import { Nullable } from '../http/params.ts'
import { At, iso } from '../plant/frame.ts'
import type { ReportFormat } from './document.ts'

export const runStatuses = ['queued', 'running', 'succeeded', 'failed', 'expired'] as const
export type RunStatus = (typeof runStatuses)[number]

const runTriggers = ['schedule', 'manual', 'api'] as const

export const reportFormats = ['pdf', 'xlsx', 'csv'] as const satisfies readonly ReportFormat[]

/** How long the file of a run can be downloaded. */
export const file_days_kept = 60

export const RunId = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'A run of a report.',
  examples: ['5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f11'],
})

export type ReportRun = Static<typeof ReportRun>
export const ReportRun = Type.Object(
  {
    run_id: RunId,
    template_id: Type.String({ examples: ['performance_monthly'] }),
    subscription_id: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'The subscription that it was made for, which may be deleted by now; null for a report ' +
          'that a person ordered once.',
      }),
    ),
    status: Type.Enum([...runStatuses], {
      description:
        '`queued`: to be made. `running`: being made. `succeeded`: the file can be downloaded. ' +
        '`failed`: given up, see `error_code`. `expired`: the file is no longer kept.',
    }),
    trigger: Type.Enum([...runTriggers], {
      description:
        '`schedule`: it came due. `api`: the run of a subscription was asked for. `manual`: a ' +
        'person ordered it once, over dates of its own.',
    }),
    period_start_at: At('Start of what it is about, inclusive.'),
    period_end_at: At('End of what it is about, exclusive.'),
    format: Type.Enum([...reportFormats]),
    language: Type.Enum(['en']),
    requested_by: Type.String({
      description:
        'The name of the key or the person that asked for it; `system` where it came due.',
    }),
    queued_at: At('When it came due or was asked for, and was put into the queue.'),
    started_at: Nullable(At('When it was begun, the last time it was.')),
    finished_at: Nullable(At('When it succeeded or was given up.')),
    duration_ms: Nullable(
      Type.Integer({ minimum: 0, description: 'From `started_at` to `finished_at`.' }),
    ),
    file_name: Nullable(Type.String()),
    file_size_bytes: Nullable(Type.Integer({ minimum: 0 })),
    sha256: Nullable(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'Of the bytes of the file; its ETag when it is downloaded.',
      }),
    ),
    download_url: Nullable(
      Type.String({
        description: 'Where the file is, on this server; null while there is none, and no more.',
      }),
    ),
    download_expires_at: Nullable(At('Until when the file is kept.')),
    page_count: Nullable(Type.Integer({ minimum: 0, description: 'Null for what has no pages.' })),
    data_completeness_pct: Nullable(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'How much of the readings that it is made from was there.',
      }),
    ),
    required_scopes: Nullable(
      Type.Array(Type.Enum([...scopes]), {
        description:
          'An extension. Scopes of the sections in the file, without which a download is refused. ' +
          'Null before the run succeeded.',
      }),
    ),
    omitted_sections: Type.Array(Type.String(), {
      description:
        'An extension. Sections that were left out: when the run was made, the key or person that ' +
        'ordered the report lacked a scope of theirs, or the plan the module of that scope.',
      examples: [['Work orders and defects']],
    }),
    error_code: Nullable(
      Type.String({
        description:
          'Why it failed: `template_gone`, `parameters_invalid`, `subscription_disabled`, ' +
          '`subscription_deleted`, `build_failed`, `write_failed`, `file_too_large`, `timed_out` ' +
          'or `server_lost`.',
      }),
    ),
    error_message: Nullable(Type.String({ description: 'The same in words.' })),
    recipients_sent: Type.Integer({
      minimum: 0,
      description: 'Mails with the file that a mail server took; 0 where none is set up.',
    }),
  },
  { additionalProperties: false, $id: 'ReportRun' },
)

/** A row of `report_runs` with what the outbox says of its mails. */
export interface StoredRun
  extends Pick<
    ReportRun,
    | 'run_id'
    | 'template_id'
    | 'format'
    | 'requested_by'
    | 'file_name'
    | 'file_size_bytes'
    | 'sha256'
    | 'page_count'
    | 'data_completeness_pct'
    | 'required_scopes'
    | 'omitted_sections'
    | 'error_code'
    | 'error_message'
    | 'recipients_sent'
  > {
  sub_id: number | null
  trigger: (typeof runTriggers)[number]
  state: Exclude<RunStatus, 'expired'>
  period_start_at: Date
  period_end_at: Date
  language: 'en'
  queued_at: Date
  started_at: Date | null
  finished_at: Date | null
  download_expires_at: Date | null
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
  const is_over = started_at !== null && finished_at !== null
  return {
    run_id: run.run_id,
    template_id: run.template_id,
    subscription_id: run.sub_id,
    status,
    trigger: run.trigger,
    period_start_at: run.period_start_at.toISOString(),
    period_end_at: run.period_end_at.toISOString(),
    format: run.format,
    language: run.language,
    requested_by: run.requested_by,
    queued_at: run.queued_at.toISOString(),
    started_at: iso(started_at),
    finished_at: iso(finished_at),
    // The clocks of two servers may differ.
    duration_ms: is_over ? Math.max(0, finished_at.getTime() - started_at.getTime()) : null,
    file_name: run.file_name,
    file_size_bytes: run.file_size_bytes,
    sha256: run.sha256,
    download_url: status === 'succeeded' ? filePath(site_id, run.run_id) : null,
    download_expires_at: iso(run.download_expires_at),
    page_count: run.page_count,
    data_completeness_pct: run.data_completeness_pct,
    required_scopes: run.required_scopes,
    omitted_sections: run.omitted_sections,
    error_code: run.error_code,
    error_message: run.error_message,
    recipients_sent: run.recipients_sent,
  }
}
