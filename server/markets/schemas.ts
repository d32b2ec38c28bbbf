import { Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { followedSources, priceSources } from './price-store.ts'

const closed = (id: string) => ({ additionalProperties: false, $id: id }) as const
const Price = (description: string) => Nullable(Type.Number({ description }))
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Day = (description: string) => Type.String({ format: 'date', description })
const Currency = (description: string) => Type.String({ pattern: '^[A-Z]{3}$', description })
const LocalTime = (description: string) =>
  Nullable(Type.String({ pattern: '^\\d\\d:\\d\\d$', description }))
const Minutes = (description: string) => Type.Integer({ minimum: 15, maximum: 60, description })

export const MarketCode = Type.String({
  pattern: '^[A-Za-z0-9-]{1,20}$',
  description: 'A market of the list, such as `DE-LU`.',
  examples: ['DE-LU'],
})

const fetchStates = ['ok', 'waiting', 'failing', 'not_followed'] as const
export type FetchState = (typeof fetchStates)[number]

export const MarketRecord = Type.Object(
  {
    market_code: Type.String({ description: 'Names it in paths.' }),
    name: Type.String(),
    eic_code: Nullable(Type.String({ description: 'The bidding zone at ENTSO-E.' })),
    country_codes: Type.Array(Type.String(), { description: 'ISO 3166-1, two letters each.' }),
    type: Type.Enum(['day_ahead']),
    auction: Nullable(
      Type.Enum(['sdac', 'exaa', 'local'], {
        description: '`sdac`: the coupled market of Europe; `exaa`: the auction of 10:15.',
      }),
    ),
    operator: Nullable(Type.String({ description: 'Who runs the auction.' })),
    currency: Currency('ISO 4217, of all its prices.'),
    timezone: Type.String({ description: 'IANA name, of its delivery day and its local times.' }),
    resolution_minutes: Minutes('Length of its newest period; the usual one where it has none.'),
    gate_closure_local: LocalTime('HH:MM on the day before delivery; null: not known.'),
    publication_local: LocalTime('HH:MM on the day before delivery; null: not known.'),
    price_min_per_mwh: Price('The lowest price that the auction can give; null: not known.'),
    price_max_per_mwh: Price('The highest; null: not known.'),
    has_data_from_date: Nullable(Day('The UTC day of the first price that is here.')),
    last_price_at: Nullable(At('The end of the last period with a price.')),
    assigned_logger_ids: Type.Array(Type.Integer({ minimum: 0 }), {
      description: 'Loggers of the site that sit in it or sell into it today.',
    }),
    source: Nullable(
      Type.Enum([...followedSources], {
        description: 'Where its prices are fetched from; null: nowhere, they may be imported.',
      }),
    ),
    source_state: Type.Enum([...fetchStates], {
      description:
        '`ok`: its source was understood when it was last asked; `waiting`: it was not asked ' +
        'yet; `failing`: the last attempts failed, what was there before stays; `not_followed`.',
    }),
    fetched_at: Nullable(At('When its source was last understood.')),
    failed_at: Nullable(At('When fetching last failed.')),
    failure_count: Count('Attempts in a row that failed; 0 after one that did not.'),
    last_failure: Nullable(Type.String({ description: 'Why it last failed; stays afterwards.' })),
    next_attempt_at: Nullable(At('While it fails it is not asked before.')),
  },
  closed('Market'),
)

const MarketPrice = Type.Object(
  {
    start_at: At('Start of the period, inclusive.'),
    end_at: At('End of the period, exclusive.'),
    price_per_mwh: Price('null, not 0, where it is not known.'),
    is_negative: Nullable(Type.Boolean()),
    rank_of_day: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Among the known prices of the UTC day: 1 is the highest, equal ones share it.',
      }),
    ),
    delivery_date_local: Day("The delivery day it belongs to, in the market's time zone."),
    source: Nullable(Type.Enum([...priceSources], { description: 'Where it came from.' })),
    source_document_id: Nullable(
      Type.String({ description: "The source's name of its document." }),
    ),
    published_at: Nullable(At('When it was published, as far as the source says.')),
    fetched_at: Nullable(At('When this revision came here.')),
    revision: Nullable(
      Type.Integer({ minimum: 1, description: 'From 1; what a newer one replaced is kept.' }),
    ),
  },
  closed('MarketPrice'),
)

