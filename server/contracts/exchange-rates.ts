/** Exchange rates and the days on which each applies. */
import { day_ms } from '@heliograph/domain/durations'
import { addDays, utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import { exactRate, sameCurrency } from './money.ts'

/** Units of `into` per unit of `currency`, as `exactRate`; null when unknown. */
export type RateAt = (currency: string, into: string, time_ms: number) => number | null

/** A rate that applies on consecutive UTC days. */
export interface RateSpan {
  currency: string
  into: string
  /** Units of `into` per unit of `currency`, as `exactRate`. */
  rate: number
  /** YYYY-MM-DD of the newer of the two euro rates that it is derived from. */
  as_of_date: string
  /** First and last day, inclusive. */
  start_date: string
  end_date: string
}

interface EuroRate {
  currency: string
  per_eur: number
  /** YYYY-MM-DD */
  valid_from: string
}

/** Rates of pairs such as `EUR BGN` on the days of [from_ms, to_ms) that have one. */
export async function readRateSpans(
  db: Queries,
  pairs: Iterable<string>,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<RateSpan[]> {
  const wanted = [...pairs].map((pair) => pair.split(' ') as [string, string])
  if (wanted.length === 0 || to_ms <= from_ms) return []
  const rates = await db.query<EuroRate>(
    `select currency, per_eur::float8 as per_eur, valid_from from exchange_rates
     where currency = any($1) and valid_from < $2 order by valid_from`,
    [wanted.flat(), utcDate(Math.ceil(to_ms / day_ms) * day_ms)],
  )
  return wanted.flatMap((pair) => spansOf(pair, rates, { from_ms, to_ms }))
}

function spansOf(
  [currency, into]: readonly [string, string],
  rates: readonly EuroRate[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): RateSpan[] {
  const [first, last] = [utcDate(from_ms), utcDate(to_ms - 1)]
  const of_pair = rates.filter((rate) => rate.currency === currency || rate.currency === into)
  const starts = of_pair.map(({ valid_from }) => (valid_from < first ? first : valid_from))
  const dates = [...new Set([first, ...starts])].filter((date) => date <= last).sort()
  return dates.flatMap((start_date, nth) => {
    const on = (wanted: string) =>
      wanted === 'EUR'
        ? { per_eur: 1, valid_from: '' }
        : of_pair.findLast((rate) => rate.currency === wanted && rate.valid_from <= start_date)
    const [of, to] = [on(currency), on(into)]
    if (of === undefined || to === undefined) return []
    const next = dates[nth + 1]
    return {
      currency,
      into,
      rate: exactRate(to.per_eur / of.per_eur),
      as_of_date: of.valid_from > to.valid_from ? of.valid_from : to.valid_from,
      start_date,
      end_date: next === undefined ? last : addDays(next, -1),
    }
  })
}

export function rateAtOf(spans: readonly RateSpan[]): RateAt {
  const known = new Map<string, number>()
  for (const { currency, into, rate, start_date, end_date } of spans) {
    for (let day = Date.parse(start_date); day <= Date.parse(end_date); day += day_ms) {
      known.set(`${currency} ${into} ${day}`, rate)
    }
  }
  return (currency, into, time_ms) =>
    currency === into
      ? sameCurrency
      : (known.get(`${currency} ${into} ${utcDayStart(time_ms)}`) ?? null)
}
