/** Something that is wrong at the demo: at night its plants give no reason for an alert. */
import { dirname } from 'node:path'
import { withDatabase } from '@heliograph/cli/database'
import { readConfig } from '@heliograph/server/config'
import { site_id } from './addresses.ts'
import type { TestDemo } from './demo.ts'

const quiet = { info() {}, warn() {}, error() {} }

/** As the server itself would write it. */
export async function raiseAlert({ key_file }: TestDemo): Promise<void> {
  const config = readConfig({ ...process.env, DATA_DIR: dirname(key_file) })
  await withDatabase(config, quiet, async (db) => {
    await db.query(
      `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
         source_type, source_id, logger_id, inverter_id, string_index,
         started_at, detected_at, last_seen_at, created_at, updated_at)
       values ($1, 'raised', 'string_zero_current', 'A string delivers no current',
         'String 3 of inverter 1 carries 0 A.', 'production', 'major', 'active',
         'string', '1.3', 1, 1, 3, now(), now(), now(), now(), now())
       on conflict do nothing`,
      [site_id],
    )
  })
}
