import { Type } from 'typebox'
import { accountReasons } from '../contracts/accounting.ts'
import { contractTypes, feeBases, feeCodes } from '../contracts/contracts.ts'
import { daySpanFields } from '../http/envelope.ts'
import { LoggerId, Nullable } from '../http/params.ts'
import { arbitrageReasons } from './arbitrage.ts'

const closed = (id: string) => ({ additionalProperties: false, $id: id }) as const
const instant = (description: string, examples?: string[]) =>
  Type.String({ format: 'date-time', description, ...(examples && { examples }) })
const day = (description: string) =>
  Type.String({ format: 'date', description, examples: ['2026-06-20'] })
const money = (description: string) => Nullable(Type.Number({ description }))
const kwh = (description: string) => Nullable(Type.Number({ description }))
const currency = (
  description = 'ISO 4217, of every amount and price here.',
  examples: readonly string[] = ['EUR'],
) => Type.String({ pattern: '^[A-Z]{3}$', description, examples })

const priceStatuses = ['final', 'provisional'] as const
const price_status = Type.Enum([...priceStatuses], {
  description:
    '`final`: every price is known, all that will be known of the energy is, and it is more than ' +
    '14 days ago, after which readings hardly come; else `provisional`, as while readings of a gap ' +
    'may still come.',
})
const reason_text =
  '`no_contract`: the plant has none then, or is not in service; `no_price`: a market period without a price; ' +
  '`no_exchange_rate`: of currencies without a rate; `no_energy`: that of an inverter is not ' +
  'known, while it must be awake; `not_yet`: nothing was told of the time so far.'
const completeness_pct = Nullable(
  Type.Number({
    minimum: 0,
    maximum: 100,
    description:
      'Part of the time so far, with the sun 3° above the horizon or more, in which the inverters ' +
      'were measured; `null` where there is none.',
  }),
)

const market_code = (description: string) => Type.String({ examples: ['DE-LU'], description })

const EarningsFee = Type.Object(
  {
    code: Type.Enum([...feeCodes]),
    name: Type.String(),
    basis: Type.Enum([...feeBases], {
      description:
        '`per_mwh` of energy; `percent` of gross; `per_month` of the time zone of the market, as ' +
        'the time passes while the plant is in service, whether its energy is known or not; ' +
        '`per_mw_month` also by rated power; `imbalance`: what the deviation from ' +
        'the forecast costs, where it is known, else the rate per MWh.',
    }),
    rate: Type.Number({ description: 'As the contract has it: in its currency, or in percent.' }),
    rate_currency: Nullable(currency('ISO 4217, of `rate`; null: percent.')),
    amount: money('What it comes to; null where `fees_amount` is.'),
  },
  closed('EarningsFee'),
)

const ExchangeRate = Type.Object(
  {
    currency: currency('ISO 4217, of what is converted.', ['BGN']),
    base_currency: currency('ISO 4217, into which.', ['EUR']),
    rate: Type.Number({
      description: 'How many `base_currency` one `currency` was.',
      examples: [0.511292],
    }),
    as_of_date: day('The day of the rate.'),
    start_date: day('First day, UTC, that it converts.'),
    end_date: day('Last day, UTC, of them.'),
  },
  closed('ExchangeRate'),
)
const exchange_rates = Type.Array(ExchangeRate, {
  description:
    'The rates between the currencies of markets, fees, contracts and sums, by the day. An amount ' +
    'of an hour and plant, and that of a day and battery, is converted as a whole, and rounded to ' +
    'a millionth.',
})

const UnknownMoney = Type.Object(
  {
    reason: Type.Enum([...accountReasons], { description: reason_text }),
    market_code: Nullable(
      market_code('The market whose price or currency it is; `null` of `no_energy`.'),
    ),
    start_at: instant('The first hour of them.', ['2026-06-20T13:00:00Z']),
    end_at: instant('The end of the last hour of them.', ['2026-06-20T15:00:00Z']),
    hour_count: Type.Integer({
      minimum: 1,
      description: 'How many hours of plants.',
      examples: [2],
    }),
  },
  closed('UnknownMoney'),
)

