/** Revenue as records of the API: a summary of a window, and hour by hour. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import { type HourAccount, inCurrency } from '../contracts/accounting.ts'
import type { RateSpan } from '../contracts/exchange-rates.ts'
import type { Ledger, PlantAccounts } from '../contracts/ledger.ts'
import { majorUnits } from '../contracts/money.ts'
import { addHour, noSums, type Sums } from '../contracts/sums.ts'
import { asciiText } from '../http/ascii-text.ts'
import type { spanMeta } from '../http/windows.ts'
import type { Arbitrage } from './arbitrage.ts'
import {
  addCoverage,
  type Coverage,
  completenessPct,
  dayOf,
  isPartial,
  knownNetAmount,
  kwhOrNull,
  metricsOf,
  type Now,
  noCoverage,
  price,
  priceStatus,
  ratesOf,
} from './metrics.ts'

interface Days {
  /** YYYY-MM-DD, both inclusive. */
  start: string
  end: string
  timezone: string
}

/** The hours of the days, up to and including the running hour. */
export function hoursOfDays({ start, end, timezone }: Days, now_ms: number) {
  const { from_ms } = hoursOfLocalDate(start, timezone)
  const until_ms = Math.ceil(now_ms / hour_ms) * hour_ms
  const last = hoursOfLocalDate(end, timezone)
  return { from_ms, to_ms: Math.max(from_ms, Math.min(last.to_ms, until_ms)) }
}

interface Account {
  sums: Sums
  coverage: Coverage
}

const noAccount = (): Account => ({ sums: noSums(), coverage: noCoverage() })

/** Empty sums for each day that has started, ascending. */
function startedDays(days: Days, { now_ms }: Now): Map<string, Sums> {
  const { from_ms, to_ms } = hoursOfDays(days, now_ms)
  const sums = new Map<string, Sums>()
  if (to_ms <= from_ms) return sums
  const last = dateIn(days.timezone)(to_ms - hour_ms)
  for (let date = days.start; date <= last; date = addDays(date, 1)) sums.set(date, noSums())
  return sums
}

const dateIn = (timezone: string) => (start_ms: number) =>
  timezone === 'UTC' ? utcDate(start_ms) : localDate(start_ms, timezone)

/** Sums by plant, by day (added to `days`) and in total. */
export function accountsOf(
  { plants, currency, rateAt }: Ledger,
  { days, dateAt }: { days: ReadonlyMap<string, Sums>; dateAt(start_ms: number): string },
  now: Now,
) {
  const all = noAccount()
  const of_plants = plants.map((plant) => {
    const of_plant = noAccount()
    const fee_ids = plant.fees.map(({ fee_id }) => fee_id)
    for (const hour of plant.hours()) {
      const awake_s = now.awake(hour.start_ms, now.now_ms)
      const account = currency === null ? hour : inCurrency(hour, currency, rateAt)
      const of_day = days.get(dateAt(hour.start_ms))!
      for (const sums of [all.sums, of_plant.sums, of_day]) addHour(sums, account, fee_ids)
      for (const { coverage } of [all, of_plant]) {
        addCoverage(coverage, awake_s, hour, plant.inverter_count)
      }
    }
    return { plant, ...of_plant }
  })
  return { all, of_plants }
}

export function summaryOf(
  ledger: Ledger,
  arbitrage: Arbitrage,
  { start, end, timezone, logger_id }: Days & { logger_id: number | null },
  now: Now,
) {
  const { plants, currency, rates } = ledger
  const days = startedDays({ start, end, timezone }, now)
  const { all, of_plants } = accountsOf(ledger, { days, dateAt: dateIn(timezone) }, now)
  const fees = plants[0]?.fees ?? []
  const { to_ms: end_ms } = hoursOfLocalDate(end, timezone)
  const metricsOfPlant = ({ sums, coverage }: Account, plant_id: number | null) =>
    metricsOf(sums, {
      fees,
      coverage,
      end_ms,
      now_ms: now.now_ms,
      currency: currency ?? arbitrage.currency,
      arbitrage: arbitrage.of(plant_id),
    })
  const total = metricsOfPlant(all, null)
  const is_pending =
    all.sums.hours_under_contract > 0 || hoursOfLocalDate(start, timezone).from_ms >= now.now_ms
  const reason_without_hours = is_pending ? 'not_yet' : 'no_contract'
  return {
    start_date: start,
    end_date: end,
    timezone,
    logger_id,
    ...total,
    reason: total.unknown[0]?.reason ?? (all.sums.known_hours > 0 ? null : reason_without_hours),
    by_logger:
      logger_id !== null
        ? null
        : of_plants.map(({ plant, ...account }) => ({
            logger_id: plant.logger_id,
            logger_name: plant.logger_name,
            ...metricsOfPlant(account, plant.logger_id),
          })),
    exchange_rates: ratesOf(joined(rates, arbitrage.rates)),
    by_day: [...days].map(([date, sums]) => dayOf(date, sums)),
    calculated_at: new Date(now.now_ms).toISOString(),
  }
}

