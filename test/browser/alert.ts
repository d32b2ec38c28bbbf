/** Something that is wrong or new at the demo: its plants give no reason for it by themselves. */
import { dirname } from 'node:path'
import { withDatabase } from '@heliograph/cli/database'
import { notifyCritical } from '@heliograph/server/alerts/critical-notices'
import type { FinishedRound } from '@heliograph/server/alerts/listener'
import type { StoredAlert } from '@heliograph/server/alerts/record'
import { readConfig } from '@heliograph/server/config'
import { site_id } from './addresses.ts'
import type { TestDemo } from './demo.ts'

const quiet = { info() {}, warn() {}, error() {} }

interface Raised {
  code: 'string_zero_current' | 'inverter_fault'
  title: string
  message: string
  severity: 'major' | 'critical'
  /** Of plant 1. */
  inverter_id: number
  string_index: number | null
}

const withoutCurrent: Raised = {
  code: 'string_zero_current',
  title: 'A string delivers no current',
  message: 'String 3 of inverter 1 carries 0 A.',
  severity: 'major',
  inverter_id: 1,
  string_index: 3,
}

/** As the server itself would write it and notify people of it; open alerts are not repeated. */
export async function raiseAlert(
  { key_file }: TestDemo,
  { code, title, message, severity, inverter_id, string_index }: Raised = withoutCurrent,
): Promise<void> {
  const config = readConfig({ ...process.env, DATA_DIR: dirname(key_file) })
  const is_string = string_index !== null
  await withDatabase(config, quiet, (db) =>
    db.transaction(async (transaction) => {
      const raised = await transaction.query<StoredAlert>(
        `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
           source_type, source_id, logger_id, inverter_id, string_index,
           started_at, detected_at, last_seen_at, created_at, updated_at)
         values ($1, $2, $3, $4, $5, 'production', $6, 'active',
           $7, $8, 1, $9, $10, now(), now(), now(), now(), now())
         on conflict do nothing
         returning alert_id, title, message, severity, status, suppressed_reason`,
        [
          site_id,
          `raised ${title}`,
          code,
          title,
          message,
          severity,
          is_string ? 'string' : 'inverter',
          is_string ? `${inverter_id}.${string_index}` : String(inverter_id),
          inverter_id,
          string_index,
        ],
      )
      const changes = raised.map((alert) => ({ kind: 'raised' as const, alert }))
      await notifyCritical(transaction, {
        site: { site_id },
        now: new Date(),
        changes,
      } as unknown as FinishedRound)
    }),
  )
}

/** As the server itself stores it when the edge finds another inverter. */
export async function exchangeInverter(
  { key_file }: TestDemo,
  { inverter_id, before, now }: { inverter_id: number; before: string; now: string },
): Promise<void> {
  const config = readConfig({ ...process.env, DATA_DIR: dirname(key_file) })
  await withDatabase(config, quiet, (db) =>
    db.execute(
      `insert into device_exchanges (site_id, kind, device_id, changed_at, received_at,
         old_serial_number, serial_number)
       values ($1, 'inverter', $2, now(), now(), $3, $4)`,
      [site_id, `${inverter_id}`, before, now],
    ),
  )
}
