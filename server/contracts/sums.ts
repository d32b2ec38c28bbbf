/** Sums of the hours of plants, of any of them, in one currency. */
import type { AccountReason, HourAccount } from './accounting.ts'
import type { RateAt } from './exchange-rates.ts'
import { converted, type Micro, sameCurrency } from './money.ts'

export interface Sums {
  /** Sold: under a contract. */
  energy_wh: number | null
  /** Of hours without a contract, which are in nothing else. */
  unsold_wh: number
  /** What is known of the energy of hours that have no other reason. */
  known_wh: number
  /** Hours that say something of what was earned. */
  known_hours: number
  gross: Micro
  /** Hours whose fees are known: also those of which the energy is not. */
  charged_hours: number
  fees: Map<number, Micro>
  valued_wh: number
  /** Of them, at the market price: Wh times micro per MWh, for means only. */
  market_value: number
  market_price_micro: number
  market_price_hours: number
  /** The same of the hours whose energy is known, which a capture rate compares with. */
  base_price_micro: number
  base_price_hours: number
  negative_wh: number
  negative_cost: Micro
  curtailed_wh: number | null
  lost: Micro
  avoided: Micro
  imbalance: Micro | null
  hours_under_contract: number
  /** Of these, some of whose energy is not known, whatever else is not. */
  missing_hours: number
  /** Hours under a contract whose money is not known, by the reason and market. */
  unknown: Map<string, Unknown>
  /** Readings of some hour may still come. */
  may_come: boolean
}

interface Unknown {
  reason: AccountReason
  /** Of the market whose price or rate is not known. */
  market_code: string | null
  first_ms: number
  last_ms: number
  hours: number
}

export const noSums = (): Sums => ({
  energy_wh: null,
  unsold_wh: 0,
  known_wh: 0,
  known_hours: 0,
  gross: 0n,
  charged_hours: 0,
  fees: new Map(),
  valued_wh: 0,
  market_value: 0,
  market_price_micro: 0,
  market_price_hours: 0,
  base_price_micro: 0,
  base_price_hours: 0,
  negative_wh: 0,
  negative_cost: 0n,
  curtailed_wh: null,
  lost: 0n,
  avoided: 0n,
  imbalance: null,
  hours_under_contract: 0,
  missing_hours: 0,
  unknown: new Map(),
  may_come: false,
})

/** Adds an hour, whose fees are these (ids by place). */
export function addHour(sums: Sums, hour: HourAccount, fee_ids: readonly number[]): void {
  const { energy_wh, reason } = hour
  if (reason === 'no_contract') {
    sums.unsold_wh += energy_wh ?? 0
    return
  }
  sums.hours_under_contract += 1
  if (hour.misses_energy) sums.missing_hours += 1
  sums.may_come ||= hour.may_come
  if (hour.market_price_micro !== null) {
    sums.market_price_micro += hour.market_price_micro
    sums.market_price_hours += 1
  }
  if (reason === 'not_yet') return
  sums.energy_wh = plus(sums.energy_wh, energy_wh)
  sums.curtailed_wh = plus(sums.curtailed_wh, hour.curtailed_wh)
  sums.negative_wh += hour.negative_wh
  if (reason !== null) addUnknown(sums, hour, reason)
  if (reason !== null && reason !== 'no_energy') return
  addFees(sums, hour, fee_ids)
  // Of an hour of which the energy is known in part, that part is.
  if (reason === 'no_energy' && energy_wh === null) return
  sums.known_hours += 1
  if (hour.market_price_micro !== null) {
    sums.base_price_micro += hour.market_price_micro
    sums.base_price_hours += 1
  }
  sums.known_wh += energy_wh ?? 0
  sums.gross += BigInt(hour.gross ?? 0)
  sums.valued_wh += hour.valued_wh
  sums.market_value += hour.market_value
  sums.negative_cost += BigInt(hour.negative_cost)
  sums.lost += BigInt(hour.lost)
  sums.avoided += BigInt(hour.avoided)
  if (hour.imbalance !== null) sums.imbalance = (sums.imbalance ?? 0n) + BigInt(hour.imbalance)
}

function addFees(sums: Sums, { fees }: HourAccount, fee_ids: readonly number[]): void {
  sums.charged_hours += 1
  for (const [place, amount] of fees.entries()) {
    const fee_id = fee_ids[place]!
    if (amount !== 0 || sums.fees.has(fee_id)) {
      sums.fees.set(fee_id, (sums.fees.get(fee_id) ?? 0n) + BigInt(amount))
    }
  }
}

function addUnknown(
  { unknown }: Sums,
  { start_ms, market_code: sold_into }: HourAccount,
  reason: AccountReason,
): void {
  const market_code = reason === 'no_energy' ? null : sold_into
  const key = `${reason} ${market_code}`
  const known = unknown.get(key)
  unknown.set(key, {
    reason,
    market_code,
    first_ms: Math.min(known?.first_ms ?? start_ms, start_ms),
    last_ms: Math.max(known?.last_ms ?? start_ms, start_ms),
    hours: (known?.hours ?? 0) + 1,
  })
}

const plus = (sum: number | null, value: number | null) =>
  value === null ? sum : (sum ?? 0) + value

export function amountsSum(amounts: Iterable<Micro | number>): Micro {
  let sum = 0n
  for (const amount of amounts) sum += BigInt(amount)
  return sum
}

/** The hour in another currency, at the rate of its time: `no_exchange_rate` where none is. */
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
