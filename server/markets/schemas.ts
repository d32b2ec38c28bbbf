import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Closed, Named, Nullable } from '../http/params.ts'

export const followedSources = ['entsoe', 'energy_charts', 'simulated'] as const
export type FollowedSource = (typeof followedSources)[number]
export const priceSources = [...followedSources, 'csv'] as const
export type PriceSource = (typeof priceSources)[number]

const Currency = (description: string) =>
  field.Text(description, { pattern: '^[A-Z]{3}$', examples: ['EUR'] })
const LocalTime = (description: string, example: string) =>
  field.TextOrNull(description, { pattern: '^\\d\\d:\\d\\d$', examples: [example] })
const Minutes = (description: string) =>
  field.Int(description, { minimum: 15, maximum: 60, examples: [15] })

export const MarketCode = field.Text('Code of a market of the list, such as `DE-LU`.', {
  pattern: '^[A-Za-z0-9-]{1,20}$',
  examples: ['DE-LU'],
})

const fetchStates = ['ok', 'waiting', 'failing', 'not_followed'] as const

export type MarketRecord = Static<typeof MarketRecord>
export const MarketRecord = Named('Market', {
  market_code: field.Text('Identifies the market in paths.', 'BG'),
  name: Type.String({ examples: ['Bulgaria'] }),
  eic_code: field.TextOrNull('EIC code of the bidding zone at ENTSO-E.', '10YCA-BULGARIA-R'),
  country_codes: Type.Array(Type.String(), {
    description: 'ISO 3166-1 alpha-2 codes.',
    examples: [['BG']],
  }),
  type: Type.Enum(['day_ahead']),
  auction: field.OneOfOrNull(
    ['sdac', 'exaa', 'local'],
    '`sdac`: single day-ahead coupling of Europe; `exaa`: the EXAA auction at 10:15; `local`: ' +
      'an auction outside the coupling.',
    'sdac',
  ),
  operator: field.TextOrNull('Operator of the auction.', 'IBEX'),
  currency: Currency('ISO 4217 code of all prices of the market.'),
  timezone: field.Text(
    'IANA time zone of the delivery day and of the local times of the market.',
    'Europe/Brussels',
  ),
  resolution_minutes: Minutes(
    'Length of the newest period with a price; without prices, the usual length of the market.',
  ),
  gate_closure_local: LocalTime('HH:MM on the day before delivery; null when unknown.', '12:00'),
  publication_local: LocalTime('HH:MM on the day before delivery; null when unknown.', '12:57'),
  price_min_per_mwh: field.NumOrNull('Lower price limit of the auction; null when unknown.', -500),
  price_max_per_mwh: field.NumOrNull('Upper price limit of the auction; null when unknown.', 4000),
  has_data_from_date: field.DayOrNull('UTC day of the oldest stored price.', '2025-09-30'),
  last_price_at: field.AtOrNull(
    'End of the newest period with a price.',
    '2026-06-22T22:00:00.000Z',
  ),
  assigned_logger_ids: Type.Array(Type.Integer({ minimum: 0 }), {
    description: 'Loggers of the site that are assigned to the market or sell into it today.',
    examples: [[1, 2]],
  }),
  source: field.OneOfOrNull(
    followedSources,
    'Source from which prices are fetched; null when prices are only imported.',
    'entsoe',
  ),
  source_state: field.OneOf(
    fetchStates,
    '`ok`: the last fetch succeeded; `waiting`: no fetch was attempted yet; `failing`: the last ' +
      'attempts failed, stored prices stay; `not_followed`: prices are not fetched.',
  ),
  fetched_at: field.AtOrNull('Time of the last successful fetch.', '2026-06-21T11:00:04.000Z'),
  failed_at: field.AtOrNull('Time of the last failed fetch.', '2026-06-18T11:10:31.000Z'),
  failure_count: field.Count('Consecutive failed attempts; 0 after a success.'),
  last_failure: field.TextOrNull(
    'Reason of the last failure. Stays after a success.',
    '2026-06-19: ENTSO-E answered 503',
  ),
  next_attempt_at: field.AtOrNull(
    'Earliest time of the next attempt while fetches fail; else null.',
  ),
})

/** Fields about the fetching of prices and the stored ones, not about the market itself. */
export type FetchField =
  | 'has_data_from_date'
  | 'last_price_at'
  | 'assigned_logger_ids'
  | 'source_state'
  | 'fetched_at'
  | 'failed_at'
  | 'failure_count'
  | 'last_failure'
  | 'next_attempt_at'

const periodFields = {
  start_at: field.At('Start of the period, inclusive.'),
  end_at: field.At('End of the period, exclusive.', '2026-06-21T10:15:00.000Z'),
  price_per_mwh: field.NumOrNull('Null, not 0, when unknown.', -4.1),
}

