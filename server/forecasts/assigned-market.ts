/** Market that a site or plant is assigned to, whose gate closure bounds day-ahead forecasts. */
import type { Queries } from '../storage/database.ts'
import { type Gate, usualGate } from './gate-closure.ts'

export interface AssignedMarket extends Gate {
  market_code: string
  currency: string
  resolution_minutes: number
}

const assigned = `
  select asked.date, m.*
  from unnest($2::date[]) as asked (date), lateral (
    select m.market_code, m.timezone, m.currency, m.resolution_minutes,
           coalesce(m.gate_closure_local, $3) as gate_closure_local
    from market_assignments a
    join loggers l on l.site_id = a.site_id and l.logger_id = a.logger_id
    join markets m on m.market_code = coalesce(a.sold_market_code, a.market_code)
    where a.site_id = $1 and ($4::int is null or a.logger_id = $4)
      and a.valid_from <= asked.date and (a.valid_to is null or a.valid_to >= asked.date)
      and (l.retired_at is null or l.retired_at > asked.date)
    group by m.market_code
    order by sum(l.rated_power_kw) desc, m.market_code
    limit 1
  ) as m
  order by asked.date`

/**
 * The market of each day, `YYYY-MM-DD`, that has one, ascending. When plants in service are
 * assigned to several markets, it is the one with most rated power.
 */
export async function assignedMarkets(
  db: Queries,
  of: { site_id: string; logger_id: number | null },
  dates: readonly string[],
): Promise<{ date: string; market: AssignedMarket }[]> {
  const values = [of.site_id, dates, usualGate.gate_closure_local, of.logger_id]
  const rows = await db.query<AssignedMarket & { date: string }>(assigned, values)
  return rows.map(({ date, ...market }) => ({ date, market }))
}

/** null without an assigned market on that day. */
export async function assignedMarket(
  db: Queries,
  of: { site_id: string; logger_id: number | null },
  date: string,
): Promise<AssignedMarket | null> {
  const [found] = await assignedMarkets(db, of, [date])
  return found?.market ?? null
}

/** Gate closure of the market assigned on that day; `usualGate` without one. */
export async function gateOf(
  db: Queries,
  of: { site_id: string; logger_id: number | null },
  date: string,
): Promise<Gate> {
  return (await assignedMarket(db, of, date)) ?? usualGate
}
