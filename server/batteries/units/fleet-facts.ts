/** Values of a fleet that are costly to read, cached by this process for minutes. */

import type { Clock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import { dayStart } from '@heliograph/domain/local-day'
import { utcDate } from '@heliograph/domain/utc-day'
import { siteFacts } from '../../plant/site-facts.ts'
import type { Database, Queries } from '../../storage/database.ts'
import { createSnapshots } from '../../telemetry/snapshots.ts'
import { earnedBetween } from '../earnings.ts'
import { readRoundtrip } from '../roundtrip.ts'
import type { FleetFacts } from './fleet.ts'

type Earned = NonNullable<FleetFacts['earnings']>

interface Costly {
  /** Local midnight of the day of the earnings. */
  day_start_ms: number
  roundtrip_efficiency_30d_pct: number | null
  earnings: Earned | null
}

export interface FleetReads {
  get(site_id: string, day_start_at: Date): Promise<FleetFacts>
}

export function createFleetReads(db: Database, clock: Clock): FleetReads {
  const snapshots = createSnapshots(
    async (site_id: string, now): Promise<Costly> => {
      const day_start_at = dayStart(now, (await siteFacts(db, site_id)).timezone)
      const [roundtrip_efficiency_30d_pct, earnings] = await Promise.all([
        readRoundtrip(db, { site_id, bess_id: null }, { start: lastMonth(now), end: now }),
        readEarned(db, site_id, { start: day_start_at, end: now }),
      ])
      return { day_start_ms: day_start_at.getTime(), roundtrip_efficiency_30d_pct, earnings }
    },
    { clock, fresh_ms: 60_000, oldest_ms: 300_000 },
  )
  return {
    async get(site_id, day_start_at) {
      const [known, schedules] = await Promise.all([
        snapshots.get(site_id),
        countSchedules(db, site_id, clock.now()),
      ])
      const is_of_today = known.day_start_ms === day_start_at.getTime()
      const { roundtrip_efficiency_30d_pct, earnings } = is_of_today
        ? known
        : await snapshots.readAgain(site_id)
      return { schedules, roundtrip_efficiency_30d_pct, earnings }
    },
  }
}

const lastMonth = (now: Date) => new Date(now.getTime() - 30 * day_ms)

/** Null where no revenue is known, and for units of several currencies. */
async function readEarned(
  db: Queries,
  site_id: string,
  span: { start: Date; end: Date },
): Promise<Earned | null> {
  const units = await db.query<{ bess_id: number }>(
    'SELECT bess_id FROM batteries WHERE site_id = $1 AND retired_at IS NULL ORDER BY bess_id',
    [site_id],
  )
  const parts: Earned[] = []
  for (const { bess_id } of units) {
    const earned = await earnedBetween(db, site_id, bess_id, span)
    if (earned !== null) parts.push(earned)
  }
  const [{ currency } = { currency: '' }] = parts
  if (parts.length === 0 || parts.some((part) => part.currency !== currency)) return null
  const micro = parts.reduce((sum, { amount }) => sum + Math.round(1e6 * amount), 0)
  return { amount: micro / 1e6, currency }
}

/** Counts the schedule of today (UTC) of each unit in service. */
async function countSchedules(
  db: Queries,
  site_id: string,
  now: Date,
): Promise<FleetFacts['schedules']> {
  const [row] = await db.query<FleetFacts['schedules']>(
    `SELECT count(*) FILTER (WHERE state = 'proposed') AS proposed,
       count(*) FILTER (WHERE state = 'approved') AS approved,
       count(*) FILTER (WHERE state = 'rejected') AS rejected
     FROM (
       SELECT DISTINCT ON (s.bess_id) s.state
       FROM battery_schedules s
       JOIN batteries b USING (site_id, bess_id)
       WHERE s.site_id = $1 AND s.target_date = $2 AND b.retired_at IS NULL
       ORDER BY s.bess_id, s.state = 'approved' DESC, s.state = 'proposed' DESC, s.schedule_id DESC
     ) AS newest`,
    [site_id, utcDate(now)],
  )
  return row!
}
