import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { readTextFile } from '../access/text-file.ts'
import {
  type AlertingFile,
  type AlertSettings,
  parseAlerting,
  settingsInForce,
} from './settings.ts'
import { readAlerting, storeSettings } from './settings-store.ts'

/** Larger ones are no settings of a site. */
const file_mib_max = 1

export interface Alerting {
  site_id: string
  /** null: nothing was ever set. */
  set_at: Date | null
  set_by: string | null
  /** What the site says itself. */
  settings: AlertingFile
  /** All of it, with what is as the rules have it. */
  in_force: AlertSettings
}

/** How a site wants its alerts; `not_found` when there is no such site. */
export async function showAlerting(
  { db }: Pick<Admin, 'db'>,
  { site_id }: { site_id: string },
): Promise<Alerting> {
  await findSite({ db }, site_id)
  const stored = await readAlerting(db, site_id)
  const { settings, set_at, set_by } = stored ?? { settings: {}, set_at: null, set_by: null }
  return { site_id, set_at, set_by, settings, in_force: settingsInForce(settings) }
}

/**
 * Puts a YAML or JSON file in place of all that the site said of its alerts. Refuses (`invalid`) a
 * file with faults and names each. It holds from the next round on, within a minute.
 */
export async function setAlerting(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, file, set_by }: { site_id: string; file: string; set_by: string },
): Promise<Alerting> {
  await findSite({ db }, site_id)
  const parsed = parseAlerting(await readTextFile(file, { mib_max: file_mib_max }))
  if ('faults' in parsed) {
    const told = parsed.faults.map(({ field, message }) => `  ${field && `${field}: `}${message}`)
    throw new AdminError('invalid', [`${file} cannot be taken:`, ...told].join('\n'))
  }
  const { alerting: settings } = parsed
  await storeSettings(db, site_id, { settings, set_at: clock.now(), set_by })
  return showAlerting({ db }, { site_id })
}
