/** What the handlers of predictions need, on the database. */
import type { Clock } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'
import { createForecasts, type Forecasts } from './forecasts.ts'
import { type ModelState, readModelStates } from './model-states.ts'
import { type MarketPricePoint, type PricesAsked, readPriceForecasts } from './price-history.ts'
import {
  type ForecastHistory,
  type HistoryAsked,
  readForecastHistory,
} from './production-history.ts'
import { createThread } from './thread.ts'

export interface Predictions {
  forecasts: Forecasts
  history(asked: HistoryAsked): Promise<ForecastHistory>
  prices(asked: PricesAsked): Promise<MarketPricePoint[]>
  /** Of the models of a site and its markets. */
  models(site_id: string): Promise<ModelState[]>
}

export function createPredictions(db: Database, clock: Clock): Predictions {
  return {
    forecasts: createForecasts({ db, clock, thread: createThread() }),
    history: (asked) => readForecastHistory(db, asked),
    prices: (asked) => readPriceForecasts(db, asked),
    models: (site_id) => readModelStates(db, site_id, clock.now()),
  }
}
