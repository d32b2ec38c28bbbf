import { Type } from 'typebox'
import { accountReasons } from '../contracts/accounting.ts'
import { contractTypes, feeBases, feeCodes } from '../contracts/contracts.ts'
import { daySpanFields } from '../http/envelope.ts'
import * as field from '../http/fields.ts'
import { Closed, LoggerId, Named, Nullable } from '../http/params.ts'
import { arbitrageReasons } from './arbitrage.ts'

const instant = (description: string, example = '2026-06-21T10:00:00.000Z') =>
  field.At(description, example)
const day = (description: string, example = '2026-06-21') => field.Day(description, example)
const currency = (
  description = 'ISO 4217 code, for every amount and price here.',
  example = 'EUR',
) => field.Text(description, { pattern: '^[A-Z]{3}$', examples: [example] })
const market_code = (description: string, example = 'DE-LU') => field.Text(description, example)
const name = Type.String({ examples: ['South field'] })

const price_status = field.OneOf(
  ['final', 'provisional'],
  '`final`: all prices are known, and the period ended more than 14 days ago with no readings ' +
    'still expected. Otherwise `provisional`.',
  'provisional',
)
const reason = (description: string) =>
  field.OneOfOrNull(accountReasons, `${description} ${reason_text}`)
const reason_text =
  '`no_contract`: the plant has no contract or is not in service; `no_price`: a market period has ' +
  'no price; `no_exchange_rate`: two currencies have no exchange rate; `no_energy`: the energy of ' +
  'an inverter is unknown in daylight; `not_yet`: there are no readings yet.'
const completeness_pct = field.PercentOrNull(
  'Share of the time so far, with the sun at least 3° above the horizon, in which the ' +
    'inverters were measured. `null` without such time.',
  99.87,
)

const fee_terms = {
  code: Type.Enum([...feeCodes], { examples: ['aggregator'] }),
  name: Type.String({ examples: ['Direct marketing'] }),
  basis: field.OneOf(
    feeBases,
    '`per_mwh`: per energy. `percent`: of gross. `per_month`: per month in the time zone of the ' +
      'market, accrued over the time in service, even when the energy is unknown. ' +
      '`per_mw_month`: the same per MW of rated power. `imbalance`: the cost of the deviation from ' +
      'the forecast, or `rate` per MWh when that cost is unknown.',
    'per_mwh',
  ),
  rate: field.Num('Rate from the contract, in `rate_currency` or in percent.', 2.15),
  rate_currency: Nullable(currency('ISO 4217 code of `rate`; `null` for a percentage.')),
}

const EarningsFee = Named('EarningsFee', {
  ...fee_terms,
  amount: field.NumOrNull('Amount of the fee; `null` when `fees_amount` is `null`.', 13.158899),
})

const ExchangeRate = Named('ExchangeRate', {
  currency: currency('ISO 4217 code of the converted currency.', 'BGN'),
  base_currency: currency('ISO 4217 code of the target currency.'),
  rate: field.Num('Units of `base_currency` per unit of `currency`.', 0.511292),
  as_of_date: day('Publication date of the rate.'),
  start_date: day('First UTC day that the rate is used for.'),
  end_date: day('Last UTC day that the rate is used for.'),
})
const exchange_rates = Type.Array(ExchangeRate, {
  description:
    'Daily exchange rates used between the currencies of markets, fees, contracts and sums. The ' +
    'amount of a plant in an hour, and of a battery on a day, is converted as a whole and rounded ' +
    'to a millionth.',
})

const UnknownMoney = Named('UnknownMoney', {
  reason: field.OneOf(accountReasons, reason_text),
  market_code: Nullable(
    market_code('Market with the missing price or exchange rate; `null` for `no_energy`.'),
  ),
  start_at: instant('Start of the first hour.', '2026-06-20T13:00:00Z'),
  end_at: instant('End of the last hour.', '2026-06-20T15:00:00Z'),
  hour_count: field.Int('Number of hours, counted per plant.', { minimum: 1, examples: [2] }),
})

const KnownMoney = Named('KnownMoney', {
  energy_kwh: field.Num(
    'Sold energy with a known price, including hours in which only some inverters are known. ' +
      '`known` is `null` when there is no such energy outside of night hours.',
    6120.418,
  ),
  gross_amount: Type.Number({ examples: [355.182411] }),
  fees_amount: field.Num(
    'Fees of hours with known prices, including monthly fees when energy is unknown.',
    13.158899,
  ),
  net_amount: field.Num('`gross_amount` minus `fees_amount`.', 342.023512),
})

