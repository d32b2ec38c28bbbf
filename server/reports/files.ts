/** Files of report runs. */
import type { Queries } from '../storage/database.ts'
import { localDays } from './periods.ts'
import type { ClaimedRun, RunKey } from './runs.ts'

/** Mail servers accept less; ordinary reports are far smaller. */
export const file_bytes_max = 32 * 1024 * 1024

/** `demo_performance_monthly_2026-05-01_2026-05-31.pdf`: safe in headers and file systems. */
export function fileName(run: ClaimedRun, extension: string): string {
  const { first, last } = localDays(
    { start_at: run.period_start_at, end_at: run.period_end_at },
    run.timezone,
  )
  const days = first === last ? first : `${first}_${last}`
  return `${run.site_id}_${run.template_id}_${days}.${extension}`
}

interface StoredFile {
  file_name: string
  content_type: string
  bytes: Buffer
}

/** null for an expired or missing file. */
export async function readFile(
  db: Queries,
  { site_id, run_id }: RunKey,
  now: Date,
): Promise<StoredFile | null> {
  const [file] = await db.query<StoredFile>(
    `select file_name, content_type, bytes from report_files
     where site_id = $1 and run_id = $2 and expires_at > $3`,
    [site_id, run_id, now],
  )
  return file ?? null
}