const statuses = ['published', 'partial', 'incomplete', 'not_yet_published', 'missing'] as const
export type PriceStatus = (typeof statuses)[number]

const day = {
  target_date: Day('The day, UTC.'),
  currency: Currency('Of the prices, ISO 4217.'),
  resolution_minutes: Minutes('Of the shortest period of the day.'),
  period_count: Count(
    'Periods of `resolution_minutes` with a price; a longer one counts as those that it covers.',
  ),
  due_period_count: Count('Those that should be published by now, with a price or without.'),
  expected_period_count: Count(
    'Those of the whole day: of a UTC day always 96 quarters of an hour, 48 halves or 24 hours.',
  ),
  base_until_at: Nullable(
    At('End of the part of the day that the base price is of; null where none is published.'),
  ),
  status: Type.Enum([...statuses], {
    description:
      '`published`: every period has a price; `partial`: every one that is published by now, the ' +
      'rest is still ahead, since a UTC day shares time with two delivery days; `incomplete`: ' +
      'some have, others that should be published have not; `not_yet_published`: none is due; ' +
      '`missing`: none has a price, though some should.',
  }),
}

const statistics = {
  base_price_per_mwh: Price(
    'Mean over the day up to `base_until_at`; null unless all of that is known.',
  ),
  peak_price_per_mwh: Price(
    "Mean from 08:00 to 20:00 of the market's clock, on any weekday; null unless all is known.",
  ),
  min_price_per_mwh: Price('Lowest of the known prices.'),
  max_price_per_mwh: Price('Highest of the known prices.'),
  negative_period_count: Nullable(Count('Known prices below zero; null where none is known.')),
  solar_weighted_price_per_mwh: Price(
    'Mean weighted by the global horizontal irradiance that a sky without clouds gives at the ' +
      'site; null where a lit period has no price, and where the position of the site is not known.',
  ),
}

export const MarketDay = Type.Object(
  {
    data: Type.Array(MarketPrice),
    meta: Type.Object(
      {
        count: Type.Integer({ minimum: 0, description: 'Periods, with a price or without.' }),
        market_code: Type.String(),
        ...day,
        ...statistics,
      },
      closed('MarketDayMeta'),
    ),
  },
  { additionalProperties: false },
)

const ComparedPeriod = Type.Object(
  {
    start_at: At('Start of the period, inclusive.'),
    end_at: At('End of the period, exclusive.'),
    price_per_mwh: Price('null, not 0, where it is not known.'),
  },
  closed('ComparedPeriod'),
)

const reasons = ['no_exchange_rate', 'no_home_market', 'prices_incomplete'] as const
export type SpreadReason = (typeof reasons)[number]

const ComparedMarket = Type.Object(
  {
    market_code: Type.String(),
    name: Type.String(),
    ...day,
    fx_rate_to_base: Nullable(
      Type.Number({
        description: 'What one of its currency is in `base_currency`; null: no rate is set.',
      }),
    ),
    ...statistics,
    spread_to_home_per_mwh: Price(
      'Its base price less that of the home market, in `base_currency`; null says why beside it.',
    ),
    spread_reason: Nullable(
      Type.Enum([...reasons], { description: 'Why there is no spread; null where there is one.' }),
    ),
    is_home_market: Type.Boolean({ description: "Whether most of the site's power sits in it." }),
    rank: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'By base price in `base_currency`, 1 the highest; null where that is unknown.',
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
        target_date: Day('The day, UTC.'),
        home_market_code: Nullable(
          Type.String({ description: "Where most of the site's power sits; null: not assigned." }),
        ),
        base_currency: Currency('Of the home market; EUR without one.'),
      },
      closed('MarketComparisonMeta'),
    ),
  },
  { additionalProperties: false },
)
