import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { Step } from '@heliograph/forecast/plant'
import { Type } from 'typebox'
import type { Context } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list, SpanList } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { exampleOf } from '../http/example.ts'
import { spanHandlers } from '../http/export-items.ts'
import * as field from '../http/fields.ts'
import { LoggerId } from '../http/params.ts'
import { endedBy, forecastSpan, type Span } from '../http/windows.ts'
import { requireLogger } from '../plant/device-ids.ts'
import { forecastOf, recordDay } from './forecast-records.ts'
import { readDayForecasts } from './forecasts.ts'
import { readModelStatus } from './model-status.ts'
import { readPriceForecasts } from './price-history.ts'
import { endOfPrices } from './price-store.ts'
import { productionItem, readForecastHistory } from './production-history.ts'
import { endOfRuns } from './run-store.ts'
import {
  Forecast,
  Forecasts,
  limitedRule,
  ModelStatus,
  PriceForecastItem,
  Production,
  quantileRule,
} from './schemas.ts'
import { targetOf } from './targets.ts'

const predictions = {
  method: 'GET',
  tag: 'Predictions',
  scope: 'predictions:read',
  module: 'ai_predictions',
} as const

const windowRule =
  'The window defaults to 48 hours from 00:00Z today; with only an `end` before today, to the 48 ' +
  'hours before it. It is cut at the last forecast hour or the running hour, whichever is later.'

const forecastRules =
  'Forecasts are issued for today and the next two days whenever a new weather forecast arrives. ' +
  'For a past day the last issued forecast is returned. Steps that had started when a forecast ' +
  'was issued keep their values from the previous forecast; only the first forecast of a day ' +
  `covers all of it. \`limited_p50_kw\` is ${limitedRule} ${quantileRule}`

export const listForecasts = endpoint({
  ...predictions,
  path: '/predictions/forecast',
  operation_id: 'predictions_forecast_list',
  summary: 'List production forecasts of a day',
  description:
    'Returns the forecast of every plant, ordered by id, and of the site in `meta.site`. ' +
    `${forecastRules} \`refresh\` makes a new forecast, unless the last one is less than a ` +
    'minute old.',
  query: {
    date: field.UtcDay,
    refresh: Type.Optional(
      field.Flag('Makes a new forecast if the last one is at least a minute old.', false),
    ),
  },
  returns: Forecasts,
  example: {
    answer: exampleOf(Forecasts, { meta: { site: { logger_id: null, logger_name: null } } }),
  },
  async handle({ site: { site_id }, query }, context: Context) {
    const { clock } = context
    const { date = utcDate(clock.now()), refresh = false } = query
    const day = await readDayForecasts(context, { site_id, date, refresh })
    const record = recordDay(date, clock.now())
    const data = day.plants.map(({ logger_id }) => forecastOf(day, targetOf(logger_id), record))
    const site = data.length === 0 ? null : forecastOf(day, 'site', record)
    return { data, meta: { count: data.length, site } }
  },
})

export const getLoggerForecast = endpoint({
  ...predictions,
  path: '/predictions/forecast/logger/{logger_id}',
  operation_id: 'predictions_forecast_get',
  summary: 'Get the production forecast of a plant',
  description: `Returns the forecast of a logger (plant) for a day. ${forecastRules}`,
  params: { logger_id: LoggerId },
  query: { date: field.UtcDay },
  returns: Forecast,
  async handle({ site: { site_id }, params: { logger_id }, query }, context: Context) {
    const { db, clock } = context
    await requireLogger(db, site_id, logger_id)
    const { date = utcDate(clock.now()) } = query
    const day = await readDayForecasts(context, { site_id, date, refresh: false })
    if (!day.plants.some((plant) => plant.logger_id === logger_id)) {
      throw new ApiError('not_found', { logger_id })
    }
    return forecastOf(day, targetOf(logger_id), recordDay(date, clock.now()))
  },
})

/** Length of history that is read at once, for lists and exports. */
const chunk_ms = 10 * day_ms

const boundsOf = ({ start, end }: Span): Step => ({
  start_ms: Date.parse(start),
  end_ms: Date.parse(end),
})

