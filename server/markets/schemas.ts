import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'

/** Sources from which the prices of a market are fetched. */
export const followedSources = ['entsoe', 'energy_charts', 'simulated'] as const
export type FollowedSource = (typeof followedSources)[number]
/** Sources of stored prices. */
export const priceSources = [...followedSources, 'csv'] as const
export type PriceSource = (typeof priceSources)[number]

const closed = (id: string) => ({ additionalProperties: false, $id: id }) as const
const Price = (description: string) => Nullable(Type.Number({ description }))
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Day = (description: string) => Type.String({ format: 'date', description })
const Currency = (description: string) =>
  Type.String({ pattern: '^[A-Z]{3}$', description, examples: ['EUR'] })
const LocalTime = (description: string, example: string) =>
  Nullable(Type.String({ pattern: '^\\d\\d:\\d\\d$', description, examples: [example] }))
const Minutes = (description: string) => Type.Integer({ minimum: 15, maximum: 60, description })

export const MarketCode = Type.String({
  pattern: '^[A-Za-z0-9-]{1,20}$',
  description: 'Code of a market of the list, such as `DE-LU`.',
  examples: ['DE-LU'],
})

const fetchStates = ['ok', 'waiting', 'failing', 'not_followed'] as const

export type MarketRecord = Static<typeof MarketRecord>
export const MarketRecord = Type.Object(
  {
    market_code: Type.String({ description: 'Identifies the market in paths.', examples: ['BG'] }),
    name: Type.String({ examples: ['Bulgaria'] }),
    eic_code: Nullable(
      Type.String({
        description: 'EIC code of the bidding zone at ENTSO-E.',
        examples: ['10YCA-BULGARIA-R'],
      }),
    ),
    country_codes: Type.Array(Type.String(), {
      description: 'ISO 3166-1 alpha-2 codes.',
      examples: [['BG']],
    }),
    type: Type.Enum(['day_ahead']),
    auction: Nullable(
      Type.Enum(['sdac', 'exaa', 'local'], {
        description:
          '`sdac`: single day-ahead coupling of Europe; `exaa`: the EXAA auction at 10:15; `local`: ' +
          'an auction outside the coupling.',
        examples: ['sdac'],
      }),
    ),
    operator: Nullable(
      Type.String({ description: 'Operator of the auction.', examples: ['IBEX'] }),
    ),
    currency: Currency('ISO 4217 code of all prices of the market.'),
    timezone: Type.String({
      description: 'IANA time zone of the delivery day and of the local times of the market.',
      examples: ['Europe/Brussels'],
    }),
    resolution_minutes: Minutes(
      'Length of the newest period with a price; without prices, the usual length of the market.',
    ),
    gate_closure_local: LocalTime('HH:MM on the day before delivery; null when unknown.', '12:00'),
    publication_local: LocalTime('HH:MM on the day before delivery; null when unknown.', '12:57'),
    price_min_per_mwh: Price('Lower price limit of the auction; null when unknown.'),
    price_max_per_mwh: Price('Upper price limit of the auction; null when unknown.'),
    has_data_from_date: Nullable(Day('UTC day of the oldest stored price.')),
    last_price_at: Nullable(At('End of the newest period with a price.')),
    assigned_logger_ids: Type.Array(Type.Integer({ minimum: 0 }), {
      description: 'Loggers of the site that are assigned to the market or sell into it today.',
      examples: [[1, 2]],
    }),
    source: Nullable(
      Type.Enum([...followedSources], {
        description: 'Source from which prices are fetched; null when prices are only imported.',
        examples: ['entsoe'],
      }),
    ),
    source_state: Type.Enum([...fetchStates], {
      description:
        '`ok`: the last fetch succeeded; `waiting`: no fetch was attempted yet; `failing`: the last ' +
        'attempts failed, stored prices stay; `not_followed`: prices are not fetched.',
    }),
    fetched_at: Nullable(At('Time of the last successful fetch.')),
    failed_at: Nullable(At('Time of the last failed fetch.')),
    failure_count: Count('Consecutive failed attempts; 0 after a success.'),
    last_failure: Nullable(
      Type.String({
        description: 'Reason of the last failure. Stays after a success.',
        examples: ['2026-06-19: ENTSO-E answered 503'],
      }),
    ),
    next_attempt_at: Nullable(
      At('Earliest time of the next attempt while fetches fail; else null.'),
    ),
  },
  closed('Market'),
)

const periodFields = {
  start_at: At('Start of the period, inclusive.'),
  end_at: At('End of the period, exclusive.'),
  price_per_mwh: Price('Null, not 0, when unknown.'),
}

