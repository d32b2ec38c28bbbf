import { exampleOf } from '../http/example.ts'
import {
  CrossBorderPrices,
  EarningsHour,
  EarningsSummary,
  LoggerEarnings,
  MarketAssignment,
} from './schemas.ts'

export const earningsSummaryExample = exampleOf(EarningsSummary, {
  unknown: [],
  exchange_rates: [],
  by_logger: [exampleOf(LoggerEarnings, { logger_id: 1, unknown: [] })],
})

export const earningsHourExample = exampleOf(EarningsHour, { logger_id: 1, completeness_pct: 100 })

export const marketAssignmentExample = exampleOf(MarketAssignment, { logger_id: 1 })

export const crossBorderExample = exampleOf(CrossBorderPrices, { meta: { count: 1 } })
