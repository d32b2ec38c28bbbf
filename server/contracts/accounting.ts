/**
 * What plants earn, hour by hour: energy of quarter hours times the price that the contract pays in
 * them, less fees. Amounts are rounded once for each plant and market period (what belongs to one
 * of its quarters is the difference of rounded sums), and an hour is the sum of its quarters; so
 * hours add up to any sum of them, to the micro.
 */
import { hour_ms } from '../telemetry/touched-hours.ts'
import { contractPrice } from './contract-price.ts'
import type { Assignment } from './contract-store.ts'
import type { EnergyState, EnergyStateAt } from './energy-evidence.ts'
import type { RateAt } from './exchange-rates.ts'
import { converted, percentOf, sameCurrency, worth } from './money.ts'
import { type PlantHour, quarter_ms } from './plant-quarters.ts'
import type { QuarterPrices } from './quarter-prices.ts'
import { inCurrency } from './sums.ts'
import { ofMonth, type Terms, type TermsOfFee } from './terms.ts'

/** Why what energy is worth is not known. */
export const moneyReasons = ['no_contract', 'no_price', 'no_exchange_rate'] as const
export type MoneyReason = (typeof moneyReasons)[number]

/** And why that of an hour is not: `not_yet` while the hour is running. */
export const accountReasons = [...moneyReasons, 'no_energy', 'not_yet'] as const
export type AccountReason = (typeof accountReasons)[number]

interface PlantBooks {
  logger_id: number
  /** Ascending; see `termsOf`. */
  terms: readonly Terms[]
  /** How many fees the places in the terms are of. */
  fee_count: number
  /** When the plant was commissioned: what came of it before, on trial, is under no contract. */
  service_from_ms: number
  /** Ascending; hours without data may be absent. */
  hours: Iterable<PlantHour>
  /** Day-ahead and imbalance prices of a market and its currency, over the whole window. */
  marketOf: (market_code: string) => MarketPrices
  rateAt: RateAt
  /** Energy in Wh that was sold ahead of the quarter that begins then; null where not known. */
  scheduledAt: ((start_ms: number) => number | null) | null
  energyStateAt: EnergyStateAt
}

export interface MarketPrices {
  currency: string
  day_ahead: QuarterPrices
  imbalance: QuarterPrices
}

/** An hour of a plant; amounts are in micro of the currency of its contract. */
export interface HourAccount {
  logger_id: number
  start_ms: number
  /** The contract of its last quarter that has one. */
  assignment: Assignment | null
  market_code: string | null
  currency: string | null
  /** Of the quarters under a contract, of all where there is none; null where none is known. */
  energy_wh: number | null
  /** Null for the reason below; but for `no_energy` that of the energy that is known. */
  gross: number | null
  /** By place; all that is due, but for a reason of prices: `no_energy` spares no monthly fee. */
  fees: number[]
  /** What keeps the money of the hour from being known. */
  reason: AccountReason | null
  /** Some of its energy is not known, also where there is another reason. */
  misses_energy: boolean
  /** Readings of it may still come. */
  may_come: boolean
  /** Means over the quarters, micro per MWh: of the contract, and of the market. */
  price_micro: number | null
  market_price_micro: number | null
  /** Of quarters with a market price: their energy, and Wh times micro per MWh, for means only. */
  valued_wh: number
  market_value: number
  /** While the market price was below 0: what was delivered, and what was paid for delivering. */
  negative_wh: number
  negative_cost: number
  /** Null where it is not known. */
  curtailed_wh: number | null
  /** At the price of the contract: what curtailment lost, and what it kept from being paid. */
  lost: number
  avoided: number
  /** Deviation from what was sold ahead, at imbalance less day-ahead price; null: not known. */
  imbalance: number | null
  inverter_count: number | null
  awake_covered_s: number
}