const metrics = {
  currency: Nullable(
    currency(
      'ISO 4217 code of every amount and price: that of the contracts, or that of the site when ' +
        'contracts differ.',
    ),
  ),
  energy_sold_kwh: field.NumOrNull(
    'Known energy delivered under a contract; `null` when only night hours are known.',
    6120.418,
  ),
  energy_without_contract_kwh: field.Num(
    'Energy delivered without a contract, excluded from all amounts.',
    0,
  ),
  gross_amount: field.NumOrNull(
    'Sum over market periods of energy times contract price; below 0 when prices were. `null` when ' +
      'the price or exchange rate of any hour is unknown (see `known`) or no energy is known. ' +
      'Covers only the known energy when `unknown` lists hours with `no_energy`. Hours and days add ' +
      'up to it.',
    355.182411,
  ),
  fees_amount: field.NumOrNull(
    'Sum of `fees`: energy-based fees on the known energy, monthly fees on the whole time. `null` ' +
      'when the price or exchange rate of any hour is unknown. Hours and days add up to it.',
    13.158899,
  ),
  net_amount: field.NumOrNull(
    '`gross_amount` minus `fees_amount`; `null` when gross is. With unknown energy it is less than ' +
      'the sum of the net amounts of hours, days or plants: those without known energy owe fees ' +
      'while their net amount is `null`.',
    342.023512,
  ),
  fees: Type.Array(EarningsFee),
  average_price_per_mwh: field.NumOrNull('Captured price: gross divided by energy.', 58.0324),
  market_base_price_per_mwh: field.NumOrNull(
    'Mean market price over all hours and plants.',
    74.1187,
  ),
  capture_rate_pct: field.NumOrNull(
    'Market price weighted by known energy, in percent of the unweighted mean over the hours of ' +
      'plants with known energy, nights included. `market_base_price_per_mwh` also covers hours ' +
      'with unknown energy, so the two means may differ. `null` when the mean is not above 0.',
    78.3,
  ),
  negative_price_energy_kwh: field.NumOrNull(
    'Known energy delivered while the market price was below 0; `null` when no market price or no ' +
      'energy is known.',
    211.002,
  ),
  negative_price_cost_amount: field.NumOrNull(
    'Amount paid for delivering that energy, above 0.',
    0.951206,
  ),
  curtailed_energy_kwh: field.NumOrNull(
    'Energy lost to external limits, whoever set them. Computed from the measured irradiance, or ' +
      'from the available power reported by the inverters when there is none; curtailment orders ' +
      'always use the latter. `null` when unknown.',
    40.2,
  ),
  curtailment_loss_amount: field.NumOrNull(
    'Revenue lost by curtailment at contract prices above 0.',
    1.905117,
  ),
  curtailment_avoided_cost_amount: field.NumOrNull(
    'Cost avoided by curtailment at contract prices below 0.',
    0.120406,
  ),
  bess_arbitrage_amount: field.NumOrNull(
    'Battery revenue: energy discharged minus energy charged, at the day-ahead price of the market, ' +
      'without fees; below 0 when charging cost more. Not part of any other amount. Charging is ' +
      'paid for even with energy of the own plant, whose gross counts it as sold, so the two can ' +
      'be added. A plant has the amount of its own batteries; batteries at the common connection ' +
      'are in the total only. Covers only the known energy.',
    41.902664,
  ),
  bess_arbitrage_reason: field.OneOfOrNull(
    arbitrageReasons,
    'Why `bess_arbitrage_amount` is `null`, or incomplete with `no_energy`. `no_battery`: no ' +
      'battery was in service; `no_market`: neither battery, plant nor site has a market on some ' +
      'day; `no_price`, `no_exchange_rate`: missing for some of the energy; `not_yet`: the time ' +
      'lies in the future.',
  ),
  bess_completeness_pct: field.PercentOrNull(
    'Share of the time in service so far with known battery energy; `null` without such time.',
    100,
  ),
  imbalance_amount: field.NumOrNull(
    'Deviation from the forecast at the gate closure, at imbalance price minus day-ahead price; ' +
      'below 0 when it cost money. Part of other amounts only through an `imbalance` fee. `null` ' +
      'when no quarter hour has a forecast and both prices.',
    -1.204,
  ),
  price_status,
  data_completeness_pct: completeness_pct,
  known: Nullable(KnownMoney),
  unknown: Type.Array(UnknownMoney, {
    description: 'Hours under a contract with unknown revenue, by reason and market.',
  }),
}

