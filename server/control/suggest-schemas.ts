import { type Static, Type } from 'typebox'
import { moneyReasons } from '../contracts/accounting.ts'
import { exampleOf } from '../http/example.ts'
import * as field from '../http/fields.ts'
import { LoggerId, Named } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { limitModes } from './curtailment-row.ts'
import { ahead_h_max, days_good, days_min, reasons } from './suggest.ts'

const unforecast = 'null without a forecast.'
const unpriced = 'null with a `money_reason`.'
const hidden = 'Null with `money_reason` `forbidden_scope`.'

const windowBases = ['day_ahead', 'price_forecast'] as const

const SuggestionHour = Named('CurtailmentSuggestionHour', {
  start_at: At('Inclusive.'),
  end_at: At('Exclusive; one hour later, or the end of the window.'),
  p10_kw: field.FromZeroOrNull(
    'Mean power that falls short with a probability of 10 %, kW; with `clear_sky` a quantile ' +
      `of the last days. Null with fewer than ${days_min} measured days; 0 at night.`,
  ),
  p50_kw: field.FromZeroOrNull('Likewise with 50 %, kW.'),
  p90_kw: field.FromZeroOrNull('Likewise with 90 %, kW.'),
  price_per_mwh: field.NumOrNull(`Mean price of the contract in the hour; ${unpriced}`),
  market_price_per_mwh: field.NumOrNull(
    'Mean market price, in the currency of the contract; null where unknown.',
  ),
  suggested_limit_kw: field.FromZeroOrNull('The suggested limit, equal for all hours, kW.'),
})

export type PriceWindow = Static<typeof PriceWindow>
const PriceWindow = Named('CurtailmentPriceWindow', {
  start_at: At('Inclusive.'),
  end_at: At('Exclusive.'),
  reason: field.OneOf(
    ['negative_price', 'fees_above_price'],
    '`negative_price`: the market price is below 0. `fees_above_price`: it is not, but fees by ' +
      'energy exceed the price of the contract.',
  ),
  basis: field.OneOf(
    windowBases,
    '`day_ahead`: published prices. `price_forecast`: the median of the price forecast, as no ' +
      'price is published yet.',
  ),
  suggested_limit_pct: field.Num('`limit_value` for a command in percent: the lowest possible.', {
    minimum: 1,
    maximum: 100,
  }),
  suggested_limit_kw: field.FromZero('Limit that such a command sets, kW.'),
  avg_price_per_mwh: field.NumOrNull(`Mean price of the contract. ${hidden}`),
  avg_net_price_per_mwh: field.NumOrNull(`Likewise less fees by energy: below 0. ${hidden}`),
  expected_energy_kwh: field.FromZeroOrNull(
    'Energy at the `p50_kw` of the hours without a limit, kWh; null where unknown.',
  ),
  expected_net_amount: field.NumOrNull(
    'Revenue of that energy less fees by energy: below 0. Null where unknown, and with ' +
      '`money_reason` `forbidden_scope`.',
  ),
  expected_curtailed_energy_kwh: field.FromZeroOrNull(
    'Part of that energy above the limit, kWh; null where unknown.',
  ),
  expected_saving_amount: field.NumOrNull(
    'Savings by the limit: the part of the net amount that is not paid. Null where unknown, and ' +
      'with `money_reason` `forbidden_scope`.',
  ),
  currency: field.TextOrNull(`ISO 4217, of the contract. ${hidden}`),
})