function* chunksOf({ start_ms, end_ms }: Step): Generator<Step> {
  for (let at = start_ms; at < end_ms; at += chunk_ms) {
    yield { start_ms: at, end_ms: Math.min(end_ms, at + chunk_ms) }
  }
}

/** The span, cut at the last forecast hour or the running hour. */
function cutSpan(span: Span, last_forecast: Date | null, now: Date): Span {
  const running_ms = Math.ceil(now.getTime() / hour_ms) * hour_ms
  return endedBy(
    span,
    new Date(Math.max(running_ms, last_forecast?.getTime() ?? running_ms)).toISOString(),
  )
}

export const listProduction = endpoint({
  ...predictions,
  path: '/predictions/production',
  operation_id: 'predictions_production_list',
  summary: 'List forecast and actual production',
  description:
    'Returns for each step the last forecast issued before the gate closure of the market, and the ' +
    'actual production. The gate closes on the day before delivery, at `gate_closure_local` of ' +
    'the assigned market or, without one, at 12:00 in Brussels. Days before the first issued ' +
    'forecast have hindcasts (`is_hindcast`) of a model that was not trained on them. Without ' +
    '`logger_id` the values are those of the site, over the plants in service at the time. ' +
    windowRule,
  window: forecastSpan,
  query: { logger_id: Type.Optional(LoggerId) },
  heavy: true,
  returns: SpanList(Production),
  ...spanHandlers(productionItems),
})

interface ProductionRequest {
  site: { site_id: string }
  query: { logger_id?: number }
  window: Span
}

/** @throws ApiError not_found for an unknown logger */
async function productionItems(
  { site: { site_id }, query, window }: ProductionRequest,
  { db, clock }: Context,
) {
  const { logger_id = null } = query
  if (logger_id !== null) await requireLogger(db, site_id, logger_id)
  const end = await endOfRuns(db, { site_id, target: targetOf(logger_id) })
  const span = cutSpan(window, end, clock.now())
  return {
    span,
    async *items(): AsyncGenerator<Production[]> {
      const now_ms = clock.now().getTime()
      for (const chunk of chunksOf(boundsOf(span))) {
        const history = await readForecastHistory(db, { site_id, logger_id, ...chunk })
        yield history.steps.map((step) => productionItem(step, { ...history, logger_id, now_ms }))
      }
    },
  }
}

export const listPriceForecasts = endpoint({
  ...predictions,
  path: '/predictions/prices',
  operation_id: 'predictions_prices_list',
  summary: 'List price forecasts of the assigned market',
  description:
    'Returns for each market period the last forecast issued before the gate closure, and the ' +
    'price once published. Intervals are calibrated so that 80 of 100 prices lie from P10 to P90. ' +
    'Each delivery day uses the market that most of the rated power of the site is assigned to on ' +
    `that day; days without a market have no items. ${windowRule}`,
  window: forecastSpan,
  heavy: true,
  returns: SpanList(PriceForecastItem),
  ...spanHandlers(async (request: Omit<ProductionRequest, 'query'>, { db, clock }) => {
    const { site_id } = request.site
    const span = cutSpan(request.window, await endOfPrices(db, site_id), clock.now())
    const bounds = boundsOf(span)
    return {
      span,
      async *items() {
        for (const chunk of chunksOf(bounds)) {
          const items = await readPriceForecasts(db, { site_id, ...chunk, now: clock.now() })
          // A period across a chunk boundary belongs to the chunk that it starts in.
          const is_first = chunk.start_ms === bounds.start_ms
          yield items.filter((item) => is_first || Date.parse(item.start_at) >= chunk.start_ms)
        }
      },
    }
  }),
})

export const listModels = endpoint({
  ...predictions,
  path: '/predictions/model-status',
  operation_id: 'predictions_models_list',
  summary: 'List forecast models and their accuracy',
  description:
    'Returns the models of the site, its plants by id, and the prices of the assigned market. ' +
    'Models are retrained every night; a new model replaces the old one only if it is no worse on ' +
    'the hold-out days, which it was not trained on. Metrics cover daylight steps with known, ' +
    'uncurtailed output, and forecasts as issued or hindcasts (`hindcast_count`).',
  returns: List(ModelStatus),
  async handle({ site: { site_id } }, { db, clock }: Context) {
    return list(await readModelStatus(db, site_id, clock.now()))
  },
})
