import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Plant } from '@heliograph/domain/limit-shares'
import { placeOf } from '@heliograph/domain/place'
import { rounded, significant } from '@heliograph/domain/significant'
import { readIssuedForecasts } from '../forecasts/forecasts.ts'
import { targetOf } from '../forecasts/targets.ts'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { ApiError, badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { LoggerId } from '../http/params.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { SiteFacts } from '../plant/situation.ts'
import type { Queries } from '../storage/database.ts'
import { clearSkyEnergy } from './clear-sky-energy.ts'
import { hoursOnTheClock } from './local-hours.ts'
import {
  doubtsOf,
  type ExpectedHour,
  expectedHour,
  type ForecastHours,
  forecastHours,
  hoursOf,
  limit_ratio,
  type Reason,
  recent_days,
  type Span,
  suggestedLimit,
  utcDatesOf,
} from './suggest.ts'
import {
  lostTo,
  meanPrice,
  type PricedQuarter,
  pricedQuarters,
  priceMetrics,
  priceWindows,
} from './suggest-prices.ts'
import { type CurtailmentSuggestion, Suggestion, suggestionExample } from './suggest-schemas.ts'
import {
  type PlantPanels,
  readPlantPanels,
  readRecentHours,
  readSuggestPrices,
} from './suggest-store.ts'

export const suggestCurtailment = endpoint({
  method: 'GET',
  tag: 'Curtailment',
  module: 'basic_scada',
  scope: 'curtailment:read',
  path: '/curtailment/suggest',
  operation_id: 'curtailment_suggest',
  summary: 'Suggest a limit below the expected peak of a plant',
  description:
    'Returns a suggested limit; sends no command. The limit is ' +
    `${100 * limit_ratio} % of the highest \`p50_kw\` of the hours, rounded down to a whole percent ` +
    'of rated power, so that it always curtails some energy; null where less than one percent is ' +
    'expected. Expected power comes from the production forecast (`basis` is `forecast_p50`). ' +
    'Without a forecast for the whole window it comes from a clear-sky model of the panels, scaled ' +
    'by the ratio of measured to clear-sky energy at the same time of day on the last ' +
    `${recent_days} days, curtailed energy included (\`basis\` is \`clear_sky\`). ` +
    '`price_windows` lists the parts of the window in which the plant would pay to deliver, each ' +
    'with a limit of its own. It is empty for a contract that pays at negative prices; the cost of ' +
    'imbalance of energy sold ahead is not included. Price windows use the price forecast where ' +
    'the market has published no price. Hours are local hours of the site on `date`: a skipped ' +
    'hour in spring is left out, a repeated hour in autumn counts twice. Rejected with 422 when ' +
    'no hour is left.',
  query: {
    logger_id: LoggerId,
    date: field.Text('Local date of the site.', { format: 'date', examples: ['2026-06-21'] }),
    start_hour: field.Count('First hour, local time of the site.', { maximum: 23, examples: [11] }),
    end_hour: field.Int('End of the window, local time of the site; must be after `start_hour`.', {
      minimum: 1,
      maximum: 24,
      examples: [14],
    }),
  },
  returns: Suggestion,
  example: { answer: suggestionExample },
  async handle({ site: { site_id }, caller, query }, { db, clock }: Context) {
    if (query.end_hour <= query.start_hour) throw refusal('end_hour', 'must be after start_hour')
    const facts = await siteFacts(db, site_id)
    const span = hoursOnTheClock(query, facts.timezone)
    if (span === null) {
      throw refusal('start_hour', `the clocks of ${facts.timezone} skip these hours on that date`)
    }
    const { logger_id } = query
    const plant_id = { site_id, logger_id }
    const plant = await readPlantPanels(db, plant_id)
    if (plant === null) throw new ApiError('not_found', { logger_id })
    const now = clock.now()
    const target = targetOf(logger_id)
    const runs = await readIssuedForecasts({ db, clock }, { site_id, target }, utcDatesOf(span))
    const forecast = forecastHours(span, runs)
    const { hours, missing } = forecast
      ? { hours: forecast.hours, missing: null }
      : await expectation(db, plant, span, { site_id, facts, now })
    const priceAt = await readSuggestPrices(db, plant_id, span, now)
    const quarters = pricedQuarters(hours, priceAt)
    const answer = answerOf(plant, hours, { missing, now, forecast, quarters })
    return {
      logger_id,
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
  badField(field, 'out_of_range', message, 'query')

/** The hours with their expected power; `missing` is the reason why nothing is expected. */
async function expectation(
  db: Queries,
  plant: PlantPanels,
  span: Span,
  { site_id, facts, now }: { site_id: string; facts: SiteFacts; now: Date },
): Promise<{ hours: ExpectedHour[]; missing: Reason | null }> {
  const place = placeOf(facts)
  if (place === null || plant.panels.length === 0) {
    const unknown = { p10_kw: null, p50_kw: null, p90_kw: null, days: 0 }
    const hours = hoursOf(span).map((hour) => ({ ...hour, ...unknown }))
    return { hours, missing: place === null ? 'no_position' : 'no_panels' }
  }
  const until_ms = Math.floor(Math.min(now.getTime(), span.end_ms) / hour_ms) * hour_ms
  // One day more: for a time of day still to come, the newest measurement is yesterday's.
  const since = new Date(Math.min(until_ms, span.start_ms) - (recent_days + 1) * day_ms)
  const { logger_id, rated_power_kw } = plant
  const recent = await readRecentHours(db, { site_id, logger_id }, since, new Date(until_ms))
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
  // The expected 0 at night does not make daylight hours known.
  const is_known = missing === null && !doubts.includes('no_recent_output')
  const limit = suggestedLimit(hours, plant)
  const is_little = limit === null && is_known && !doubts.includes('no_daylight')
  const suggested_limit_kw = limit?.limit_kw ?? null
  const prices = priceMetrics(quarters)
  return {
    suggested_limit_kw,
    suggested_limit_pct: limit?.limit_pct ?? null,
    limit_mode: 'percent',
    rated_power_kw: plant.rated_power_kw,
    basis: forecast ? 'forecast_p50' : is_known ? 'clear_sky' : 'none',
    ...forecastMetrics(forecast),
    ...((limit && lostTo(limit.limit_kw, quarters)) ?? unpriced),
    ...prices,
    expected_curtailed_energy_kwh: limit && significant(limit.curtailed_energy_kwh),
    confidence: limit !== null && doubts.length === 0 ? (forecast?.confidence ?? 'medium') : 'low',
    reasons: [
      ...(forecast ? [] : (['no_forecast'] as const)),
      ...(prices.money_reason === null ? [] : (['no_price'] as const)),
      ...doubts,
      ...(is_little ? (['little_output'] as const) : []),
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

const forecastMetrics = (forecast: ForecastHours | null) => ({
  forecast_run_at: forecast?.run_at ?? null,
  forecast_peak_p50_kw: forecast && significant(forecast.peak_p50_kw),
  forecast_peak_p90_kw: forecast && significant(forecast.peak_p90_kw),
  forecast_energy_p50_kwh: forecast && significant(forecast.energy_p50_kwh),
})

/** For a caller without `earnings:read`: only market prices are shown. */
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
