import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { dayStart } from '@heliograph/domain/local-day'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import { type SiteFacts, type Situation, situationOf } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import { batteryNow } from '../current.ts'
import { deviationsOf } from '../deviations.ts'
import { requireUnit, type UnitId } from '../earnings.ts'
import { envelopeOf } from '../envelope.ts'
import { scheduleOf, schedulesIn } from '../schedules.ts'
import { readUnitDay } from '../unit-day.ts'
import { hourlyPowers, type Span } from '../unit-energy.ts'
import { BessId, unitRecord } from '../units.ts'
import { alarmCounts } from './counts.ts'
import { Dashboard, seriesOf, todayOf } from './dashboard.ts'
import { dashboardExample } from './examples.ts'
import { raisedSince, readUnitNow } from './store.ts'

export const getDashboard = endpoint({
  method: 'GET',
  tag: 'Batteries',
  scope: 'bess:read',
  module: 'bess',
  path: '/bess/{bess_id}/dashboard',
  operation_id: 'bess_dashboard_get',
  summary: 'Dashboard of a battery',
  description:
    'Returns the newest readings, the day against its plan, alarms and limits. `today` and the ' +
    'energies of `current` cover the local day of the site. `schedule`, `deviations` and the ' +
    'series cover the UTC day, as schedules do. `schedule` is the approved schedule of the day, ' +
    'else the proposed one, else null.',
  params: { bess_id: BessId },
  returns: Dashboard,
  example: { answer: dashboardExample },
  async handle({ site: { site_id }, params, caller }, { db, clock }: Context) {
    const now = clock.now()
    const id = { site_id, ...params }
    const [facts, unit] = await Promise.all([siteFacts(db, site_id), requireUnit(db, id)])
    const situation = situationOf(facts, now)
    const span = localDay(situation, facts)
    const dates = [...new Set([utcDate(span.start_ms), utcDate(span.end_ms - 1)])]
    const [{ live, alarms }, days, raised, schedule] = await Promise.all([
      readUnitNow(db, id, situation),
      Promise.all(dates.map((date) => readUnitDay(db, unit, { date, now }))),
      raisedSince(db, id, new Date(now.getTime() - day_ms)),
      shownSchedule(db, id, utcDate(now)),
    ])
    const day = days.find(({ start_ms }) => start_ms === utcDayStart(now.getTime()))!
    const current = batteryNow(live, situation)
    const today = todayOf(days, span, current)
    return {
      unit: unitRecord(live, situation),
      current,
      schedule: schedule && scheduleOf(schedule, now, hourlyPowers(day.quarters)),
      deviations: deviationsOf(day),
      today: mayRead(caller, 'earnings:read') ? today : { ...today, ...hidden_earnings },
      ...seriesOf(day),
      alarms_summary: alarmCounts(alarms, raised),
      envelope: envelopeOf(live, situation),
    }
  },
})

async function shownSchedule(db: Queries, { site_id, bess_id }: UnitId, date: string) {
  const [[approved], [proposed]] = await Promise.all([
    schedulesIn(db, { site_id, bess_id, date, state: 'approved' }),
    schedulesIn(db, { site_id, bess_id, date, state: 'proposed' }),
  ])
  return approved ?? proposed ?? null
}

const hidden_earnings = {
  earnings_amount: null,
  earnings_reason: 'forbidden_scope',
  currency: null,
} as const

/** From local midnight to the next, Unix ms. */
function localDay({ day_start_at }: Situation, { timezone }: Pick<SiteFacts, 'timezone'>): Span {
  const start_ms = day_start_at.getTime()
  // A day has at most 25 hours, and the next day more than two.
  return { start_ms, end_ms: dayStart(new Date(start_ms + 25 * hour_ms), timezone).getTime() }
}
