import type { Clock } from '@heliograph/domain/clock'
import { significant } from '@heliograph/domain/significant'
import { day_ms, utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import { endpoint } from '../http/endpoint.ts'
import { List, list, SpanList, spanList } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import type { ExportItems } from '../http/export-items.ts'
import { LoggerId } from '../http/params.ts'
import { hour_ms } from '../http/time-windows.ts'
import { endedBy, forecastSpan, type Span } from '../http/windows.ts'
import {
  forecastExample,
  modelExample,
  priceExample,
  productionExample,
  siteForecastExample,
} from './examples.ts'
import { askedDay, forecastOf } from './forecast-records.ts'
import { modelStatus } from './model-records.ts'
import type { Predictions } from './predictions.ts'
import type { MarketPricePoint } from './price-history.ts'
import { productionItem } from './production-records.ts'
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

export interface Needs {
  clock: Clock
  loggers: { exists(site_id: string, logger_id: number): Promise<boolean> }
  predictions: Predictions
}

const predictions = {
  method: 'GET',
  tag: 'Predictions',
  scope: 'predictions:read',
  module: 'ai_predictions',
} as const

const Day = Type.Optional(
  Type.String({
    format: 'date',
    description: 'The day, UTC; today where none is given.',
    examples: ['2026-06-21'],
  }),
)

const windowRule =
  'Without a window: today from 00:00Z and 48 hours on; with an `end` before today alone, the 48 ' +
  'hours up to it. Ends with the last hour that was forecast, or with the running hour where that ' +
  'is later.'

const whole = { truncated: false, next_start: null }

const forecastRules =
  'Forecasts are made for today and the two days that follow, when a new weather forecast has ' +
  'come, and kept; of a day that is over it is the last that was issued. Steps that had begun ' +
  'when a forecast was issued keep what the forecast before it had for them; only the first ' +
  'forecast of a day covers the whole day. ' +
  `\`limited_p50_kw\` is ${limitedRule} ${quantileRule}`

export const listForecasts = endpoint({
  ...predictions,
  path: '/predictions/forecast',
  operation_id: 'predictions_forecast_list',
  summary: 'What every plant and the site will produce on a day',
  description:
    `One item for each plant by id; the site is \`meta.site\`. ${forecastRules} \`refresh\` makes ` +
    'a new one now, at most one a minute for each plant: within a minute of the last forecast, ' +
    'that one is returned.',
  query: {
    date: Day,
    refresh: Type.Optional(
      Type.Boolean({
        description: 'Makes a new forecast where the last one is a minute old or older.',
        examples: [false],
      }),
    ),
  },
  returns: Forecasts,
  example: {
    answer: { data: [forecastExample], meta: { count: 1, site: siteForecastExample } },
  },
  async handle({ site: { site_id }, query }, needs: Needs) {
    const { date = utcDate(needs.clock.now()), refresh = false } = query
    const day = await needs.predictions.forecasts.day(site_id, date, { refresh })
    const asked = askedDay({ date, now: needs.clock.now() })
    const data = day.plants.map(({ logger_id }) => forecastOf(day, targetOf(logger_id), asked))
    const site = data.length === 0 ? null : forecastOf(day, 'site', asked)
    return { data, meta: { count: data.length, site } }
  },
})

export const getLoggerForecast = endpoint({
  ...predictions,
  path: '/predictions/forecast/logger/{logger_id}',
  operation_id: 'predictions_forecast_get',
  summary: 'What a logger (plant) will produce on a day',
  description: forecastRules,
  params: { logger_id: LoggerId },
  query: { date: Day },
  returns: Forecast,
  example: { answer: forecastExample },
  async handle({ site: { site_id }, params: { logger_id }, query }, needs: Needs) {
    await demandLogger(site_id, logger_id, needs)
    const { date = utcDate(needs.clock.now()) } = query
    const day = await needs.predictions.forecasts.day(site_id, date, { refresh: false })
    if (!day.plants.some((plant) => plant.logger_id === logger_id)) {
      throw new ApiError('not_found', { logger_id })
    }
    const asked = askedDay({ date, now: needs.clock.now() })
    return forecastOf(day, targetOf(logger_id), asked)
  },
})

/** So many days are joined at once, in a list or a file. */
const piece_ms = 10 * day_ms

type Window = { start_ms: number; end_ms: number }

const boundsOf = ({ start, end }: Span): Window => ({
  start_ms: Date.parse(start),
  end_ms: Date.parse(end),
})

/** A span as far as anything was forecast in it, or has come to pass. */
function knownOf(span: Span, last_forecast: Date | null, now: Date): Span {
  const running_ms = Math.ceil(now.getTime() / hour_ms) * hour_ms
  return endedBy(
    span,
    new Date(Math.max(running_ms, last_forecast?.getTime() ?? running_ms)).toISOString(),
  )
}

async function demandLogger(site_id: string, logger_id: number | null, { loggers }: Needs) {
  if (logger_id !== null && !(await loggers.exists(site_id, logger_id))) {
    throw new ApiError('not_found', { logger_id })
  }
}

export const listProduction = endpoint({
  ...predictions,
  path: '/predictions/production',
  operation_id: 'predictions_production_list',
  summary: 'Forecast beside actual, of the site or a plant',
  description:
    'Of each step the last forecast that was issued before the market took no more offers for it: ' +
    'at `gate_closure_local` of the assigned market, at 12:00 in Brussels without one, on the day ' +
    'before its delivery. What was issued later does not count here. For days before forecasts ' +
    'were issued, hindcasts of a model that had not seen them stand in and say so. Without ' +
    '`logger_id` the site as a whole, of the plants that were in service at the time. ' +
    windowRule,
  window: forecastSpan,
  query: { logger_id: Type.Optional(LoggerId) },
  heavy: true,
  returns: SpanList(Production),
  example: { answer: { data: [productionExample], meta: { count: 1, ...whole } } },
  async handle({ site: { site_id }, query, window }, needs: Needs) {
    const { logger_id = null } = query
    await demandLogger(site_id, logger_id, needs)
    const span = await productionSpan({ site_id, logger_id }, window, needs)
    const items: Production[] = []
    for await (const batch of productionIn({ site_id, logger_id, ...boundsOf(span) }, needs)) {
      items.push(...batch)
    }
    return spanList(items, span)
  },
  async exports({ site: { site_id }, query, window }, needs: Needs): Promise<ExportItems> {
    const { logger_id = null } = query
    await demandLogger(site_id, logger_id, needs)
    const span = await productionSpan({ site_id, logger_id }, window, needs)
    return { span, items: () => productionIn({ site_id, logger_id, ...boundsOf(span) }, needs) }
  },
})

async function productionSpan(
  of: { site_id: string; logger_id: number | null },
  span: Span,
  { predictions, clock }: Needs,
): Promise<Span> {
  return knownOf(span, await predictions.lastForecast(of), clock.now())
}

async function* productionIn(
  { start_ms, end_ms, ...of }: Window & { site_id: string; logger_id: number | null },
  { predictions, clock }: Needs,
): AsyncGenerator<Production[]> {
  const now_ms = clock.now().getTime()
  for (let at = start_ms; at < end_ms; at += piece_ms) {
    const piece = { start_ms: at, end_ms: Math.min(end_ms, at + piece_ms) }
    const { steps, ...found } = await predictions.history({ ...of, ...piece })
    const facts = { ...found, logger_id: of.logger_id, now_ms }
    yield steps.map((step) => productionItem(step, facts))
  }
}

export const listPriceForecasts = endpoint({
  ...predictions,
  path: '/predictions/prices',
  operation_id: 'predictions_prices_list',
  summary: 'Price forecast of the market that the site is assigned to',
  description:
    'Of each period the last forecast that was issued before its gate closed, and the price once ' +
    'it is published. Intervals are calibrated so that 80 of 100 prices lie from P10 to P90. Each ' +
    'delivery day has the market that the site is assigned to on it, by most of its power, and no ' +
    `items without one. ${windowRule}`,
  window: forecastSpan,
  heavy: true,
  returns: SpanList(PriceForecastItem),
  example: { answer: { data: [priceExample], meta: { count: 1, ...whole } } },
  async handle({ site: { site_id }, window }, needs: Needs) {
    const span = await priceSpan(site_id, window, needs)
    return spanList(await pricesIn(site_id, boundsOf(span), needs), span)
  },
  async exports({ site: { site_id }, window }, needs: Needs): Promise<ExportItems> {
    const span = await priceSpan(site_id, window, needs)
    const { start_ms, end_ms } = boundsOf(span)
    return {
      span,
      async *items() {
        for (let at = start_ms; at < end_ms; at += piece_ms) {
          const piece = { start_ms: at, end_ms: Math.min(end_ms, at + piece_ms) }
          const found = await pricesIn(site_id, piece, needs)
          // A period across the border is of the piece that it begins in.
          const is_first = at === start_ms
          yield found.filter((item) => is_first || Date.parse(item.start_at) >= at)
        }
      },
    }
  },
})

async function priceSpan(
  site_id: string,
  span: Span,
  { predictions, clock }: Needs,
): Promise<Span> {
  return knownOf(span, await predictions.lastPrice(site_id), clock.now())
}

async function pricesIn(
  site_id: string,
  window: Window,
  { predictions, clock }: Needs,
): Promise<PriceForecastItem[]> {
  if (window.start_ms >= window.end_ms) return []
  return (await predictions.prices({ site_id, ...window, now: clock.now() })).map(priceItem)
}

function priceItem(point: MarketPricePoint): PriceForecastItem {
  const { negative_probability, model_version, market } = point
  const price = (value: number | null) => (value === null ? null : significant(value))
  return {
    start_at: new Date(point.start_ms).toISOString(),
    end_at: new Date(point.end_ms).toISOString(),
    market_code: market.market_code,
    p10_price_per_mwh: price(point.p10_price),
    p50_price_per_mwh: price(point.p50_price),
    p90_price_per_mwh: price(point.p90_price),
    actual_price_per_mwh: price(point.actual_price),
    negative_probability_pct: price(
      negative_probability === null ? null : 100 * negative_probability,
    ),
    run_at: point.issued_at?.toISOString() ?? null,
    model_version: model_version === null ? null : String(model_version),
    method: point.method,
    currency: market.currency,
  }
}

export const listModels = endpoint({
  ...predictions,
  path: '/predictions/model-status',
  operation_id: 'predictions_models_list',
  summary: 'The models, what they learned from and how good their forecasts were',
  description:
    'The site first, its plants by id, and the prices of the assigned market. Models are trained ' +
    'anew every night, and replaced only where the new one is no worse on the last days, which it ' +
    'has not seen. Errors are of forecasts as they were issued, or of hindcasts where they are ' +
    'named, in steps by day whose output is known and was not curtailed.',
  returns: List(ModelStatus),
  example: { answer: { data: [modelExample], meta: { count: 1 } } },
  async handle({ site: { site_id } }, { clock, predictions }: Needs) {
    const now = clock.now()
    return list((await predictions.models(site_id)).map((state) => modelStatus(state, now)))
  },
})
