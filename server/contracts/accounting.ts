/**
 * Revenue of plants by hour: energy of each quarter hour times the contract price, minus fees.
 * Amounts are rounded once per plant and market period; a quarter hour gets the difference of two
 * rounded sums, and an hour is the sum of its quarter hours. So hours add up exactly, to the micro.
 */
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { contractPrice } from './contract-price.ts'
import type { Assignment } from './contract-store.ts'
import type { EnergyState, EnergyStateAt } from './energy-evidence.ts'
import type { RateAt } from './exchange-rates.ts'
import { converted, percentOf, sameCurrency, worth } from './money.ts'
import type { PlantHour } from './plant-quarters.ts'
import { microAt, type QuarterPrices } from './quarter-prices.ts'
import { monthlyFee, type Terms, type TermsOfFee } from './terms.ts'

export const moneyReasons = ['no_contract', 'no_price', 'no_exchange_rate'] as const
export type MoneyReason = (typeof moneyReasons)[number]

/** Why the revenue of an hour is unknown; `not_yet`: the hour is still running. */
export const accountReasons = [...moneyReasons, 'no_energy', 'not_yet'] as const
export type AccountReason = (typeof accountReasons)[number]

interface PlantLedger {
  logger_id: number
  /** Ascending; see `termsOf`. */
  terms: readonly Terms[]
  /** Length of the list that `TermsOfFee.place` points into. */
  fee_count: number
  /** Start of commercial service; energy of earlier trial runs is under no contract. */
  service_from_ms: number
  /** Ascending; hours without data may be absent. */
  hours: Iterable<PlantHour>
  /** Prices and currency of a market over the whole window. */
  marketOf: (market_code: string) => MarketPrices
  rateAt: RateAt
  /** Energy sold ahead for the quarter hour that starts then, Wh; null when unknown. */
  scheduledAt: ((start_ms: number) => number | null) | null
  energyStateAt: EnergyStateAt
}

export interface MarketPrices {
  currency: string
  day_ahead: QuarterPrices
  imbalance: QuarterPrices
}

/** Every whole hour of [from_ms, to_ms), except hours without data before the plant's service. */
export function* hourAccounts(
  ledger: PlantLedger,
  { from_ms, to_ms }: Span,
): Generator<HourAccount, undefined> {
  const settling = { ledger, period: noPeriod(), is_complete: false }
  const hours = ledger.hours[Symbol.iterator]()
  let next = hours.next()
  let nth_terms = 0
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += hour_ms) {
    while (!next.done && next.value.start_ms < start_ms) next = hours.next()
    const hour = !next.done && next.value.start_ms === start_ms ? next.value : undefined
    if (hour === undefined && start_ms < ledger.service_from_ms) continue
    const account = emptyAccount(ledger, start_ms, hour)
    const state = ledger.energyStateAt(start_ms, hour)
    settling.is_complete = state === 'known' || state === 'settling'
    while ((ledger.terms[nth_terms]?.to_ms ?? to_ms) <= start_ms) nth_terms += 1
    const end_ms = start_ms + hour_ms
    for (let at = nth_terms; (ledger.terms[at]?.from_ms ?? end_ms) < end_ms; at += 1) {
      const terms = ledger.terms[at]!
      // In time zones off by half an hour, contracts in two currencies may share an hour.
      if (account.currency !== null) {
        Object.assign(account, inCurrency(account, terms.assignment.currency, ledger.rateAt))
      }
      addPart(settling, account, { terms, hour })
    }
    if (account.assignment === null) {
      account.reason = 'no_contract'
      account.energy_wh = hour === undefined ? null : energyOf(hour)
    }
    if (account.reason !== null) account.gross = null
    addState(account, state)
    yield account
  }
}

/** Missing energy makes the revenue unknown; at night the energy and its revenue are 0. */
function addState(account: HourAccount, state: EnergyState): void {
  account.may_come = state === 'settling' || state === 'missing'
  account.misses_energy = state === 'missing' || state === 'lost'
  if (state === 'night') account.energy_wh ??= 0
  if (account.reason !== null) return
  if (state === 'night') account.gross ??= 0
  else if (state === 'not_yet') account.reason = 'not_yet'
  else if (account.misses_energy) account.reason = 'no_energy'
}

/** Revenue of a plant in one hour; amounts are in micro of the contract currency. */
export type HourAccount = ReturnType<typeof emptyAccount>