const KnownMoney = Type.Object(
  {
    energy_kwh: Type.Number({
      description:
        'Of what was sold, that which has a price: also in hours in which only some inverters are ' +
        'known. Where there is none but of nights, `known` is `null`.',
    }),
    gross_amount: Type.Number(),
    fees_amount: Type.Number({
      description: 'Of hours whose prices are known: those by the month also of other energy.',
    }),
    net_amount: Type.Number({ description: '`gross_amount` less `fees_amount`.' }),
  },
  closed('KnownMoney'),
)

const figures = {
  currency: Nullable(
    currency(
      'ISO 4217, of every amount and price here: that of the contracts, or that of the site where ' +
        'they have several.',
    ),
  ),
  energy_sold_kwh: kwh(
    'Delivered under a contract, as far as it is known: `null` where it is of no hour but nights.',
  ),
  energy_without_contract_kwh: Type.Number({ description: 'Delivered under none; in no amount.' }),
  gross_amount: money(
    'Energy times the price of the contract, of each market period; below 0 where prices were. ' +
      '`null` where a price or a rate of any hour is not known: see `known`. Where energy is not ' +
      'known, as `unknown` tells, it is of what is; `null` where none is. Hours and days add up.',
  ),
  fees_amount: money(
    'Sum of `fees`: those by energy of what is known of it, those by the month of all the time. ' +
      '`null` where a price or a rate of any hour is not known. Hours and days add up.',
  ),
  net_amount: money(
    '`gross_amount` less `fees_amount`, `null` where gross is: where energy is not known it is less ' +
      'than the sum of the net of hours, days or plants, for fees of such an hour, day or plant are ' +
      'due and its net is `null`.',
  ),
  fees: Type.Array(EarningsFee),
  average_price_per_mwh: money('Captured: gross by energy.'),
  market_base_price_per_mwh: money('Mean market price of the time, hour by hour and plant.'),
  capture_rate_pct: money(
    'Mean market price weighted by the energy that is known, in percent of the plain mean over the ' +
      'hours of plants whose energy is known, in part too, nights among them. ' +
      '`market_base_price_per_mwh` counts also hours whose energy is not known: where there are ' +
      'such hours, this is not in percent of it. `null` where that mean is not above 0.',
  ),
  negative_price_energy_kwh: kwh(
    'Delivered while the market price was below 0, as far as both are known; `null` where no market ' +
      'price is, or no energy.',
  ),
  negative_price_cost_amount: money('Paid for delivering meanwhile, above 0.'),
  curtailed_energy_kwh: kwh(
    'Kept back by limits from outside, whoever set them: by the light that was measured, and where ' +
      'none was by what inverters say that they could deliver, as rows of curtailment tell it ' +
      'always. `null` where not known.',
  ),
  curtailment_loss_amount: money('What it would have earned at prices of the contract above 0.'),
  curtailment_avoided_cost_amount: money('What it would have cost at prices below 0.'),
  bess_arbitrage_amount: money(
    'What batteries earned: energy discharged less charged, times the day-ahead price of their ' +
      'market, without fees. Below 0 where charging cost more. In no other amount: charging is paid ' +
      'for, also with energy of the own plant, whose gross has it as sold, so that the two add up. ' +
      'Of a plant it is of its batteries; those at the common connection are in the total only. ' +
      'Where energy is not known, it is of what is.',
  ),
  bess_arbitrage_reason: Nullable(
    Type.Enum([...arbitrageReasons], {
      description:
        'Why it is `null`, or with `no_energy` not of all energy. `no_battery`: none in service ' +
        'then; `no_market`: neither the battery nor its plant or site has one on some day; ' +
        '`no_price`, `no_exchange_rate`: of some energy that moved; `not_yet`: the time is to come.',
    }),
  ),
  bess_completeness_pct: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        'Part of the time so far in which batteries were in service of which their energy is known; ' +
        '`null` where there is none.',
    }),
  ),
  imbalance_amount: money(
    'Deviation from the forecast before the gate closure, at the imbalance price less the day-ahead ' +
      'price; below 0 where it cost. In no other amount but by a fee. `null` where no quarter hour ' +
      'has a forecast and both prices.',
  ),
  price_status,
  data_completeness_pct: completeness_pct,
  known: Nullable(KnownMoney),
  unknown: Type.Array(UnknownMoney, {
    description: 'Hours under a contract whose money is not known, by reason and market.',
  }),
}