const LoggerEarnings = Named('LoggerEarnings', {
  logger_id: LoggerId,
  logger_name: name,
  ...metrics,
})

const DayEarnings = Named('DayEarnings', {
  date: day('UTC day, or day of the requested time zone.'),
  energy_kwh: field.NumOrNull('Energy delivered under a contract, as `energy_sold_kwh`.', 6120.418),
  gross_amount: metrics.gross_amount,
  fees_amount: metrics.fees_amount,
  net_amount: metrics.net_amount,
})

export const EarningsSummary = Named('EarningsSummary', {
  start_date: day('First day.'),
  end_date: day('Last day.'),
  timezone: field.Text('Time zone of all days: `UTC` or the requested IANA name.', 'UTC'),
  logger_id: Nullable(LoggerId),
  ...metrics,
  reason: reason('First reason why amounts are `null` or lack energy.'),
  by_logger: Nullable(
    Type.Array(LoggerEarnings, {
      description: 'Revenue by plant; `null` when `logger_id` selects one.',
    }),
  ),
  exchange_rates,
  by_day: Type.Array(DayEarnings, {
    description: 'Days that have started, in `currency`.',
  }),
  calculated_at: instant('Time of the calculation.', '2026-06-22T06:00:00.000Z'),
})

const EarningsHour = Named('EarningsHour', {
  start_at: instant('Start of the hour, inclusive.'),
  end_at: instant('End of the hour, exclusive.', '2026-06-21T11:00:00.000Z'),
  logger_id: LoggerId,
  market_code: Nullable(market_code('Market sold into.')),
  energy_kwh: field.NumOrNull('Known energy delivered; 0 at night.', 784.21),
  price_per_mwh: field.NumOrNull('Contract price, mean of the quarter hours.', -4.385),
  market_price_per_mwh: field.NumOrNull(
    'Day-ahead price in the currency of the contract, mean of the quarter hours.',
    -4.385,
  ),
  gross_amount: field.NumOrNull(
    'Sum over quarter hours of energy times contract price. `null` for every `reason` except ' +
      '`no_energy`, where it covers the known energy.',
    -3.451202,
  ),
  fees_amount: field.NumOrNull(
    'Fees of the hour, including its share of monthly fees, which are due even when the energy ' +
      'is unknown. `null` for every `reason` except `no_energy`.',
    1.686052,
  ),
  net_amount: field.NumOrNull(
    '`gross_amount` minus `fees_amount`; `null` when gross is.',
    -5.137254,
  ),
  curtailed_energy_kwh: field.NumOrNull('Energy lost to external limits, as in the summary.', 0),
  lost_amount: field.NumOrNull('Revenue lost by curtailment minus cost avoided by it.', 0),
  currency: Nullable(currency('ISO 4217 code of the contract currency.')),
  price_status,
  reason: reason('Why amounts are `null` or lack energy.'),
  completeness_pct,
  is_partial: field.Flag('The hour is still running, or less than 95 % of it was measured.'),
})

export const EarningsHours = Closed({
  data: Type.Array(EarningsHour),
  meta: Named('EarningsHoursMeta', {
    count: Type.Integer({ minimum: 0, examples: [1] }),
    ...daySpanFields,
    exchange_rates,
  }),
})

const FeeTerms = Named('FeeTerms', {
  ...fee_terms,
  valid_from_date: day('First day, in the time zone of the market.', '2026-01-01'),
  valid_to_date: field.DayOrNull('Last day.'),
})

