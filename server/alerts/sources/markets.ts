/** Negative and missing day-ahead prices of the markets in which plants of the site sell. */
import { hour_ms } from '@heliograph/domain/durations'
import { localDate } from '@heliograph/domain/local-day'
import { addDays } from '@heliograph/domain/utc-day'
import { deliveryDay, holesIn, type PeriodSpan, type PricePeriod } from '../../markets/periods.ts'
import { type Market, marketColumns, readPrices } from '../../markets/price-store.ts'
import { publicationTime } from '../../markets/statistics.ts'
import type { AlertSource, Finding, SourceContext } from '../finding.ts'

export const findMarkets: AlertSource = async (context) => {
  const { db, settings, now } = context
  const { price_negative, prices_missing } = settings.rules
  const findings: Finding[] = []
  const below = price_negative.thresholds.price_per_mwh
  const late_ms = hour_ms * prices_missing.thresholds.late_hours
  for (const market of await readMarkets(context)) {
    const span = watchedSpan(market, now)
    const periods = await readPrices(db, { ...market, kind: 'day_ahead' }, span)
    findings.push(...negativeNow(market, periods, { now, below }))
    findings.push(...missing(market, periods, { now, late_ms }))
  }
  return { findings, isUnknown: () => false }
}

type WatchedMarket = Pick<
  Market,
  'market_code' | 'currency' | 'timezone' | 'publication_local' | 'name'
>

/**
 * Markets that pay plants in service and have prices: fetched ones, or ones imported within the
 * last week.
 */
const readMarkets = ({ db, site, now }: SourceContext) =>
  db.query<WatchedMarket>(
    `select ${marketColumns} from markets m
     where market_code in (
       select coalesce(a.sold_market_code, a.market_code)
       from market_assignments a
       join loggers l on l.site_id = a.site_id and l.logger_id = a.logger_id
       where a.site_id = $1 and l.retired_at is null
         and a.valid_from <= ($2::timestamptz at time zone m.timezone)::date
         and coalesce(a.valid_to, 'infinity') >= ($2::timestamptz at time zone m.timezone)::date
     ) and (source is not null or exists (
       select from market_prices p
       where p.market_code = m.market_code and p.kind = 'day_ahead' and p.is_current
         and p.start_at > $2::timestamptz - interval '7 days'
     ))
     order by market_code`,
    [site.site_id, now],
  )

/** From yesterday, to find when a price became negative, to the end of tomorrow. */
function watchedSpan({ timezone }: WatchedMarket, now: Date): PeriodSpan {
  const today = localDate(now.getTime(), timezone)
  return {
    start_ms: deliveryDay(addDays(today, -1), timezone).start_ms,
    end_ms: deliveryDay(addDays(today, 1), timezone).end_ms,
  }
}

const micro = 1e6
const at = (time_ms: number) => new Date(time_ms).toISOString().slice(0, 16).replace('T', ' ')

/** The present period below the threshold, with its start and end; pure. */
export function negativeNow(
  { market_code, currency }: WatchedMarket,
  periods: readonly PricePeriod[],
  { now, below }: { now: Date; below: number },
): Finding[] {
  const now_ms = now.getTime()
  const nth = periods.findIndex(({ start_ms, end_ms }) => start_ms <= now_ms && now_ms < end_ms)
  const isLow = (one: PricePeriod | undefined) => one && one.price_micro < micro * below
  if (!isLow(periods[nth])) return []
  const joins = (a: number, b: number) => periods[a]?.end_ms === periods[b]?.start_ms
  let [first, last] = [nth, nth]
  while (isLow(periods[first - 1]) && joins(first - 1, first)) first -= 1
  while (isLow(periods[last + 1]) && joins(last, last + 1)) last += 1
  const lowest = Math.min(...periods.slice(nth, last + 1).map(({ price_micro }) => price_micro))
  const unit = `${currency}/MWh`
  const value = periods[nth]!.price_micro / micro
  return [
    {
      code: 'price_negative',
      source_type: 'market',
      source_id: market_code,
      since: new Date(periods[first]!.start_ms),
      message:
        `The price of ${market_code} is ${value} ${unit}, below ${below} until ` +
        `${at(periods[last]!.end_ms)} UTC; the lowest is ${lowest / micro}.`,
      value,
      threshold: below,
      unit,
    },
  ]
}

/** Missing prices from now to the end of the last day that is due; pure. */
export function missing(
  market: WatchedMarket,
  periods: readonly PeriodSpan[],
  { now, late_ms }: { now: Date; late_ms: number },
): Finding[] {
  const { market_code, timezone } = market
  const now_ms = now.getTime()
  const today = localDate(now_ms, timezone)
  const dueAt = (date: string) => publicationTime(market, date) + late_ms
  const due = [today, addDays(today, 1)].filter((date) => dueAt(date) <= now_ms)
  const holes = due.flatMap((date) => {
    const { start_ms, end_ms } = deliveryDay(date, timezone)
    return holesIn(periods, { start_ms: Math.max(start_ms, now_ms), end_ms })
  })
  const [first, last] = [holes[0], holes.at(-1)]
  if (!first || !last) return []
  const missing_h = holes.reduce((sum, hole) => sum + hole.end_ms - hole.start_ms, 0) / hour_ms
  return [
    {
      code: 'prices_missing',
      source_type: 'market',
      source_id: market_code,
      since: new Date(dueAt(localDate(first.start_ms, timezone))),
      message:
        `Day-ahead prices of ${market_code} are missing for ${Math.round(10 * missing_h) / 10} hours ` +
        `between ${at(first.start_ms)} and ${at(last.end_ms)} UTC.`,
    },
  ]
}
