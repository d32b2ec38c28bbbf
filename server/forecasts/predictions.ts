/** What the handlers of predictions need, on the database. */
import type { Clock } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'
import { createForecasts, type Forecasts } from './forecasts.ts'
import { type ModelState, readModelStates } from './model-states.ts'
import { type MarketPricePoint, type PricesAsked, readPriceForecasts } from './price-history.ts'
import { endOfPrices } from './price-store.ts'
import {
  type ForecastHistory,
  type HistoryAsked,
  readForecastHistory,
} from './production-history.ts'
import { endOfRuns } from './run-store.ts'
import { targetOf } from './targets.ts'
import { createThread } from './thread.ts'

export interface Predictions {
  forecasts: Forecasts
  history(asked: HistoryAsked): Promise<ForecastHistory>
  /** The end of the last day that was forecast of the site or a plant; null where none was. */
  lastForecast(of: { site_id: string; logger_id: number | null }): Promise<Date | null>
  prices(asked: PricesAsked): Promise<MarketPricePoint[]>
  /** The end of the last delivery day whose prices the site's markets have, forecast or known. */
  lastPrice(site_id: string): Promise<Date | null>
  /** Of the models of a site and its markets. */
  models(site_id: string): Promise<ModelState[]>
}

export function createPredictions(db: Database, clock: Clock): Predictions {
  return {
    forecasts: createForecasts({ db, clock, thread: createThread() }),
    history: (asked) => readForecastHistory(db, asked),
    lastForecast: ({ site_id, logger_id }) =>
      endOfRuns(db, { site_id, target: targetOf(logger_id) }),
    prices: (asked) => readPriceForecasts(db, asked),
    lastPrice: (site_id) => endOfPrices(db, site_id),
    models: (site_id) => readModelStates(db, site_id, clock.now()),
  }
}