export type CurtailmentSuggestion = Static<typeof Suggestion>
export const Suggestion = Named('CurtailmentSuggestion', {
  logger_id: LoggerId,
  date: field.Text('As requested: a local day of the site.', { format: 'date' }),
  timezone: field.Text('IANA time zone of the site.', 'Europe/Berlin'),
  start_hour: field.Int('As requested, local time of the site.', 12),
  end_hour: field.Int('As requested, local time of the site.', 14),
  start_at: At('Start of the window, inclusive.'),
  end_at: At('End of the window, exclusive.', '2026-06-21T12:00:00.000Z'),
  hours_in_window: field.Num(
    'Length of the window in hours; differs from the local hours when clocks change.',
    { exclusiveMinimum: 0 },
  ),
  suggested_limit_kw: field.FromZeroOrNull(
    'Limit that a command of `suggested_limit_pct` sets, kW.',
  ),
  suggested_limit_pct: field.NumOrNull(
    '`limit_value` for a command to this logger; null without a suggestion.',
    { minimum: 1, maximum: 100 },
  ),
  limit_mode: field.OneOf(limitModes, '`limit_mode` for such a command.'),
  rated_power_kw: field.Num('Rated power of the plant, kW.', 400),
  basis: field.OneOf(
    ['forecast_p50', 'clear_sky', 'none'],
    'Source of the expected power. `forecast_p50`: the production forecast. `clear_sky`: the ' +
      'clear-sky model, scaled to the output of the last days. `none`: no source.',
  ),
  forecast_run_at: field.AtOrNull(`When the forecast was issued; ${unforecast}`),
  forecast_peak_p50_kw: field.NumOrNull(`Highest P50 in the window, kW; ${unforecast}`),
  forecast_peak_p90_kw: field.NumOrNull(`Highest P90 in the window, kW; ${unforecast}`),
  forecast_energy_p50_kwh: field.NumOrNull(`Energy of the window at P50, kWh; ${unforecast}`),
  expected_curtailed_energy_kwh: field.FromZeroOrNull(
    'Energy above the limit at the `p50_kw` of the hours, kWh; null without a limit.',
  ),
  expected_lost_revenue_amount: field.NumOrNull(
    'Lost revenue for that energy under the contract in quarter hours with a positive price, ' +
      'before fees; null without a limit, and with a `money_reason`.',
  ),
  avoided_cost_amount: field.NumOrNull(
    'Cost of delivering that energy in quarter hours with a negative contract price; null where ' +
      'the lost revenue is null.',
  ),
  currency: field.TextOrNull('ISO 4217, of the contract; null without one.', 'EUR'),
  price_basis: field.OneOf(
    [...windowBases, 'none'],
    'Source of the prices. `day_ahead`: published prices, or the contract alone. ' +
      '`price_forecast`: the median of the price forecast for some or all of the window, as no ' +
      'price is published yet. `none`: no price is known.',
  ),
  avg_price_per_mwh: field.NumOrNull(`Mean price of the contract in the window; ${unpriced}`, 4.25),
  negative_price_min: field.NumOrNull(
    'Minutes of the window with a negative market price; null unless all prices are known.',
  ),
  money_reason: field.OneOfOrNull(
    [...moneyReasons, 'forbidden_scope'],
    'Why prices are unknown for some or all of the window. `no_contract`: the plant has no ' +
      'contract. `no_price`: no price is published or forecast. `no_exchange_rate`: between the ' +
      'currencies of market and contract. `forbidden_scope`: the key lacks `earnings:read`, or ' +
      'the plan lacks the module `earnings`; prices and money of the contract are null.',
  ),
  price_windows: Type.Array(PriceWindow, {
    description:
      'When the plant pays to deliver, ascending. Consecutive market periods are merged and cut ' +
      'to the requested window. Periods with less expected power than the limit are left out. ' +
      'Empty without such periods, and where no price is known.',
  }),
  confidence: field.OneOf(
    ['low', 'medium', 'high'],
    `With \`clear_sky\` at most \`medium\`, which requires ${days_good} measured days of every ` +
      `daylight hour and a window that ends within ${ahead_h_max} hours.`,
  ),
  reasons: Type.Array(
    field.OneOf(
      reasons,
      '`no_forecast`: no production forecast. `no_price`: see `money_reason`. `no_position`: ' +
        'the site has no position. `no_panels`: the plant has no panels. `no_recent_output`: no ' +
        `daylight hour was measured on ${days_min} of the last days. \`no_daylight\`: night or ` +
        'twilight. `little_output`: less than one percent of rated power is expected. ' +
        `\`few_recent_days\`: some hour was measured on fewer than ${days_good} days. ` +
        `\`far_ahead\`: the window ends more than ${ahead_h_max} hours from now. ` +
        '`window_is_past`: a command would be rejected.',
    ),
    { description: 'Why the confidence is not higher, or why there is no suggestion.' },
  ),
  hours: Type.Array(SuggestionHour, { description: 'The window by hour.' }),
})

const hour = (from: number, p50_kw: number, price: number) => ({
  start_at: `2026-06-21T${from}:00:00.000Z`,
  end_at: `2026-06-21T${from + 1}:00:00.000Z`,
  p10_kw: p50_kw / 2,
  p50_kw,
  p90_kw: p50_kw + 30,
  price_per_mwh: price,
  market_price_per_mwh: price,
  suggested_limit_kw: 276,
})

export const suggestionExample = exampleOf(Suggestion, {
  logger_id: 2,
  hours_in_window: 2,
  suggested_limit_kw: 276,
  suggested_limit_pct: 69,
  basis: 'clear_sky',
  expected_curtailed_energy_kwh: 50,
  expected_lost_revenue_amount: 0.225,
  avoided_cost_amount: 0.128,
  negative_price_min: 60,
  price_windows: [
    {
      start_at: '2026-06-21T11:00:00.000Z',
      end_at: '2026-06-21T12:00:00.000Z',
      reason: 'negative_price',
      basis: 'day_ahead',
      suggested_limit_pct: 1,
      suggested_limit_kw: 4,
      avg_price_per_mwh: -4,
      avg_net_price_per_mwh: -6.15,
      expected_energy_kwh: 308,
      expected_net_amount: -1.8942,
      expected_curtailed_energy_kwh: 304,
      expected_saving_amount: 1.8696,
      currency: 'EUR',
    },
  ],
  confidence: 'medium',
  reasons: ['no_forecast'],
  hours: [hour(10, 294, 12.5), hour(11, 308, -4)],
})
