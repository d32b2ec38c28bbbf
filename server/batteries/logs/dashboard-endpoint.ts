import type { Clock } from '@heliograph/domain/clock'
import { dayStart } from '@heliograph/domain/local-day'
import { day_ms, utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { mayRead } from '../../http/authorize.ts'
import { endpoint } from '../../http/endpoint.ts'
import { ApiError } from '../../http/errors.ts'
import { hour_ms } from '../../http/time-windows.ts'
import { type SiteFacts, type Situation, situationOf } from '../../plant/situation.ts'
import { batteryNow } from '../current.ts'
import { deviationsOf } from '../deviations.ts'
import { envelopeOf } from '../envelope.ts'
import { scheduleOf } from '../schedules.ts'
import { hourlyPowers, type Span } from '../unit-energy.ts'
import { BessId, unitRecord } from '../units.ts'
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
    '`today`, and what `current` tells of today, are of the day at the site. Schedules are of ' +
    'days in UTC: so are `schedule`, the approved one of this day, else the proposed one, else ' +
    'null, `deviations` and the series.',
  params: { bess_id: BessId },
  returns: Dashboard,
  example: { answer: dashboardExample },
  async handle(request, { clock, sites, batteryLogs }: Needs) {
    const { bess_id } = request.params
    const { site_id } = request.site
    const now = clock.now()
    const asked = { site_id, bess_id }
    const [facts, unit] = await Promise.all([sites.facts(site_id), batteryLogs.unit(asked)])
    if (!unit) throw new ApiError('not_found', { bess_id })
    const situation = situationOf(facts, now)
    const span = localDay(situation, facts)
    const dates = [...new Set([utcDate(span.start_ms), utcDate(span.end_ms - 1)])]
    const [{ live, alarms }, days, raised, schedule] = await Promise.all([
      batteryLogs.now(asked, situation),
      Promise.all(dates.map((date) => batteryLogs.day(unit, { date, now }))),
      batteryLogs.raisedSince(asked, new Date(now.getTime() - day_ms)),
      batteryLogs.schedule(asked, utcDate(now)),
    ])
    const day = days.find(({ start_ms }) => start_ms === utcDayStart(now.getTime()))!
    const current = batteryNow(live, situation)
    const today = todayOf(days, span, current)
    return {
      unit: unitRecord(live, situation),
      current,
      schedule: schedule && scheduleOf(schedule, now, hourlyPowers(day.quarters)),
      deviations: deviationsOf(day),
      today: mayRead(request.caller, 'earnings:read') ? today : { ...today, ...hidden_earnings },
      ...seriesOf(day),
      alarms_summary: alarmCounts(alarms, raised),
      envelope: envelopeOf(live, situation),
    }
  },
})

const hidden_earnings = {
  earnings_amount: null,
  earnings_reason: 'forbidden_scope',
  currency: null,
} as const

/** From midnight at the site to the next, Unix ms. */
function localDay({ day_start_at }: Situation, { timezone }: Pick<SiteFacts, 'timezone'>): Span {
  const start_ms = day_start_at.getTime()
  // A day has 25 hours at the most, and the next one more than two.
  return { start_ms, end_ms: dayStart(new Date(start_ms + 25 * hour_ms), timezone).getTime() }
}