const emptyAccount = (
  { logger_id, fee_count }: PlantLedger,
  start_ms: number,
  hour: PlantHour | undefined,
) => ({
  logger_id,
  start_ms,
  /** The contract of the last quarter hour that has one. */
  assignment: null as Assignment | null,
  market_code: null as string | null,
  currency: null as string | null,
  /**
   * Known energy of the quarter hours under a contract, or of all quarter hours without any
   * contract; null when no quarter hour is known.
   */
  energy_wh: null as number | null,
  /** Null for every `reason` except `no_energy`, where the amount covers the known energy. */
  gross: null as number | null,
  /**
   * By place in the list of fees. Incomplete when `reason` is about prices; `no_energy` does not
   * reduce monthly fees.
   */
  fees: new Array<number>(fee_count).fill(0),
  /** Why the revenue of the hour is unknown. */
  reason: null as AccountReason | null,
  /** Some energy of the hour is unknown, whatever `reason` says. */
  misses_energy: false,
  /** Readings of the hour may still arrive. */
  may_come: false,
  /** Means over the quarter hours, micro per MWh: contract price and market price. */
  price_micro: null as number | null,
  market_price_micro: null as number | null,
  /** Energy of the quarter hours with a market price; the value is Wh times micro per MWh. */
  valued_wh: 0,
  market_value: 0,
  /** Energy delivered while the market price was below 0, and the amount paid for delivering it. */
  negative_wh: 0,
  negative_cost: 0,
  /** Null when unknown. */
  curtailed_wh: null as number | null,
  /** Value of the curtailed energy at the contract price: lost above 0, avoided below 0. */
  lost: 0,
  avoided: 0,
  /**
   * Deviation from the energy sold ahead, at imbalance price minus day-ahead price; null when
   * unknown.
   */
  imbalance: null as number | null,
  inverter_count: hour?.inverter_count ?? null,
  awake_covered_s: hour?.awake_covered_s ?? 0,
})

/** Running sums of the current market period under one set of terms and one price. */
type Period = ReturnType<typeof noPeriod>

const noPeriod = () => ({
  begin_ms: Number.NaN,
  terms: null as Terms | null,
  price: null as number | null,
  energy_wh: 0,
  gross: 0,
  fees: [] as number[],
})

interface Settling {
  ledger: PlantLedger
  period: Period
  /** All energy of the hour is known; without it there is no imbalance. */
  is_complete: boolean
}

interface Span {
  from_ms: number
  to_ms: number
}

function addPart(
  settling: Settling,
  account: HourAccount,
  { terms, hour }: { terms: Terms; hour: PlantHour | undefined },
): void {
  const { ledger, period, is_complete } = settling
  const begin_ms = Math.max(account.start_ms, terms.from_ms)
  const end_ms = Math.min(account.start_ms + hour_ms, terms.to_ms)
  const { currency } = terms.assignment
  const market = ledger.marketOf(terms.market_code)
  const rate = ledger.rateAt(market.currency, currency, begin_ms)
  account.assignment = terms.assignment
  account.market_code = terms.market_code
  account.currency = currency
  addMonthlyFees(ledger, account, terms, { from_ms: begin_ms, to_ms: end_ms })
  let [prices, market_prices] = [0, 0]
  for (let at_ms = begin_ms; at_ms < end_ms; at_ms += quarter_ms) {
    const market_price = priceAt(market.day_ahead, at_ms, rate)
    const price = contractPrice(terms.price, market_price)
    if (price === null) account.reason ??= rate === null ? 'no_exchange_rate' : 'no_price'
    prices += price ?? Number.NaN
    market_prices += market_price ?? Number.NaN
    const nth = (at_ms - account.start_ms) / quarter_ms
    const curtailed_wh = hour?.curtailed_wh[nth] ?? null
    if (curtailed_wh !== null) addCurtailed(account, curtailed_wh, price)
    const energy_wh = hour?.energy_wh[nth] ?? null
    if (energy_wh === null) continue
    settleFrom(period, periodAt(market.day_ahead, at_ms), terms, price)
    const imbalance = is_complete
      ? imbalanceAt(ledger, market, at_ms, { energy_wh, rate, market_price })
      : null
    addEnergy(settling, account, { terms, energy_wh, price, market_price, imbalance })
  }
  const quarters = (end_ms - begin_ms) / quarter_ms
  account.price_micro = Number.isNaN(prices) ? null : prices / quarters
  account.market_price_micro = Number.isNaN(market_prices) ? null : market_prices / quarters
}

function settleFrom(period: Period, begin_ms: number, terms: Terms, price: number | null): void {
  if (period.begin_ms === begin_ms && period.terms === terms && period.price === price) return
  period.begin_ms = begin_ms
  period.terms = terms
  period.price = price
  period.energy_wh = 0
  period.gross = 0
  period.fees.length = terms.fees.length
  period.fees.fill(0)
}

interface Quarter {
  terms: Terms
  energy_wh: number
  price: number | null
  market_price: number | null
  imbalance: number | null
}