const MarketPrice = Named('MarketPrice', {
  ...periodFields,
  is_negative: Nullable(Type.Boolean({ examples: [true] })),
  rank_of_day: field.IntOrNull(
    'Rank among the known prices of the UTC day. 1 is the highest; equal prices share a rank.',
    { minimum: 1, examples: [87] },
  ),
  delivery_date_local: field.Day('Delivery day of the period, in the time zone of the market.'),
  source: field.OneOfOrNull(priceSources, 'Source of the price.', 'entsoe'),
  source_document_id: field.TextOrNull(
    'Identifier of the document at the source.',
    '64e2af3a87c2404cbea80edc067a1b6f',
  ),
  published_at: field.AtOrNull('Time of publication; null when the source does not state one.'),
  fetched_at: field.AtOrNull('When this server received the revision.', '2026-06-20T11:00:04.000Z'),
  revision: field.IntOrNull('Counts from 1. Replaced revisions stay stored.', {
    minimum: 1,
    examples: [1],
  }),
})

const statuses = ['published', 'partial', 'incomplete', 'not_yet_published', 'missing'] as const

export type DayFacts = Static<typeof DayFacts>
const dayFields = {
  target_date: field.Day('UTC day.'),
  currency: Currency('ISO 4217 code of the prices.'),
  resolution_minutes: Minutes('Length of the shortest period of the day.'),
  period_count: field.Count(
    'Periods of `resolution_minutes` with a price; a longer period counts as the periods that it covers.',
    96,
  ),
  due_period_count: field.Count(
    'Periods that are due for publication by now, with or without a price.',
    96,
  ),
  expected_period_count: field.Count(
    'Periods of the whole UTC day: 96 quarter hours, 48 half hours or 24 hours.',
    96,
  ),
  base_until_at: field.AtOrNull(
    'End of the part of the day that the base price covers; null when nothing is published.',
    '2026-06-22T00:00:00.000Z',
  ),
  status: field.OneOf(
    statuses,
    '`published`: every period has a price; `partial`: every due period has a price, the rest ' +
      'belongs to a delivery day that is published later; `incomplete`: some due periods have no ' +
      'price; `not_yet_published`: no period is due; `missing`: periods are due and none has a price.',
  ),
}

const DayFacts = Type.Object(dayFields)

const statistics = {
  base_price_per_mwh: field.NumOrNull(
    'Mean price of the day up to `base_until_at`; null unless every price is known.',
    61.284063,
  ),
  peak_price_per_mwh: field.NumOrNull(
    'Mean price from 08:00 to 20:00 market time on any weekday; null unless every price is known.',
    24.510417,
  ),
  min_price_per_mwh: field.NumOrNull('Lowest known price.', -12.4),
  max_price_per_mwh: field.NumOrNull('Highest known price.', 148.02),
  negative_period_count: field.CountOrNull(
    'Known prices below zero; null when no price is known.',
    14,
  ),
  solar_weighted_price_per_mwh: field.NumOrNull(
    'Mean price weighted by the clear-sky global horizontal irradiance at the site; null when a ' +
      'daylight period has no price or the position of the site is unknown.',
    11.902318,
  ),
}

export const MarketDay = Closed({
  data: Type.Array(MarketPrice),
  meta: Named('MarketDayMeta', {
    count: field.Count('Periods, with or without a price.', 96),
    market_code: Type.String({ examples: ['BG'] }),
    ...dayFields,
    ...statistics,
  }),
})

const ComparedPeriod = Named('ComparedPeriod', periodFields)

const reasons = ['no_exchange_rate', 'no_home_market', 'prices_incomplete'] as const

export type ComparedMarket = Static<typeof ComparedMarket>
export const ComparedMarket = Named('ComparedMarket', {
  market_code: Type.String({ examples: ['BG'] }),
  name: Type.String({ examples: ['Bulgaria'] }),
  ...dayFields,
  fx_rate_to_base: field.NumOrNull(
    'Value of one unit of `currency` in `base_currency`; null when no rate is set.',
    1,
  ),
  ...statistics,
  spread_to_home_per_mwh: field.NumOrNull(
    'Base price minus the base price of the home market, in `base_currency`; when null, see ' +
      '`spread_reason`.',
    0,
  ),
  spread_reason: field.OneOfOrNull(reasons, 'Why the spread is null; else null.'),
  is_home_market: field.Flag(
    'Whether most of the rated power of the site is assigned to this market.',
  ),
  rank: field.IntOrNull(
    'Rank by base price in `base_currency`. 1 is the highest; null when that is unknown.',
    { minimum: 1, examples: [2] },
  ),
  periods: Type.Array(ComparedPeriod),
})

export const MarketComparison = Closed({
  data: Type.Array(ComparedMarket),
  meta: Named('MarketComparisonMeta', {
    count: Type.Integer({ minimum: 0, examples: [2] }),
    target_date: field.Day('UTC day.'),
    home_market_code: field.TextOrNull(
      'Market to which most of the rated power of the site is assigned; null without one.',
      'BG',
    ),
    base_currency: Currency('Currency of the home market; EUR without one.'),
  }),
})
