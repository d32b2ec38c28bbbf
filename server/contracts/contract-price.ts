/** What a contract pays for a MWh. */
import type { Assignment } from './contract-store.ts'
import type { ContractType } from './contracts.ts'
import { microOf } from './money.ts'

export interface PriceTerms {
  contract_type: ContractType
  /** Micro per MWh, in the currency of the contract. */
  fixed_price: number | null
  floor_price: number | null
  pays_at_negative_price: boolean
}

export function priceTerms(assignment: Assignment): PriceTerms {
  const micro = (text: string | null) => (text === null ? null : microOf(text))
  return {
    contract_type: assignment.contract_type,
    fixed_price: micro(assignment.fixed_price),
    floor_price: micro(assignment.floor_price),
    pays_at_negative_price: assignment.pays_at_negative_price,
  }
}

/**
 * Micro per MWh at a market price P of the market that is sold into, in the currency of the
 * contract; null where it depends on a market price that is not known. With the fixed price S:
 *
 * - `spot`: P.
 * - `fixed_price`, `feed_in_tariff`: S.
 * - `ppa`: S, or P where the contract names no fixed price.
 * - `feed_in_premium`: P + S, the premium on top of what the market pays.
 * - `cfd`: P + (S - P), both ways: what lacks is paid, what is over is paid back.
 *
 * Never below the floor price, where there is one. Where the contract does not pay at negative
 * prices, it pays nothing while P is below 0: what has the contract as its only buyer earns 0,
 * floor or not, and of `feed_in_premium` and `cfd`, which are paid beside the market, P is left.
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
