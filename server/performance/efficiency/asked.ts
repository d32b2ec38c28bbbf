/** Common properties of the diagnosis endpoints, and the site and period of a request. */
import type { Context } from '../../http/context.ts'
import { default_hours } from '../../http/time-windows.ts'
import { sumWindow, type WholeWindow } from '../../http/windows.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import { periodOf } from '../period.ts'

export const diagnostics = {
  method: 'GET',
  tag: 'Diagnostics',
  scope: 'diagnostics:read',
  module: 'basic_scada',
  window: sumWindow(default_hours.diagnostics),
  heavy: true,
} as const

export async function siteAndPeriod(
  site_id: string,
  window: WholeWindow,
  { clock, db }: Pick<Context, 'clock' | 'db'>,
) {
  const now = clock.now()
  const facts = await siteFacts(db, site_id)
  return { site: { site_id, timezone: facts.timezone }, period: periodOf(window, facts, now) }
}
