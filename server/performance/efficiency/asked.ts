/** What the diagnoses have in common: their place in the API and the period asked for. */
import type { Clock } from '@heliograph/domain/clock'
import { default_hours } from '../../http/time-windows.ts'
import { sumWindow, type WholeWindow } from '../../http/windows.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import { type Period, periodOf } from '../period.ts'

export const diagnostics = {
  method: 'GET',
  tag: 'Diagnostics',
  scope: 'diagnostics:read',
  module: 'basic_scada',
  window: sumWindow(default_hours.diagnostics),
} as const

export interface PeriodNeeds {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
}

interface Asked {
  site: { site_id: string; timezone: string }
  period: Period
}

export async function askedOf(
  site_id: string,
  window: WholeWindow,
  { clock, sites }: PeriodNeeds,
): Promise<Asked> {
  const now = clock.now()
  const facts = await sites.facts(site_id)
  return { site: { site_id, timezone: facts.timezone }, period: periodOf(window, facts, now) }
}