const LoggerEarnings = Type.Object(
  { logger_id: LoggerId, logger_name: Type.String(), ...figures },
  closed('LoggerEarnings'),
)

const DayEarnings = Type.Object(
  {
    date: day('The day, UTC.'),
    energy_kwh: kwh('Delivered under a contract, as `energy_sold_kwh`.'),
    gross_amount: money('As above.'),
    fees_amount: money('As above.'),
    net_amount: money('As above.'),
  },
  closed('DayEarnings'),
)

export const EarningsSummary = Type.Object(
  {
    start_date: day('First day.'),
    end_date: day('Last day.'),
    timezone: Type.String({ description: 'Of all days: `UTC`, or the IANA name that was given.' }),
    logger_id: Nullable(LoggerId),
    ...figures,
    reason: Nullable(
      Type.Enum([...accountReasons], {
        description: `Why amounts are \`null\` or not of all energy, the first of them: ${reason_text}`,
      }),
    ),
    by_logger: Nullable(
      Type.Array(LoggerEarnings, { description: 'The plants; `null` where one was asked for.' }),
    ),
    exchange_rates,
    by_day: Type.Array(DayEarnings, { description: 'Days that have begun, in `currency`.' }),
    calculated_at: instant('Now.'),
  },
  closed('EarningsSummary'),
)

const EarningsHour = Type.Object(
  {
    start_at: instant('Start of the hour, inclusive.'),
    end_at: instant('End of the hour, exclusive.'),
    logger_id: LoggerId,
    market_code: Nullable(market_code('The market that is sold into.')),
    energy_kwh: kwh('Delivered, as far as it is known; 0 at night.'),
    price_per_mwh: money('What the contract pays: mean of the quarter hours.'),
    market_price_per_mwh: money('Day-ahead price, in the currency of the contract: mean of them.'),
    gross_amount: money(
      'Sum of the products of the quarter hours; `null` for `reason`, but for that of the energy ' +
        'that is known.',
    ),
    fees_amount: money(
      'Those of the month, too, as far as the hour goes: they are due also where the energy is not ' +
        'known. `null` for any other reason.',
    ),
    net_amount: money('`gross_amount` less `fees_amount`; `null` where gross is.'),
    curtailed_energy_kwh: kwh('Kept back by limits from outside, as in the summary.'),
    lost_amount: money('What it would have earned, less what it would have cost.'),
    currency: Nullable(currency('ISO 4217, of the contract.')),
    price_status,
    reason: Nullable(
      Type.Enum([...accountReasons], {
        description: `Why amounts are \`null\` or not of all energy: ${reason_text}`,
      }),
    ),
    completeness_pct,
    is_partial: Type.Boolean({
      description: 'The hour is not over yet, or less than 95 % of it was measured.',
    }),
  },
  closed('EarningsHour'),
)

export const EarningsHours = Type.Object(
  {
    data: Type.Array(EarningsHour),
    meta: Type.Object(
      { count: Type.Integer({ minimum: 0 }), ...daySpanFields, exchange_rates },
      closed('EarningsHoursMeta'),
    ),
  },
  { additionalProperties: false },
)

const FeeTerms = Type.Object(
  {
    code: EarningsFee.properties.code,
    name: Type.String(),
    basis: EarningsFee.properties.basis,
    rate: EarningsFee.properties.rate,
    rate_currency: EarningsFee.properties.rate_currency,
    valid_from_date: day('First day, in the time zone of the market.'),
    valid_to_date: Nullable(day('Last day.')),
  },
  closed('FeeTerms'),
)