export const MarketAssignment = Named('MarketAssignment', {
  assignment_id: Type.Integer({ minimum: 0, examples: [1] }),
  logger_id: LoggerId,
  logger_name: name,
  market_code: market_code('Market that the plant is located in.'),
  sold_market_code: field.TextOrNull('Market that the plant sells into, if another one.'),
  contract_type: field.OneOf(
    contractTypes,
    'Price formula, with market price P and fixed price S. `spot`: P. `fixed_price`, ' +
      '`feed_in_tariff`: S. `ppa`: S, or P without a fixed price. `feed_in_premium`: P + S. ' +
      '`cfd`: P + (S - P), in both directions.',
  ),
  fixed_price_per_mwh: field.NumOrNull('Fixed price S; for `feed_in_premium` the premium.'),
  floor_price_per_mwh: field.NumOrNull('Lowest price that the contract pays.'),
  fee_schedule: Type.Array(FeeTerms, { description: 'Fees of the plant during the contract.' }),
  currency: currency(),
  valid_from_date: day('First day, in the time zone of the market.', '2026-01-01'),
  valid_to_date: field.DayOrNull('Last day; `null` without an end.'),
  timezone: field.Text('IANA name of the time zone of the market sold into.', 'Europe/Berlin'),
  offtaker: Nullable(Type.String({ examples: ['Sun Trading'] })),
  imbalance_responsible_party: Nullable(Type.String({ examples: ['Sun Trading'] })),
  pays_at_negative_price: field.Flag(
    'If false, the contract pays nothing while P is below 0: the plant earns 0, or P when the ' +
      'contract is paid beside the market (`feed_in_premium`, `cfd`).',
    true,
  ),
  is_active: field.Flag('The contract is valid today.', true),
})

export const CrossBorderPrice = Named('CrossBorderPrice', {
  start_at: instant('Start of the period, inclusive.'),
  end_at: instant('End of the period, exclusive.', '2026-06-21T10:15:00.000Z'),
  base_market_code: market_code('Market that the plant is located in.', 'BG'),
  sold_market_code: market_code('Market sold into.', 'RS'),
  base_price_per_mwh: field.NumOrNull(
    'Price in the base market; the mean of shorter periods.',
    31.2,
  ),
  sold_price_per_mwh: field.NumOrNull(
    'Price in the market sold into, converted into `currency`; the mean of shorter periods.',
    36.75,
  ),
  spread_per_mwh: field.NumOrNull('Sold price minus base price.', 5.55),
  capacity_price_per_mwh: Type.Null({
    description:
      'Price of cross-border capacity from explicit auctions. Not filled yet: needs prices of ' +
      'that capacity.',
  }),
  net_spread_per_mwh: field.NumOrNull(
    'Spread minus energy-based `cross_border` fees (`per_mwh`, and `percent` of the sold price), ' +
      'of the plants whose contracts sell across this border at that time, else of all plants in ' +
      'the base market.',
    4.05,
  ),
  currency: currency('ISO 4217 code of the base market currency.'),
  fx_rate: field.NumOrNull(
    'Units of `currency` per unit of the currency of the market sold into.',
    1,
  ),
  favourable: field.FlagOrNull('The net spread is above 0.', true),
  reason: field.OneOfOrNull(
    ['no_price', 'no_exchange_rate', 'fees_differ'],
    'Why the net spread is `null`. `fees_differ`: plants pay different fees, so there is no ' +
      'single value.',
  ),
})

const CrossBorderSummary = Named('CrossBorderSummary', {
  period_count: Type.Integer({ minimum: 0, examples: [1] }),
  complete_count: field.Count('Periods with both prices.', 1),
  resolution_minutes: field.Count('The coarser resolution of the two markets.', 15),
  mean_base_price_per_mwh: field.NumOrNull(
    'Mean base price over periods with both prices, weighted by length, as all means below.',
    31.2,
  ),
  mean_sold_price_per_mwh: field.NumOrNull('Mean price of the market sold into.', 36.75),
  mean_spread_per_mwh: field.NumOrNull('Sold price minus base price.', 5.55),
  positive_spread_pct: field.NumOrNull('Share of that time with a spread above 0.', 100),
  equal_price_pct: field.NumOrNull('Share of that time with prices less than 0.01 apart.', 0),
  captured_base_price_per_mwh: field.NumOrNull(
    'Base price weighted by the known energy of plants assigned to the base market.',
    31.2,
  ),
  captured_sold_price_per_mwh: field.NumOrNull('Sold price with the same weights.', 36.75),
  captured_uplift_per_mwh: field.NumOrNull('Captured sold price minus captured base price.', 5.55),
  reason: field.OneOfOrNull(['no_price', 'no_exchange_rate'], 'Why prices are `null`.'),
})

export const CrossBorderPrices = Closed({
  data: Type.Array(CrossBorderPrice),
  meta: Named('CrossBorderPricesMeta', {
    count: Type.Integer({ minimum: 0, examples: [1] }),
    ...daySpanFields,
    summary: CrossBorderSummary,
  }),
})
