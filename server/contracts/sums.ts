/** Sums over hour accounts of any plants, in one currency. */
import type { AccountReason, HourAccount } from './accounting.ts'
import type { Micro } from './money.ts'

interface Unknown {
  reason: AccountReason
  /** Market with the missing price or exchange rate. */
  market_code: string | null
  first_ms: number
  last_ms: number
  hours: number
}

export type Sums = ReturnType<typeof noSums>
export const noSums = () => ({
  energy_wh: null as number | null,
  /** Energy of hours without a contract; excluded from all other sums. */
  unsold_wh: 0,
  /** Known energy of hours whose prices are known. */
  known_wh: 0,
  /** Hours with known revenue, in part at least. */
  known_hours: 0,
  gross: 0n,
  /** Hours with known fees, including hours whose energy is unknown. */
  charged_hours: 0,
  fees: new Map<number, Micro>(),
  /** Energy with a market price; its value is Wh times micro per MWh, for means only. */
  valued_wh: 0,
  market_value: 0,
  /** Sum of market prices and number of hours that have one. */
  market_price_micro: 0,
  market_price_hours: 0,
  /** The same over hours with known energy, the base of the capture rate. */
  base_price_micro: 0,
  base_price_hours: 0,
  negative_wh: 0,
  negative_cost: 0n,
  curtailed_wh: null as number | null,
  lost: 0n,
  avoided: 0n,
  imbalance: null as Micro | null,
  hours_under_contract: 0,
  /** Hours under a contract that lack some energy, whatever else is unknown. */
  missing_hours: 0,
  /** Hours under a contract with unknown revenue, by reason and market. */
  unknown: new Map<string, Unknown>(),
  /** Readings of some hour may still arrive. */
  may_come: false,
})

/** Adds an hour; `fee_ids` are the ids of its fees by place. */
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
  // An hour with partly known energy counts with the known part.
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