export const MarketAssignment = Type.Object(
  {
    assignment_id: Type.Integer({ minimum: 0 }),
    logger_id: LoggerId,
    logger_name: Type.String(),
    market_code: market_code('The market where the plant is.'),
    sold_market_code: Nullable(market_code('The market that is sold into, where it is another.')),
    contract_type: Type.Enum([...contractTypes], {
      description:
        'With the market price P and the fixed price S: `spot` pays P; `fixed_price` and ' +
        '`feed_in_tariff` S; `ppa` S, or P where there is none; `feed_in_premium` P + S; `cfd` ' +
        'P + (S - P), both ways.',
    }),
    fixed_price_per_mwh: money('S; of a premium what is paid on top.'),
    floor_price_per_mwh: money('No less is paid.'),
    fee_schedule: Type.Array(FeeTerms, { description: 'Fees of the plant in this time.' }),
    currency: currency(),
    valid_from_date: day('First day, in the time zone of the market.'),
    valid_to_date: Nullable(day('Last day; null for no end.')),
    timezone: Type.String({ description: 'Of the market that is sold into, IANA name.' }),
    offtaker: Nullable(Type.String()),
    imbalance_responsible_party: Nullable(Type.String()),
    pays_at_negative_price: Type.Boolean({
      description:
        'Where not, the contract pays nothing while P is below 0: the plant earns 0, or P where ' +
        'the contract is paid beside the market (`feed_in_premium`, `cfd`).',
    }),
    is_active: Type.Boolean({ description: 'Holds today.' }),
  },
  closed('MarketAssignment'),
)

export const CrossBorderPrice = Type.Object(
  {
    start_at: instant('Start of the period, inclusive.'),
    end_at: instant('End of the period, exclusive.'),
    base_market_code: market_code('The market where the plant is.'),
    sold_market_code: market_code('The market sold into.'),
    base_price_per_mwh: money('There; the mean, where its periods are shorter.'),
    sold_price_per_mwh: money('There, converted into `currency`; the mean, as above.'),
    spread_per_mwh: money('Sold less base.'),
    capacity_price_per_mwh: Type.Null({
      description:
        'Of cross-border capacity by explicit auction. Not filled yet: needs prices of that capacity.',
    }),
    net_spread_per_mwh: money(
      'The spread less fees of `cross_border` that go by energy (`per_mwh`, and `percent` of the ' +
        'price sold at): of the plants whose contracts sell across this border then, or of all in ' +
        'the base market where none does.',
    ),
    currency: currency('ISO 4217, of the base market.'),
    fx_rate: money('How many `currency` one of the sold market was.'),
    favourable: Nullable(Type.Boolean({ description: 'The net spread is above 0.' })),
    reason: Nullable(
      Type.Enum(['no_price', 'no_exchange_rate', 'fees_differ'], {
        description:
          'Why the net spread is `null`; `fees_differ`: from plant to plant, so that there is no ' +
          'one figure.',
      }),
    ),
  },
  closed('CrossBorderPrice'),
)

const CrossBorderSummary = Type.Object(
  {
    period_count: Type.Integer({ minimum: 0 }),
    complete_count: Type.Integer({ minimum: 0, description: 'Periods with both prices.' }),
    resolution_minutes: Type.Integer({ minimum: 0, description: 'The coarser one of the two.' }),
    mean_base_price_per_mwh: money(
      'Over the time of periods with both prices, as all that follows: each counts by its length.',
    ),
    mean_sold_price_per_mwh: money('Of the market sold into.'),
    mean_spread_per_mwh: money('Sold less base.'),
    positive_spread_pct: money('Part of that time in which the spread is above 0.'),
    equal_price_pct: money('Part of it in which the spread is below 0.01 either way.'),
    captured_base_price_per_mwh: money(
      'Weighted by what plants delivered while they were assigned there, as far as it is known.',
    ),
    captured_sold_price_per_mwh: money('Weighted in the same way.'),
    captured_uplift_per_mwh: money('The difference of the two.'),
    reason: Nullable(
      Type.Enum(['no_price', 'no_exchange_rate'], { description: 'Why prices are `null`.' }),
    ),
  },
  closed('CrossBorderSummary'),
)

export const CrossBorderPrices = Type.Object(
  {
    data: Type.Array(CrossBorderPrice),
    meta: Type.Object(
      { count: Type.Integer({ minimum: 0 }), ...daySpanFields, summary: CrossBorderSummary },
      closed('CrossBorderPricesMeta'),
    ),
  },
  { additionalProperties: false },
)