/** The hours of [from_ms, to_ms), whole hours, but for those without data before the service. */
export function* hourAccounts(
  books: PlantBooks,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Generator<HourAccount, undefined> {
  const settling = { books, period: noPeriod(), is_whole: false }
  const hours = books.hours[Symbol.iterator]()
  let next = hours.next()
  let nth_terms = 0
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += hour_ms) {
    while (!next.done && next.value.start_ms < start_ms) next = hours.next()
    const hour = !next.done && next.value.start_ms === start_ms ? next.value : undefined
    if (hour === undefined && start_ms < books.service_from_ms) continue
    const account = emptyAccount(books, start_ms, hour)
    const state = books.energyStateAt(start_ms, hour)
    settling.is_whole = state === 'known' || state === 'settling'
    while ((books.terms[nth_terms]?.to_ms ?? to_ms) <= start_ms) nth_terms += 1
    const end_ms = start_ms + hour_ms
    for (let at = nth_terms; (books.terms[at]?.from_ms ?? end_ms) < end_ms; at += 1) {
      const terms = books.terms[at]!
      // Where days begin at half an hour, contracts of two currencies may share an hour.
      if (account.currency !== null) {
        Object.assign(account, inCurrency(account, terms.assignment.currency, books.rateAt))
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

/** What is not known of the energy makes the money unknown; none at night is worth nothing. */
function addState(account: HourAccount, state: EnergyState): void {
  account.may_come = state === 'settling' || state === 'missing'
  account.misses_energy = state === 'missing' || state === 'lost'
  if (state === 'asleep') account.energy_wh ??= 0
  if (account.reason !== null) return
  if (state === 'asleep') account.gross ??= 0
  else if (state === 'not_yet') account.reason = 'not_yet'
  else if (account.misses_energy) account.reason = 'no_energy'
}

function emptyAccount(
  { logger_id, fee_count }: PlantBooks,
  start_ms: number,
  hour: PlantHour | undefined,
): HourAccount {
  return {
    logger_id,
    start_ms,
    assignment: null,
    market_code: null,
    currency: null,
    energy_wh: null,
    gross: null,
    fees: new Array<number>(fee_count).fill(0),
    reason: null,
    misses_energy: false,
    may_come: false,
    price_micro: null,
    market_price_micro: null,
    valued_wh: 0,
    market_value: 0,
    negative_wh: 0,
    negative_cost: 0,
    curtailed_wh: null,
    lost: 0,
    avoided: 0,
    imbalance: null,
    inverter_count: hour?.inverter_count ?? null,
    awake_covered_s: hour?.awake_covered_s ?? 0,
  }
}

/** What has been settled of the market period that is running, under the same terms and price. */
interface Period {
  begin_ms: number
  terms: Terms | null
  price: number | null
  energy_wh: number
  gross: number
  fees: number[]
}

interface Settling {
  books: PlantBooks
  period: Period
  /** The energy of the hour is known, all of it: else it deviates from nothing. */
  is_whole: boolean
}

const noPeriod = (): Period => ({
  begin_ms: Number.NaN,
  terms: null,
  price: null,
  energy_wh: 0,
  gross: 0,
  fees: [],
})

/** Adds the part of an hour that lies within the terms. */
function addPart(
  { books, period, is_whole }: Settling,
  account: HourAccount,
  { terms, hour }: { terms: Terms; hour: PlantHour | undefined },
): void {
  const begin_ms = Math.max(account.start_ms, terms.from_ms)
  const end_ms = Math.min(account.start_ms + hour_ms, terms.to_ms)
  const { currency } = terms.assignment
  const market = books.marketOf(terms.market_code)
  const rate = rateOf(books, [market.currency, currency], begin_ms)
  account.assignment = terms.assignment
  account.market_code = terms.market_code
  account.currency = currency
  addMonthlyFees(books, account, terms, { from_ms: begin_ms, to_ms: end_ms })
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
    const quarter = { energy_wh, rate, market_price }
    const imbalance = is_whole ? imbalanceAt(books, market, at_ms, quarter) : null
    addEnergy({ books, period }, account, { terms, energy_wh, price, market_price, imbalance })
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

function addEnergy(
  { books, period }: Omit<Settling, 'is_whole'>,
  account: HourAccount,
  quarter: Quarter,
): void {
  const { terms, energy_wh, price, market_price, imbalance } = quarter
  account.energy_wh = (account.energy_wh ?? 0) + energy_wh
  if (imbalance !== null) account.imbalance = (account.imbalance ?? 0) + imbalance
  period.energy_wh += energy_wh
  const until = price === null ? period.gross : worth(period.energy_wh, price)
  const gross = until - period.gross
  period.gross = until
  account.gross = (account.gross ?? 0) + gross
  for (const [nth, fee] of terms.fees.entries()) {
    const amount = ofEnergy(period, fee, nth)
    // What the deviation did cost takes the place of what it costs by default.
    if (fee.basis === 'imbalance' && imbalance !== null) account.fees[fee.place]! -= imbalance
    else if (amount !== 0) addFee(books, account, fee, amount)
  }
  if (market_price === null) return
  account.valued_wh += energy_wh
  account.market_value += energy_wh * market_price
  if (market_price >= 0) return
  account.negative_wh += energy_wh
  if (gross < 0) account.negative_cost -= gross
}

/** What a fee that goes by energy comes to in a quarter. */
function ofEnergy(period: Period, { basis, value }: TermsOfFee, nth: number): number {
  if (basis === 'per_month' || basis === 'per_mw_month') return 0
  const until =
    basis === 'percent' ? percentOf(period.gross, value) : worth(period.energy_wh, value)
  const amount = until - period.fees[nth]!
  period.fees[nth] = until
  return amount
}

function addMonthlyFees(books: PlantBooks, account: HourAccount, terms: Terms, span: Span): void {
  for (const fee of terms.fees) {
    if (fee.basis !== 'per_month' && fee.basis !== 'per_mw_month') continue
    addFee(books, account, fee, ofMonth(fee.value, terms, span))
  }
}

function addFee(
  books: PlantBooks,
  account: HourAccount,
  { basis, currency, place }: TermsOfFee,
  amount: number,
): void {
  // What is a part of other amounts is in their currency already.
  const rate =
    basis === 'percent' || currency === null
      ? sameCurrency
      : rateOf(books, [currency, account.currency!], account.start_ms)
  if (rate === null) account.reason ??= 'no_exchange_rate'
  else account.fees[place]! += converted(amount, rate)
}

function rateOf(
  books: PlantBooks,
  [currency, into]: readonly [string, string],
  time_ms: number,
): number | null {
  return currency === into ? sameCurrency : books.rateAt(currency, into, time_ms)
}

function imbalanceAt(
  books: PlantBooks,
  market: MarketPrices,
  at_ms: number,
  {
    energy_wh,
    rate,
    market_price,
  }: { energy_wh: number; rate: number | null; market_price: number | null },
): number | null {
  if (books.scheduledAt === null || market_price === null) return null
  const sold_wh = books.scheduledAt(at_ms)
  const price = priceAt(market.imbalance, at_ms, rate)
  if (sold_wh === null || price === null) return null
  return worth(energy_wh - sold_wh, price - market_price)
}

interface Span {
  from_ms: number
  to_ms: number
}

interface Quarter {
  terms: Terms
  energy_wh: number
  price: number | null
  market_price: number | null
  imbalance: number | null
}

/** In the currency of the contract; null where there is no price, or no rate. */
function priceAt(prices: QuarterPrices, at_ms: number, rate: number | null): number | null {
  const micro = prices.price_micro[(at_ms - prices.from_ms) / quarter_ms] ?? Number.NaN
  return Number.isNaN(micro) || rate === null ? null : converted(micro, rate)
}

/** When the market period began, or the quarter where there is none. */
function periodAt(prices: QuarterPrices, at_ms: number): number {
  const begin_ms = prices.period_ms[(at_ms - prices.from_ms) / quarter_ms] ?? Number.NaN
  return Number.isNaN(begin_ms) ? at_ms : begin_ms
}

const energyOf = ({ energy_wh }: PlantHour): number | null =>
  energy_wh.reduce((sum, wh) => (wh === null ? sum : (sum ?? 0) + wh), null)

/** Without a price nothing can be said of it, and the hour has a reason already. */
function addCurtailed(account: HourAccount, curtailed_wh: number, price: number | null): void {
  account.curtailed_wh = (account.curtailed_wh ?? 0) + curtailed_wh
  if (price === null || curtailed_wh === 0) return
  const amount = worth(curtailed_wh, price)
  if (amount > 0) account.lost += amount
  else account.avoided -= amount
}
