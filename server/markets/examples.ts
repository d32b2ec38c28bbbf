import { exampleOf } from '../http/example.ts'
import { ComparedMarket, MarketComparison, MarketDay, MarketRecord } from './schemas.ts'

export const marketExample = exampleOf(MarketRecord)

export const marketDayExample = exampleOf(MarketDay)

export const comparisonExample = exampleOf(MarketComparison, {
  data: [
    exampleOf(ComparedMarket, {
      market_code: 'GR',
      name: 'Greece',
      base_price_per_mwh: 66.1,
      spread_to_home_per_mwh: 4.815937,
      rank: 1,
    }),
    exampleOf(ComparedMarket, { is_home_market: true }),
  ],
})
