import type { Queries } from '../storage/database.ts'
import { putRow } from '../storage/rows.ts'
import { type AlertingFile, type AlertSettings, settingsInForce } from './settings.ts'

interface StoredAlerting {
  settings: AlertingFile
  set_at: Date
  set_by: string
}

/** null: no settings are stored. */
export const readAlerting = (db: Queries, site_id: string) =>
  db.queryOne<StoredAlerting>(
    'select settings, set_at, set_by from site_alerting where site_id = $1',
    [site_id],
  )

export async function readSettings(db: Queries, site_id: string): Promise<AlertSettings> {
  return settingsInForce((await readAlerting(db, site_id))?.settings ?? {})
}

export const storeSettings = (
  db: Queries,
  site_id: string,
  { settings, set_at, set_by }: StoredAlerting,
): Promise<void> =>
  putRow(db, 'site_alerting', { site_id }, { settings: JSON.stringify(settings), set_at, set_by })
