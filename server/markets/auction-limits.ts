import { priceOf } from './micro.ts'
import type { Market } from './price-store.ts'

type Limits = Pick<Market, 'currency' | 'price_min_per_mwh' | 'price_max_per_mwh'>

/** Why a price is outside the limits of its auction; null when it is within. */
export function limitFault(
  price_micro: number,
  { currency, price_min_per_mwh, price_max_per_mwh }: Limits,
): string | null {
  const price = priceOf(price_micro)
  if (price_min_per_mwh !== null && price < price_min_per_mwh) {
    return `${price} is below ${price_min_per_mwh} ${currency}, the lower price limit of the auction`
  }
  return price_max_per_mwh !== null && price > price_max_per_mwh
    ? `${price} is above ${price_max_per_mwh} ${currency}, the upper price limit of the auction`
    : null
}
