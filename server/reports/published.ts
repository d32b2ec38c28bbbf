/** The events of reports. */
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'
import { runRecord } from './run.ts'
import { type RunKey, readRun } from './runs.ts'

export async function publishReady(tx: Transaction, run: RunKey, now: Date): Promise<void> {
  const { site_id, run_id } = run
  publish(tx, {
    site_id,
    at: now,
    type: 'report.ready',
    subject: `report_run/${run_id}`,
    link: `/reports/runs/${run_id}/file`,
    record: runRecord(site_id, (await readRun(tx, run))!, now),
  })
}
