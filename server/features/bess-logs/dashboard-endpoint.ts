import type { Clock } from '@heliograph/domain/clock'
import { day_ms, utcDate } from '@heliograph/domain/utc-day'
import { batteryNow } from '../../batteries/current.ts'
import { deviationsOf } from '../../batteries/deviations.ts'
import { envelopeOf } from '../../batteries/envelope.ts'
import { scheduleOf } from '../../batteries/schedules.ts'
import { hourlyPowers } from '../../batteries/unit-energy.ts'
import { BessId, unitRecord } from '../../batteries/units.ts'
import { endpoint } from '../../http/endpoint.ts'
import { ApiError } from '../../http/errors.ts'
import { type SiteFacts, situationOf } from '../../records/situation.ts'
import { alarmCounts } from './counts.ts'
import { Dashboard, seriesOf, todayOf } from './dashboard.ts'
import { dashboardExample } from './dashboard-example.ts'
import type { BatteryLogStore } from './store.ts'

export interface Needs {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  batteryLogs: BatteryLogStore
}

export const getDashboard = endpoint({
  method: 'GET',
  tag: 'Batteries',
  scope: 'bess:read',
  module: 'bess',
  path: '/bess/{bess_id}/dashboard',
  operation_id: 'bess_dashboard_get',
  summary: 'A battery at a glance: now, today against its plan, alarms, limits',
  description:
    'Today is the day in UTC, as of schedules; only what `current` tells of today is since ' +
    'midnight at the site. `schedule` is the approved one of today, else the proposed one, else ' +
    'null.',
  params: { bess_id: BessId },
  returns: Dashboard,
  example: { answer: dashboardExample },
  async handle({ site: { site_id }, params: { bess_id } }, { clock, sites, batteryLogs }: Needs) {
    const now = clock.now()
    const asked = { site_id, bess_id }
    const today = { date: utcDate(now), now }
    const [facts, unit] = await Promise.all([sites.facts(site_id), batteryLogs.unit(asked)])
    if (!unit) throw new ApiError('not_found', { bess_id })
    const situation = situationOf(facts, now)
    const [live, day, alarms, raised, schedule] = await Promise.all([
      batteryLogs.live(asked, situation),
      batteryLogs.day(unit, today),
      batteryLogs.alarms(asked),
      batteryLogs.raisedSince(asked, new Date(now.getTime() - day_ms)),
      batteryLogs.schedule(asked, today.date),
    ])
    return {
      unit: unitRecord(live, situation),
      current: batteryNow(live, situation),
      schedule: schedule && scheduleOf(schedule, now, hourlyPowers(day.quarters)),
      deviations: deviationsOf(day),
      today: todayOf(day),
      ...seriesOf(day),
      alarms_summary: alarmCounts(alarms, raised),
      envelope: envelopeOf(live, situation),
    }
  },
})
