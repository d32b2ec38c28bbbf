import type { Queries } from '../storage/database.ts'
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

export async function storeSettings(
  db: Queries,
  site_id: string,
  { settings, set_at, set_by }: StoredAlerting,
): Promise<void> {
  await db.execute(
    `insert into site_alerting (site_id, settings, set_at, set_by) values ($1, $2, $3, $4)
     on conflict (site_id) do update
       set settings = excluded.settings, set_at = excluded.set_at, set_by = excluded.set_by`,
    [site_id, JSON.stringify(settings), set_at, set_by],
  )
}
