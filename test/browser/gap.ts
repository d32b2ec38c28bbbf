/** Readings that are missing at the demo, whose own history has holes only by chance. */
import { dirname } from 'node:path'
import { withDatabase } from '@heliograph/cli/database'
import { readConfig } from '@heliograph/server/config'
import { site_id } from './addresses.ts'
import type { TestDemo } from './demo.ts'

const quiet = { info() {}, warn() {}, error() {} }

/** An hour of inverters of two plants three days ago, as the server itself would write it. */
export async function leaveGaps({ key_file }: TestDemo): Promise<void> {
  const config = readConfig({ ...process.env, DATA_DIR: dirname(key_file) })
  await withDatabase(config, quiet, (db) =>
    db.execute(
      `insert into gaps (site_id, logger_id, source_type, device_id, sub_id, source_id,
         start_at, end_at, widest_start_at, widest_end_at, widest_expected_count, step_s,
         expected_count, received_count, cause, during_daylight, status, detected_at, updated_at)
       select $1, logger_id, 'inverter', inverter_id, 0, inverter_id::text,
         began_at, began_at + interval '1 hour', began_at, began_at + interval '1 hour', 720, 5,
         720, 20, cause, true, 'unrecoverable', now(), now()
       from (values (1, 1, 'power_loss'), (2, 5, 'device_fault'), (2, 6, 'device_fault'))
           as gap (logger_id, inverter_id, cause),
         (select date_trunc('day', now()) - interval '3 days 12 hours' as began_at) as time`,
      [site_id],
    ),
  )
}
