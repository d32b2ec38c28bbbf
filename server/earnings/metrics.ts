import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import type { HourAccount } from '../contracts/accounting.ts'
import type { Fee } from '../contracts/contract-store.ts'
import type { RateSpan } from '../contracts/exchange-rates.ts'
import { type Micro, majorUnits, sameCurrency } from '../contracts/money.ts'
import { amountsSum, type Sums } from '../contracts/sums.ts'
import type { AwakeTime } from '../plant/daylight.ts'
import type { Arbitrage } from './arbitrage.ts'

/** Readings of an outage, and counters over gaps of up to a week, rarely arrive later than this. */
const late_data_ms = 14 * day_ms

/** Coverage from which an hour counts as complete. */
const complete_ratio = 0.95

export interface Now {
  now_ms: number
  awake: AwakeTime
}

/** Inverter seconds in daylight, null when unknown, and those among them that were measured. */
export interface Coverage {
  demanded_s: number | null
  covered_s: number
}

export const noCoverage = (): Coverage => ({ demanded_s: 0, covered_s: 0 })

/** Adds an hour; `awake_s` are its daylight seconds, null when unknown. */
export function addCoverage(
  coverage: Coverage,
  awake_s: number | null,
  { awake_covered_s, inverter_count }: HourAccount,
  usual_count: number,
): void {
  coverage.covered_s += awake_covered_s
  coverage.demanded_s =
    coverage.demanded_s === null || awake_s === null
      ? null
      : coverage.demanded_s + awake_s * (inverter_count ?? usual_count)
}

export function completenessPct({ demanded_s, covered_s }: Coverage): number | null {
  if (demanded_s === null || demanded_s === 0) return null
  return rounded(100 * Math.min(1, covered_s / demanded_s), 2)
}

export const isPartial = (is_over: boolean, completeness_pct: number | null): boolean =>
  !is_over || (completeness_pct !== null && completeness_pct < 100 * complete_ratio)

const kwh = (wh: number): number => wh / 1000
export const kwhOrNull = (wh: number | null): number | null => (wh === null ? null : kwh(wh))

/** A computed price per MWh, to four decimals. */
export const price = (micro: number | null): number | null =>
  micro === null ? null : rounded(micro / 1e6, 4)

interface MetricsInput {
  currency: string | null
  arbitrage: ReturnType<Arbitrage['of']>
  fees: readonly Fee[]
  coverage: Coverage
  end_ms: number
  now_ms: number
}

/** Fees are known when every price and exchange rate is. */
const isCharged = ({ charged_hours, unknown }: Sums): boolean =>
  charged_hours > 0 && [...unknown.values()].every(({ reason }) => reason === 'no_energy')

/** Gross is known when fees are and some energy is. */
const isKnown = (sums: Sums): boolean =>
  isCharged(sums) && (sums.unknown.size === 0 || sums.known_wh > 0)

/** Only night hours are known, so 0 is not the energy of the whole time. */
const hasOnlyNights = (energy_wh: number | null, { missing_hours }: Sums): boolean =>
  energy_wh === 0 && missing_hours > 0

const soldWh = (sums: Sums): number | null =>
  hasOnlyNights(sums.energy_wh, sums) ? null : sums.energy_wh

function amountsOf(sums: Sums) {
  const fees = amountsSum(sums.fees.values())
  return {
    gross_amount: isKnown(sums) ? majorUnits(sums.gross) : null,
    fees_amount: isCharged(sums) ? majorUnits(fees) : null,
    net_amount: isKnown(sums) ? majorUnits(sums.gross - fees) : null,
  }
}

const hasKnown = (sums: Sums): boolean =>
  sums.known_hours > 0 && !hasOnlyNights(sums.known_wh, sums)

/** Net amount, or its known part, in major units; null if nothing is known. */
export const knownNetAmount = (sums: Sums): number | null =>
  isKnown(sums) || hasKnown(sums) ? majorUnits(sums.gross - amountsSum(sums.fees.values())) : null

