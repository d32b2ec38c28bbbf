import type { Assignment } from './contract-store.ts'
import type { ContractType } from './contracts.ts'
import { microOf } from './money.ts'

export type PriceTerms = ReturnType<typeof priceTerms>

/** Prices are in micro per MWh, in the currency of the contract. */
export function priceTerms(assignment: Assignment) {
  const { contract_type, fixed_price, floor_price, pays_at_negative_price } = assignment
  const micro = (text: string | null) => (text === null ? null : microOf(text))
  return {
    contract_type,
    fixed_price: micro(fixed_price),
    floor_price: micro(floor_price),
    pays_at_negative_price,
  }
}

/**
 * Contract price in micro of its currency per MWh, for a market price P of the market sold into;
 * null when it depends on an unknown market price. With the fixed price S:
 *
 * - `spot`: P.
 * - `fixed_price`, `feed_in_tariff`: S.
 * - `ppa`: S, or P when the contract has no fixed price.
 * - `feed_in_premium`: P + S, the premium on top of the market price.
 * - `cfd`: P + (S - P), in both directions: the buyer pays a shortfall, the plant an excess.
 *
 * Never below the floor price. A contract that does not pay at negative prices pays nothing while P
 * is below 0: `feed_in_premium` and `cfd`, paid beside the market, leave P; all others leave 0,
 * with or without a floor.
 */
export function contractPrice(terms: PriceTerms, market_price: number | null): number | null {
  const { contract_type, fixed_price, floor_price, pays_at_negative_price } = terms
  if (!pays_at_negative_price) {
    if (market_price === null) return null
    if (market_price < 0) {
      return contract_type === 'feed_in_premium' || contract_type === 'cfd' ? market_price : 0
    }
  }
  const price = unfloored(contract_type, fixed_price, market_price)
  return floor_price !== null && price !== null && price < floor_price ? floor_price : price
}

function unfloored(
  contract_type: ContractType,
  fixed_price: number | null,
  market_price: number | null,
): number | null {
  switch (contract_type) {
    case 'spot':
      return market_price
    case 'ppa':
      return fixed_price ?? market_price
    case 'feed_in_premium':
      return market_price === null || fixed_price === null ? null : market_price + fixed_price
    case 'fixed_price':
    case 'feed_in_tariff':
    case 'cfd':
      return fixed_price
  }
}
