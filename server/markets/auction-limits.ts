/** What the auction of a market can give at all. */
import { priceOf } from './micro.ts'
import type { Market } from './price-store.ts'

type Limits = Pick<Market, 'currency' | 'price_min_per_mwh' | 'price_max_per_mwh'>

/** Why its auction cannot have given a price in the market's currency; null where it can. */
export function limitFault(
  price_micro: number,
  { currency, price_min_per_mwh, price_max_per_mwh }: Limits,
): string | null {
  const price = priceOf(price_micro)
  if (price_min_per_mwh !== null && price < price_min_per_mwh) {
    return `${price} is below ${price_min_per_mwh} ${currency}, the least that the auction gives`
  }
  return price_max_per_mwh !== null && price > price_max_per_mwh
    ? `${price} is above ${price_max_per_mwh} ${currency}, the most that the auction gives`
    : null
}
