import type { Clock } from '@heliograph/domain/clock'
import { placeOf } from '@heliograph/domain/place'
import { rounded, significant } from '@heliograph/domain/significant'
import { day_ms } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import type { Forecasts } from '../forecasts/forecasts.ts'
import { targetOf } from '../forecasts/targets.ts'
import { mayRead } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { LoggerId } from '../http/params.ts'
import type { SiteFacts } from '../plant/situation.ts'
import { clearSkyEnergy, type Panels } from './clear-sky-energy.ts'
import type { Plant } from './limits.ts'
import { hoursOnTheClock } from './local-hours.ts'
import {
  doubtsOf,
  type ExpectedHour,
  expectedHour,
  hour_ms,
  hoursOf,
  kept_ratio,
  type Reason,
  recent_days,
  type Span,
  suggestedLimit,
} from './suggest.ts'
import { type ForecastHours, forecastHours, utcDatesOf } from './suggest-forecast.ts'
import {
  lostTo,
  meanPrice,
  type PricedQuarter,
  pricedQuarters,
  priceFigures,
  priceWindows,
} from './suggest-prices.ts'
import { type CurtailmentSuggestion, Suggestion, suggestionExample } from './suggest-schemas.ts'
import type { SuggestStore } from './suggest-store.ts'

export interface Needs {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  curtailmentSuggest: SuggestStore
  predictions: { forecasts: Pick<Forecasts, 'issued'> }
}

export const suggestCurtailment = endpoint({
  method: 'GET',
  tag: 'Curtailment',
  module: 'basic_scada',
  scope: 'curtailment:read',
  path: '/curtailment/suggest',
  operation_id: 'curtailment_suggest',
  summary: 'A limit that takes the top off what a plant is expected to give',
  description:
    'Changes nothing: it is a command only once it is sent as one. The limit lets pass ' +
    `${100 * kept_ratio} % of the best hour's \`p50_kw\`, rounded down to a whole percent of rated ` +
    'power, so that it always keeps something back; null where less than that is expected. ' +
    'The hours are those of the production forecast (`basis` is `forecast_p50`). Where none covers ' +
    'the window they are those of a sky without clouds on the panels of the plant, scaled by what ' +
    'the same time of day gave of its own clear sky on the ' +
    `last ${recent_days} days (\`basis\` is \`clear_sky\`); what limits kept back then counts as ` +
    'given. `price_windows` are the parts of the window in which the plant would pay for what it ' +
    'delivers, each with the limit of a command of its own: a plant whose contract pays at ' +
    'negative prices too has none, and what imbalance of energy sold ahead costs is not counted. ' +
    'Where the market has published no price they go by the forecast of it, and say so; without ' +
    'either there is none. The hours are those that the clock at the site shows on `date`: one ' +
    'that it skips in spring is left out, one that it shows twice in autumn counts twice; 422 ' +
    'where none is left.',
  query: {
    logger_id: LoggerId,
    date: Type.String({
      format: 'date',
      description: 'The day of the calendar at the site whose hours are meant.',
      examples: ['2026-06-21'],
    }),
    start_hour: Type.Integer({
      minimum: 0,
      maximum: 23,
      description: 'First hour of the clock at the site.',
      examples: [11],
    }),
    end_hour: Type.Integer({
      minimum: 1,
      maximum: 24,
      description: 'Hour before which the window ends; later than `start_hour`.',
      examples: [14],
    }),
  },
  returns: Suggestion,
  example: { answer: suggestionExample },
  async handle({ site: { site_id }, caller, query }, needs: Needs) {
    if (query.end_hour <= query.start_hour) throw refusal('end_hour', 'must be after start_hour')
    const facts = await needs.sites.facts(site_id)
    const span = hoursOnTheClock(query, facts.timezone)
    if (span === null) {
      throw refusal('start_hour', `the clocks of ${facts.timezone} skip these hours on that date`)
    }
    const plant = await needs.curtailmentSuggest.plant(site_id, query.logger_id)
    if (plant === null) throw new ApiError('not_found', { logger_id: query.logger_id })
    const now = needs.clock.now()
    const target = targetOf(query.logger_id)
    const runs = await needs.predictions.forecasts.issued({ site_id, target }, utcDatesOf(span))
    const forecast = forecastHours(span, runs)
    const { hours, missing } = forecast
      ? { hours: forecast.hours, missing: null }
      : await expectation(plant, span, { site_id, facts, now, ...needs })
    const of_plant = { site_id, logger_id: query.logger_id }
    const priceAt = await needs.curtailmentSuggest.prices(of_plant, span, now)
    const quarters = pricedQuarters(hours, priceAt)
    const answer = answerOf(plant, hours, { missing, now, forecast, quarters })
    return {
      logger_id: query.logger_id,
      date: query.date,
      timezone: facts.timezone,
      start_hour: query.start_hour,
      end_hour: query.end_hour,
      ...windowOf(span),
      ...(mayRead(caller, 'earnings:read') ? answer : withoutMoney(answer)),
    }
  },
})

const refusal = (field: string, message: string) =>
  invalid({ location: 'query', field, code: 'out_of_range', message })