const MarketPrice = Type.Object(
  {
    ...periodFields,
    is_negative: Nullable(Type.Boolean()),
    rank_of_day: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Rank among the known prices of the UTC day. 1 is the highest; equal prices share a rank.',
      }),
    ),
    delivery_date_local: Day('Delivery day of the period, in the time zone of the market.'),
    source: Nullable(Type.Enum([...priceSources], { description: 'Source of the price.' })),
    source_document_id: Nullable(
      Type.String({ description: 'Identifier of the document at the source.' }),
    ),
    published_at: Nullable(At('Time of publication; null when the source does not state one.')),
    fetched_at: Nullable(At('When this server received the revision.')),
    revision: Nullable(
      Type.Integer({ minimum: 1, description: 'Counts from 1. Replaced revisions stay stored.' }),
    ),
  },
  closed('MarketPrice'),
)

const statuses = ['published', 'partial', 'incomplete', 'not_yet_published', 'missing'] as const

export type DayFacts = Static<typeof DayFacts>
const dayFields = {
  target_date: Day('UTC day.'),
  currency: Currency('ISO 4217 code of the prices.'),
  resolution_minutes: Minutes('Length of the shortest period of the day.'),
  period_count: Count(
    'Periods of `resolution_minutes` with a price; a longer period counts as the periods that it covers.',
  ),
  due_period_count: Count('Periods that are due for publication by now, with or without a price.'),
  expected_period_count: Count(
    'Periods of the whole UTC day: 96 quarter hours, 48 half hours or 24 hours.',
  ),
  base_until_at: Nullable(
    At('End of the part of the day that the base price covers; null when nothing is published.'),
  ),
  status: Type.Enum([...statuses], {
    description:
      '`published`: every period has a price; `partial`: every due period has a price, the rest ' +
      'belongs to a delivery day that is published later; `incomplete`: some due periods have no ' +
      'price; `not_yet_published`: no period is due; `missing`: periods are due and none has a price.',
  }),
}

const DayFacts = Type.Object(dayFields)

const statistics = {
  base_price_per_mwh: Price(
    'Mean price of the day up to `base_until_at`; null unless every price is known.',
  ),
  peak_price_per_mwh: Price(
    'Mean price from 08:00 to 20:00 market time on any weekday; null unless every price is known.',
  ),
  min_price_per_mwh: Price('Lowest known price.'),
  max_price_per_mwh: Price('Highest known price.'),
  negative_period_count: Nullable(Count('Known prices below zero; null when no price is known.')),
  solar_weighted_price_per_mwh: Price(
    'Mean price weighted by the clear-sky global horizontal irradiance at the site; null when a ' +
      'daylight period has no price or the position of the site is unknown.',
  ),
}

export const MarketDay = Type.Object(
  {
    data: Type.Array(MarketPrice),
    meta: Type.Object(
      {
        count: Type.Integer({ minimum: 0, description: 'Periods, with or without a price.' }),
        market_code: Type.String(),
        ...dayFields,
        ...statistics,
      },
      closed('MarketDayMeta'),
    ),
  },
  { additionalProperties: false },
)

const ComparedPeriod = Type.Object(periodFields, closed('ComparedPeriod'))

const reasons = ['no_exchange_rate', 'no_home_market', 'prices_incomplete'] as const

export type ComparedMarket = Static<typeof ComparedMarket>
const ComparedMarket = Type.Object(
  {
    market_code: Type.String(),
    name: Type.String(),
    ...dayFields,
    fx_rate_to_base: Nullable(
      Type.Number({
        description:
          'Value of one unit of `currency` in `base_currency`; null when no rate is set.',
      }),
    ),
    ...statistics,
    spread_to_home_per_mwh: Price(
      'Base price minus the base price of the home market, in `base_currency`; when null, see ' +
        '`spread_reason`.',
    ),
    spread_reason: Nullable(
      Type.Enum([...reasons], { description: 'Why the spread is null; else null.' }),
    ),
    is_home_market: Type.Boolean({
      description: 'Whether most of the rated power of the site is assigned to this market.',
    }),
    rank: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Rank by base price in `base_currency`. 1 is the highest; null when that is unknown.',
      }),
    ),
    periods: Type.Array(ComparedPeriod),
  },
  closed('ComparedMarket'),
)

export const MarketComparison = Type.Object(
  {
    data: Type.Array(ComparedMarket),
    meta: Type.Object(
      {
        count: Type.Integer({ minimum: 0 }),
        target_date: Day('UTC day.'),
        home_market_code: Nullable(
          Type.String({
            description:
              'Market to which most of the rated power of the site is assigned; null without one.',
          }),
        ),
        base_currency: Currency('Currency of the home market; EUR without one.'),
      },
      closed('MarketComparisonMeta'),
    ),
  },
  { additionalProperties: false },
)