/** Net amount of days, or its known part; null without a contract or if nothing is known. */
export function netOfDays(ledger: Ledger, days: Days, now: Now) {
  const dateAt = dateIn(days.timezone)
  const { sums } = accountsOf(ledger, { days: startedDays(days, now), dateAt }, now).all
  const has_contract = sums.hours_under_contract > 0
  return has_contract
    ? { net_amount: knownNetAmount(sums), currency: ledger.currency }
    : { net_amount: null, currency: null }
}

/** Both lists of rates, with each pair of currencies once. */
function joined(rates: readonly RateSpan[], others: readonly RateSpan[]): RateSpan[] {
  const pairOf = ({ currency, into }: RateSpan) => `${currency} ${into}`
  const known = new Set(rates.map(pairOf))
  return [...rates, ...others.filter((rate) => !known.has(pairOf(rate)))]
}

/** Hours by time and plant, computed on demand. */
export function* earningsHours({ plants }: Ledger, now: Now): Generator<EarnedHour> {
  const textOf = hourTexts()
  const accounts = plants.map((plant) => {
    const hours = plant.hours()
    return { plant, hours, next: hours.next().value }
  })
  // Plants are in service at different times, so their hours are merged by start.
  for (;;) {
    const start_ms = Math.min(...accounts.map(({ next }) => next?.start_ms ?? Infinity))
    if (start_ms === Infinity) return
    for (const account of accounts) {
      if (account.next?.start_ms !== start_ms) continue
      yield hourOf(account.next, account.plant, now, textOf)
      account.next = account.hours.next().value
    }
  }
}

const items_at_once = 24

/** The JSON answer, written in chunks: all items of a year at once would take megabytes. */
export function hoursText(ledger: Ledger, now: Now, span: ReturnType<typeof spanMeta>): Buffer {
  const text = asciiText()
  text.addText('{"data":[')
  let count = 0
  for (const items of chunksOf(earningsHours(ledger, now), items_at_once)) {
    if (count > 0) text.addText(',')
    text.addText(JSON.stringify(items).slice(1, -1))
    count += items.length
  }
  const meta = JSON.stringify({ count, ...span, exchange_rates: ratesOf(ledger.rates) })
  text.addText(`],"meta":${meta}}`)
  return text.take()
}

function* chunksOf<Item>(items: Iterable<Item>, length: number): Generator<Item[]> {
  let chunk: Item[] = []
  for (const item of items) {
    if (chunk.push(item) < length) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

/** Formats whole hours as ISO 8601, ten times faster than Date for hours in order. */
function hourTexts(): (hour: number) => string {
  let known = { day: Number.NaN, date: '' }
  return (hour) => {
    const day = Math.floor(hour / day_ms)
    if (day !== known.day) known = { day, date: utcDate(hour) }
    return `${known.date}T${String((hour / hour_ms) % 24).padStart(2, '0')}:00:00.000Z`
  }
}

function completenessOfHour(
  hour: HourAccount,
  usual_count: number,
  { now_ms, awake }: Now,
): number | null {
  const { awake_covered_s, inverter_count } = hour
  const most_s = 3600 * (inverter_count ?? usual_count)
  // Full coverage needs no daylight computation.
  if (awake_covered_s > 0 && awake_covered_s >= most_s) return 100
  const coverage = noCoverage()
  addCoverage(coverage, awake(hour.start_ms, now_ms), hour, usual_count)
  return completenessPct(coverage)
}

type EarnedHour = ReturnType<typeof hourOf>

function hourOf(
  hour: HourAccount,
  { inverter_count }: PlantAccounts,
  { now_ms, awake }: Now,
  textOf: (hour: number) => string,
) {
  const { start_ms, gross, reason, curtailed_wh } = hour
  const end_ms = start_ms + hour_ms
  const completeness_pct = completenessOfHour(hour, inverter_count, { now_ms, awake })
  const fees = hour.fees.reduce((sum, amount) => sum + amount, 0)
  const is_priced = reason === null || reason === 'no_energy'
  const is_known = is_priced && gross !== null
  const is_settled = is_priced && !hour.may_come
  return {
    start_at: textOf(start_ms),
    end_at: textOf(end_ms),
    logger_id: hour.logger_id,
    market_code: hour.market_code,
    energy_kwh: kwhOrNull(hour.energy_wh),
    price_per_mwh: price(hour.price_micro),
    market_price_per_mwh: price(hour.market_price_micro),
    gross_amount: is_known ? majorUnits(gross) : null,
    fees_amount: is_priced ? majorUnits(fees) : null,
    net_amount: is_known ? majorUnits(gross - fees) : null,
    curtailed_energy_kwh: kwhOrNull(curtailed_wh),
    lost_amount: is_priced && curtailed_wh !== null ? majorUnits(hour.lost - hour.avoided) : null,
    currency: hour.currency,
    price_status: priceStatus(is_settled, end_ms, now_ms),
    reason,
    completeness_pct,
    is_partial: isPartial(end_ms <= now_ms, completeness_pct),
  }
}
