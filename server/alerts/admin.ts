import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { readYamlFile } from '../access/yaml-file.ts'
import {
  type AlertingFile,
  type AlertSettings,
  parseAlerting,
  settingsInForce,
} from './settings.ts'
import { readAlerting, storeSettings } from './settings-store.ts'
import type { Transition } from './store.ts'

export interface Alerting {
  site_id: string
  /** null: no settings were ever stored. */
  set_at: Date | null
  set_by: string | null
  settings: AlertingFile
  /** The stored file with the defaults of the rules. */
  in_force: AlertSettings
}

/** @throws AdminError not_found */
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
 * Replaces the settings of a site by a YAML or JSON file, from the next round on.
 * @throws AdminError invalid, with every fault of the file; not_found
 */
export async function setAlerting(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, file, set_by }: { site_id: string; file: string; set_by: string },
): Promise<Alerting> {
  await findSite({ db }, site_id)
  const settings = await readYamlFile(file, { mib_max: 1, parse: parseAlerting })
  await storeSettings(db, site_id, { settings, set_at: clock.now(), set_by })
  return showAlerting({ db }, { site_id })
}

export interface AlertHistory {
  site_id: string
  alert_id: number
  title: string
  message: string
  /** Oldest first. */
  transitions: Transition[]
}

/** @throws AdminError not_found */
export async function showAlertHistory(
  { db }: Pick<Admin, 'db'>,
  { site_id, alert_id }: { site_id: string; alert_id: number },
): Promise<AlertHistory> {
  await findSite({ db }, site_id)
  const [alert] = await db.query<Pick<AlertHistory, 'title' | 'message'>>(
    'select title, message from alerts where site_id = $1 and alert_id = $2',
    [site_id, alert_id],
  )
  if (!alert) throw new AdminError('not_found', `site ${site_id} has no alert ${alert_id}`)
  const transitions = await db.query<Transition>(
    `select at, from_status, to_status, changed_by, note from alert_transitions
     where site_id = $1 and alert_id = $2 order by transition_id`,
    [site_id, alert_id],
  )
  return { site_id, alert_id, ...alert, transitions }
}