function addEnergy(
  { ledger, period }: Settling,
  account: HourAccount,
  { terms, energy_wh, price, market_price, imbalance }: Quarter,
): void {
  account.energy_wh = (account.energy_wh ?? 0) + energy_wh
  if (imbalance !== null) account.imbalance = (account.imbalance ?? 0) + imbalance
  period.energy_wh += energy_wh
  const until = price === null ? period.gross : worth(period.energy_wh, price)
  const gross = until - period.gross
  period.gross = until
  account.gross = (account.gross ?? 0) + gross
  for (const [nth, fee] of terms.fees.entries()) {
    const amount = energyFee(period, fee, nth)
    // The actual cost of the deviation replaces the default rate per MWh.
    if (fee.basis === 'imbalance' && imbalance !== null) account.fees[fee.place]! -= imbalance
    else if (amount !== 0) addFee(ledger, account, fee, amount)
  }
  if (market_price === null) return
  account.valued_wh += energy_wh
  account.market_value += energy_wh * market_price
  if (market_price >= 0) return
  account.negative_wh += energy_wh
  if (gross < 0) account.negative_cost -= gross
}

function energyFee(period: Period, { basis, value }: TermsOfFee, nth: number): number {
  if (basis === 'per_month' || basis === 'per_mw_month') return 0
  const until =
    basis === 'percent' ? percentOf(period.gross, value) : worth(period.energy_wh, value)
  const amount = until - period.fees[nth]!
  period.fees[nth] = until
  return amount
}

function addMonthlyFees(ledger: PlantLedger, account: HourAccount, terms: Terms, span: Span): void {
  for (const fee of terms.fees) {
    if (fee.basis !== 'per_month' && fee.basis !== 'per_mw_month') continue
    addFee(ledger, account, fee, monthlyFee(fee.value, terms, span))
  }
}

function addFee(
  ledger: PlantLedger,
  account: HourAccount,
  { basis, currency, place }: TermsOfFee,
  amount: number,
): void {
  // A percentage of an amount is already in the currency of that amount.
  const rate =
    basis === 'percent' || currency === null
      ? sameCurrency
      : ledger.rateAt(currency, account.currency!, account.start_ms)
  if (rate === null) account.reason ??= 'no_exchange_rate'
  else account.fees[place]! += converted(amount, rate)
}

function imbalanceAt(
  { scheduledAt }: PlantLedger,
  market: MarketPrices,
  at_ms: number,
  quarter: Pick<Quarter, 'energy_wh' | 'market_price'> & { rate: number | null },
): number | null {
  const { energy_wh, market_price, rate } = quarter
  if (scheduledAt === null || market_price === null) return null
  const sold_wh = scheduledAt(at_ms)
  const price = priceAt(market.imbalance, at_ms, rate)
  if (sold_wh === null || price === null) return null
  return worth(energy_wh - sold_wh, price - market_price)
}

/** Price in the contract currency; null without a price or an exchange rate. */
function priceAt(prices: QuarterPrices, at_ms: number, rate: number | null): number | null {
  const micro = microAt(prices, at_ms)
  return micro === null || rate === null ? null : converted(micro, rate)
}

/** Start of the market period; of the quarter hour itself when no period is known. */
function periodAt(prices: QuarterPrices, at_ms: number): number {
  const begin_ms = prices.period_ms[(at_ms - prices.from_ms) / quarter_ms] ?? Number.NaN
  return Number.isNaN(begin_ms) ? at_ms : begin_ms
}

const energyOf = ({ energy_wh }: PlantHour): number | null =>
  energy_wh.reduce((sum, wh) => (wh === null ? sum : (sum ?? 0) + wh), null)

/** Without a price the loss is unknown; the hour then already has its `reason`. */
function addCurtailed(account: HourAccount, curtailed_wh: number, price: number | null): void {
  account.curtailed_wh = (account.curtailed_wh ?? 0) + curtailed_wh
  if (price === null || curtailed_wh === 0) return
  const amount = worth(curtailed_wh, price)
  if (amount > 0) account.lost += amount
  else account.avoided -= amount
}

/**
 * The hour in another currency, at the exchange rate of its day; `no_exchange_rate` without a rate.
 */
export function inCurrency(hour: HourAccount, currency: string, rateAt: RateAt): HourAccount {
  if (hour.currency === null || hour.currency === currency) return hour
  const rate = rateAt(hour.currency, currency, hour.start_ms)
  const is_priced = hour.reason === null || hour.reason === 'no_energy'
  const into = (amount: number) => converted(amount, rate ?? sameCurrency)
  const price = (micro: number | null) =>
    micro === null || rate === null ? null : (micro * rate) / sameCurrency
  return {
    ...hour,
    currency,
    reason: rate === null && is_priced ? 'no_exchange_rate' : hour.reason,
    gross: hour.gross === null || rate === null ? null : into(hour.gross),
    fees: hour.fees.map(into),
    price_micro: price(hour.price_micro),
    market_price_micro: price(hour.market_price_micro),
    market_value: (hour.market_value * (rate ?? sameCurrency)) / sameCurrency,
    negative_cost: into(hour.negative_cost),
    lost: into(hour.lost),
    avoided: into(hour.avoided),
    imbalance: hour.imbalance === null || rate === null ? null : into(hour.imbalance),
  }
}
