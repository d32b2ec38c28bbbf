/** The revenue of the present market day of each site, for the list of sites. */
import { localDate } from '@heliograph/domain/local-day'
import { beginRoundOf, shareRound } from '../jobs/site-rounds.ts'
import { awakeTime } from '../plant/daylight.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { Database, Queries } from '../storage/database.ts'
import { putRow } from '../storage/rows.ts'
import { hoursOfDays, netOfDays } from './records.ts'
import { readEarnings } from './store.ts'

/** The job that computes it. */
const job = 'update_revenue'

/** A price or contract may arrive while the energy does not change. */
const unchanged_max = '1 hour'

/** Updates the sites with contracts whose energy has changed, with the help of other servers. */
export async function updateRevenue(db: Database, now: Date, signal?: AbortSignal): Promise<void> {
  await beginRoundOf(
    db,
    job,
    `select c.site_id from (select distinct site_id from market_assignments) as c
     left join site_status s on s.site_id = c.site_id
     where s.revenue_at is null or s.revenue_at < s.energy_at
       or s.revenue_at < $1::timestamptz - interval '${unchanged_max}'
     order by c.site_id`,
    [now],
  )
  await shareRevenue(db, now, signal)
}

/** Updates sites of a round that are still due. */
export const shareRevenue = (db: Database, now: Date, signal?: AbortSignal): Promise<void> =>
  shareRound(db, job, { work: (site_id) => updateSite(db, site_id, now), signal })

async function updateSite(db: Queries, site_id: string, now: Date): Promise<void> {
  const facts = await siteFacts(db, site_id)
  const timezone = await readMarketZone(db, site_id)
  const today = localDate(now.getTime(), timezone)
  const days = { start: today, end: today, timezone }
  const now_ms = now.getTime()
  const at = { now_ms, awake: awakeTime(facts) }
  const window = { site_id, logger_id: null, ...hoursOfDays(days, now_ms) }
  const { net_amount, currency } = netOfDays(await readEarnings(db, { ...window, ...at }), days, at)
  const revenue = {
    revenue_date: today,
    revenue_timezone: timezone,
    net_revenue: net_amount,
    currency,
    revenue_at: now,
  }
  await putRow(db, 'site_status', { site_id }, revenue)
}

/** Time zone of the market of most contracts. */
async function readMarketZone(db: Queries, site_id: string): Promise<string> {
  const row = await db.queryOne<{ timezone: string }>(
    `select m.timezone from market_assignments a
     join markets m on m.market_code = coalesce(a.sold_market_code, a.market_code)
     where a.site_id = $1 group by m.timezone order by count(*) desc, m.timezone limit 1`,
    [site_id],
  )
  return row?.timezone ?? 'UTC'
}