export function metricsOf(
  sums: Sums,
  { currency, arbitrage, fees, coverage, end_ms, now_ms }: MetricsInput,
) {
  const has_contract = sums.hours_under_contract > 0
  const sold_wh = soldWh(sums)
  const has_arbitrage = arbitrage.metrics.bess_arbitrage_amount !== null
  const is_known = isKnown(sums)
  const money = (amount: Micro) => (is_known ? majorUnits(amount) : null)
  const fees_sum = amountsSum(sums.fees.values())
  const base =
    sums.market_price_hours > 0 ? sums.market_price_micro / sums.market_price_hours : null
  const known_base =
    sums.base_price_hours > 0 ? sums.base_price_micro / sums.base_price_hours : null
  const valued = sums.valued_wh > 0 ? sums.market_value / sums.valued_wh : null
  const is_settled =
    has_contract &&
    !sums.may_come &&
    arbitrage.is_settled &&
    [...sums.unknown.values()].every(({ reason }) => reason === 'no_energy')
  return {
    currency: has_contract || has_arbitrage ? currency : null,
    energy_sold_kwh: kwhOrNull(sold_wh),
    energy_without_contract_kwh: kwh(sums.unsold_wh),
    ...amountsOf(sums),
    fees: fees.flatMap((fee) => {
      const amount = sums.fees.get(fee.fee_id)
      if (amount === undefined) return []
      return [{ ...feeTerms(fee), amount: isCharged(sums) ? majorUnits(amount) : null }]
    }),
    average_price_per_mwh:
      is_known && sums.known_wh > 0 ? price(perMwh(sums.gross, sums.known_wh)) : null,
    market_base_price_per_mwh: price(base),
    capture_rate_pct:
      known_base !== null && known_base > 0 && valued !== null
        ? rounded((100 * valued) / known_base, 2)
        : null,
    negative_price_energy_kwh:
      sold_wh === null || sums.market_price_hours === 0 ? null : kwh(sums.negative_wh),
    negative_price_cost_amount: money(sums.negative_cost),
    curtailed_energy_kwh: kwhOrNull(sums.curtailed_wh),
    curtailment_loss_amount: sums.curtailed_wh === null ? null : money(sums.lost),
    curtailment_avoided_cost_amount: sums.curtailed_wh === null ? null : money(sums.avoided),
    ...arbitrage.metrics,
    imbalance_amount: sums.imbalance === null ? null : money(sums.imbalance),
    price_status: priceStatus(is_settled, end_ms, now_ms),
    data_completeness_pct: completenessPct(coverage),
    known: hasKnown(sums)
      ? {
          energy_kwh: kwh(sums.known_wh),
          gross_amount: majorUnits(sums.gross),
          fees_amount: majorUnits(fees_sum),
          net_amount: majorUnits(sums.gross - fees_sum),
        }
      : null,
    unknown: [...sums.unknown.values()]
      .toSorted((a, b) => a.first_ms - b.first_ms)
      .map(({ reason, market_code, first_ms, last_ms, hours }) => ({
        reason,
        market_code,
        start_at: new Date(first_ms).toISOString(),
        end_at: new Date(last_ms + hour_ms).toISOString(),
        hour_count: hours,
      })),
  }
}

/** Status of revenue up to `end_ms`; settled revenue can change only by late readings. */
export const priceStatus = (is_settled: boolean, end_ms: number, now_ms: number) =>
  is_settled && end_ms <= now_ms - late_data_ms ? ('final' as const) : ('provisional' as const)

export const ratesOf = (rates: readonly RateSpan[]) =>
  rates.map(({ currency, into, rate, ...dates }) => ({
    currency,
    base_currency: into,
    rate: rate / sameCurrency,
    ...dates,
  }))

const perMwh = (amount: Micro, energy_wh: number): number => (Number(amount) / energy_wh) * 1e6

export const feeTerms = ({ code, name, basis, value, currency }: Fee) => ({
  code,
  name,
  basis,
  rate: Number(value),
  rate_currency: currency,
})

export const dayOf = (date: string, sums: Sums) => ({
  date,
  energy_kwh: kwhOrNull(soldWh(sums)),
  ...amountsOf(sums),
})