/** The hours with what is expected of them; `missing` is why nothing is. */
async function expectation(
  plant: Plant & { panels: readonly Panels[] },
  span: Span,
  known: Pick<Needs, 'curtailmentSuggest'> & { site_id: string; facts: SiteFacts; now: Date },
): Promise<{ hours: ExpectedHour[]; missing: Reason | null }> {
  const place = placeOf(known.facts)
  if (place === null || plant.panels.length === 0) {
    const unknown = { p10_kw: null, p50_kw: null, p90_kw: null, days: 0 }
    const hours = hoursOf(span).map((hour) => ({ ...hour, ...unknown }))
    return { hours, missing: place === null ? 'no_position' : 'no_panels' }
  }
  const { site_id, now } = known
  const until_ms = Math.floor(Math.min(now.getTime(), span.end_ms) / hour_ms) * hour_ms
  // A day more: of a time of day that is yet to come the newest is that of yesterday.
  const since = new Date(Math.min(until_ms, span.start_ms) - (recent_days + 1) * day_ms)
  const recent = await known.curtailmentSuggest.recent(
    { site_id, logger_id: plant.logger_id },
    since,
    new Date(until_ms),
  )
  const { rated_power_kw } = plant
  const clear = clearSkyEnergy(place, plant)
  const hours = hoursOf(span).map((hour) =>
    expectedHour(hour, { clear, recent, rated_power_kw, until_ms }),
  )
  return { hours, missing: null }
}

const windowOf = ({ start_ms, end_ms }: Span) => ({
  start_at: new Date(start_ms).toISOString(),
  end_at: new Date(end_ms).toISOString(),
  hours_in_window: (end_ms - start_ms) / hour_ms,
})

type Answer = Omit<
  CurtailmentSuggestion,
  'logger_id' | 'date' | 'timezone' | 'start_hour' | 'end_hour' | keyof ReturnType<typeof windowOf>
>

function answerOf(
  plant: Plant,
  hours: readonly ExpectedHour[],
  known: {
    missing: Reason | null
    now: Date
    forecast: ForecastHours | null
    quarters: readonly PricedQuarter[]
  },
): Answer {
  const { missing, now, forecast, quarters } = known
  const doubts = missing === null ? doubtsOf(hours, now.getTime()) : [missing]
  // The 0 of a night tells nothing of the day beside it.
  const is_known = missing === null && !doubts.includes('no_recent_output')
  const limit = suggestedLimit(hours, plant)
  const is_dim = limit === null && is_known && !doubts.includes('no_daylight')
  const suggested_limit_kw = limit?.limit_kw ?? null
  const prices = priceFigures(quarters)
  return {
    suggested_limit_kw,
    suggested_limit_pct: limit?.limit_pct ?? null,
    limit_mode: 'percent',
    rated_power_kw: plant.rated_power_kw,
    basis: forecast ? 'forecast_p50' : is_known ? 'clear_sky' : 'none',
    ...forecastFigures(forecast),
    ...((limit && lostTo(limit.limit_kw, quarters)) ?? unpriced),
    ...prices,
    expected_curtailed_energy_kwh: limit && significant(limit.curtailed_energy_kwh),
    confidence: limit !== null && doubts.length === 0 ? (forecast?.confidence ?? 'medium') : 'low',
    reasons: [
      ...(forecast ? [] : (['no_forecast'] as const)),
      ...(prices.money_reason === null ? [] : (['no_price'] as const)),
      ...doubts,
      ...(is_dim ? (['little_output'] as const) : []),
    ],
    price_windows: priceWindows(quarters, plant),
    hours: hours.map(({ p10_kw, p50_kw, p90_kw, ...hour }) => ({
      start_at: new Date(hour.start_ms).toISOString(),
      end_at: new Date(hour.end_ms).toISOString(),
      p10_kw: rounded(p10_kw, 3),
      p50_kw: rounded(p50_kw, 3),
      p90_kw: rounded(p90_kw, 3),
      price_per_mwh: meanPrice(quarters, 'price', hour),
      market_price_per_mwh: meanPrice(quarters, 'market_price', hour),
      suggested_limit_kw,
    })),
  }
}

const forecastFigures = (forecast: ForecastHours | null) => ({
  forecast_run_at: forecast?.run_at ?? null,
  forecast_peak_p50_kw: forecast && significant(forecast.peak_p50_kw),
  forecast_peak_p90_kw: forecast && significant(forecast.peak_p90_kw),
  forecast_energy_p50_kwh: forecast && significant(forecast.energy_p50_kwh),
})

/** For a caller without `earnings:read`: prices of the market stay. */
const withoutMoney = (answer: Answer): Answer => ({
  ...answer,
  ...unpriced,
  avg_price_per_mwh: null,
  currency: null,
  money_reason: 'forbidden_scope',
  price_windows: answer.price_windows.map((window) => ({
    ...window,
    avg_price_per_mwh: null,
    avg_net_price_per_mwh: null,
    expected_net_amount: null,
    expected_saving_amount: null,
    currency: null,
  })),
  hours: answer.hours.map((hour) => ({ ...hour, price_per_mwh: null })),
})

const unpriced = { expected_lost_revenue_amount: null, avoided_cost_amount: null } as const
