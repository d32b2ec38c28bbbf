import { type Static, Type } from 'typebox'
import { moneyReasons } from '../contracts/accounting.ts'
import { LoggerId, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { limitModes } from './curtailment-row.ts'
import { ahead_h_max, days_good, days_min, reasons } from './suggest.ts'
import { windowBases, windowReasons } from './suggest-prices.ts'

const closed = { additionalProperties: false } as const
const Expected = (description: string) => Nullable(Type.Number({ minimum: 0, description }))
const Unknown = (description: string) => Nullable(Type.Number({ description }))

const unforecast = 'null while there is no forecast.'
const unpriced = 'null for `money_reason`.'
const hidden = 'Null where `money_reason` is `forbidden_scope`.'

const SuggestionHour = Type.Object(
  {
    start_at: At('Inclusive.'),
    end_at: At('Exclusive; an hour later, less only at the end of the window.'),
    p10_kw: Expected(
      'Mean power that is undercut with a probability of 10 %, kW; under `clear_sky` a quantile ' +
        `of the last days. null where fewer than ${days_min} days are known; 0 at night.`,
    ),
    p50_kw: Expected('The same with 50 %, kW.'),
    p90_kw: Expected('The same with 90 %, kW.'),
    price_per_mwh: Unknown(`Mean of what the contract pays in it; ${unpriced}`),
    market_price_per_mwh: Unknown(
      'Mean price of the market, in the currency of the contract; null where it is not known.',
    ),
    suggested_limit_kw: Expected('The suggestion, the same for every hour, kW.'),
  },
  { ...closed, $id: 'CurtailmentSuggestionHour' },
)

const PriceWindowRecord = Type.Object(
  {
    start_at: At('Inclusive.'),
    end_at: At('Exclusive.'),
    reason: Type.Enum([...windowReasons], {
      description:
        '`negative_price`: the market price is below 0. `fees_above_price`: it is not, but fees by ' +
        'energy take more than the contract pays.',
    }),
    basis: Type.Enum([...windowBases], {
      description:
        '`day_ahead`: published prices. `price_forecast`: none is published, and this is the ' +
        'median of the forecast, which may prove wrong.',
    }),
    suggested_limit_pct: Type.Number({
      minimum: 1,
      maximum: 100,
      description: '`limit_value` of a command in percent: the lowest whole one.',
    }),
    suggested_limit_kw: Type.Number({
      minimum: 0,
      description: 'What such a command allows the plant, kW.',
    }),
    avg_price_per_mwh: Unknown(`Mean of what the contract pays. ${hidden}`),
    avg_net_price_per_mwh: Unknown(`The same less fees that go by energy: below 0. ${hidden}`),
    expected_energy_kwh: Expected(
      'Of the `p50_kw` of the hours, without a limit, kWh; null where that is not known.',
    ),
    expected_net_amount: Unknown(
      'What that energy would earn less fees that go by it: below 0. null where it is not known or ' +
        '`money_reason` is `forbidden_scope`.',
    ),
    expected_curtailed_energy_kwh: Expected(
      'What the limit would keep back of it, kWh; null where it is not known.',
    ),
    expected_saving_amount: Unknown(
      'What that saves: the part of the net amount that is not paid. null where it is not ' +
        'known or `money_reason` is `forbidden_scope`.',
    ),
    currency: Nullable(Type.String({ description: `ISO 4217, of the contract. ${hidden}` })),
  },
  { ...closed, $id: 'CurtailmentPriceWindow' },
)

export type CurtailmentSuggestion = Static<typeof Suggestion>
export const Suggestion = Type.Object(
  {
    logger_id: LoggerId,
    date: Type.String({ format: 'date', description: 'As asked: a day at the site.' }),
    timezone: Type.String({ description: 'IANA time zone of the site.' }),
    start_hour: Type.Integer({ description: 'As asked, by the clock at the site.' }),
    end_hour: Type.Integer({ description: 'As asked, by the clock at the site.' }),
    start_at: At('When the window begins.'),
    end_at: At('When it ends, exclusive.'),
    hours_in_window: Type.Number({
      exclusiveMinimum: 0,
      description: 'How long it is: on days when the clocks change not what the hours say.',
    }),
    suggested_limit_kw: Expected('What a command of `suggested_limit_pct` allows the plant, kW.'),
    suggested_limit_pct: Nullable(
      Type.Number({
        minimum: 1,
        maximum: 100,
        description: '`limit_value` of a command to this logger; null where none is suggested.',
      }),
    ),
    limit_mode: Type.Enum([...limitModes], { description: 'Its `limit_mode`.' }),
    rated_power_kw: Type.Number({ description: 'Rated power of the plant, kW.' }),
    basis: Type.Enum(['forecast_p50', 'clear_sky', 'none'], {
      description:
        'What the limit is derived from. `forecast_p50`: the production forecast. `clear_sky`: a sky without clouds, scaled by the output ' +
        'of the last days. `none`: nothing is known to derive it from.',
    }),
    forecast_run_at: Nullable(At(`When the forecast was made; ${unforecast}`)),
    forecast_peak_p50_kw: Unknown(`Highest P50 of the window, kW; ${unforecast}`),
    forecast_peak_p90_kw: Unknown(`Highest P90 of the window, kW; ${unforecast}`),
    forecast_energy_p50_kwh: Unknown(`P50 of the energy of the window, kWh; ${unforecast}`),
    expected_curtailed_energy_kwh: Expected(
      'What the limit would keep back of the `p50_kw` of the hours, kWh; null without a limit.',
    ),
    expected_lost_revenue_amount: Unknown(
      'What the contract would pay for that energy, quarter by quarter where it pays, before ' +
        `fees; null without a limit, and for \`money_reason\`.`,
    ),
    avoided_cost_amount: Unknown(
      'What delivering it would cost in quarters whose price is negative under the contract; ' +
        'null where the lost revenue is.',
    ),
    currency: Nullable(
      Type.String({ description: 'ISO 4217, of the contract; null without one.' }),
    ),
    price_basis: Type.Enum([...windowBases, 'none'], {
      description:
        'What prices rest on. `day_ahead`: published prices, or the contract alone. ' +
        '`price_forecast`: in part or all of the window none is published, and the median of the ' +
        'forecast stands in. `none`: no price is known.',
    }),
    avg_price_per_mwh: Unknown(`Mean of what the contract pays in the window; ${unpriced}`),
    negative_price_min: Unknown(
      'Minutes of the window with a negative market price; null where not all of it is known.',
    ),
    money_reason: Nullable(
      Type.Enum([...moneyReasons, 'forbidden_scope'], {
        description:
          'What keeps the prices of a part of the window, or all, from being known. ' +
          '`no_contract`: the plant sells under none. `no_price`: none is published, and none ' +
          'forecast. `no_exchange_rate`: between the currencies of market and contract. ' +
          '`forbidden_scope`: the key lacks `earnings:read`, or the plan the module `earnings`: ' +
          'prices and money of the contract are null.',
      }),
    ),
    price_windows: Type.Array(PriceWindowRecord, {
      description:
        'When the plant would pay for what it delivers, by time: consecutive market periods as ' +
        'one, cut to the window that was asked for. Not where less is expected than the limit. ' +
        'Empty where it never would, and where no price is known.',
    }),
    confidence: Type.Enum(['low', 'medium', 'high'], {
      description:
        `Under \`clear_sky\` never \`high\`; \`medium\` with ${days_good} days of every hour of ` +
        `daylight and a window that ends within ${ahead_h_max} hours.`,
    }),
    reasons: Type.Array(
      Type.Enum([...reasons], {
        description:
          '`no_forecast`: not there to be derived from. `no_price`: see `money_reason`. `no_position`: of the site. ' +
          '`no_panels`: of the plant. `no_recent_output`: no hour of daylight was measured on ' +
          `${days_min} of the last days. \`no_daylight\`: the sun is down or all but. ` +
          '`little_output`: too little is expected to take a percent off. `few_recent_days`: some ' +
          `hour was measured on fewer than ${days_good} days. \`far_ahead\`: the window ends more ` +
          `than ${ahead_h_max} hours from now. \`window_is_past\`: a command would be refused.`,
      }),
      { description: 'Why it is no better, or why there is none.' },
    ),
    hours: Type.Array(SuggestionHour, { description: 'The window, hour by hour from its start.' }),
  },
  { ...closed, $id: 'CurtailmentSuggestion' },
)

const hour = (from: number, p10_kw: number, p50_kw: number, p90_kw: number) => ({
  start_at: `2026-06-21T${String(from).padStart(2, '0')}:00:00.000Z`,
  end_at: `2026-06-21T${String(from + 1).padStart(2, '0')}:00:00.000Z`,
  p10_kw,
  p50_kw,
  p90_kw,
  suggested_limit_kw: 276,
  price_per_mwh: from === 9 ? 12.5 : -4,
  market_price_per_mwh: from === 9 ? 12.5 : -4,
})

export const suggestionExample: CurtailmentSuggestion = {
  logger_id: 2,
  date: '2026-06-21',
  timezone: 'Europe/Berlin',
  start_hour: 11,
  end_hour: 13,
  start_at: '2026-06-21T09:00:00.000Z',
  end_at: '2026-06-21T11:00:00.000Z',
  hours_in_window: 2,
  suggested_limit_kw: 276,
  suggested_limit_pct: 69,
  limit_mode: 'percent',
  rated_power_kw: 400,
  basis: 'clear_sky',
  forecast_run_at: null,
  forecast_peak_p50_kw: null,
  forecast_peak_p90_kw: null,
  forecast_energy_p50_kwh: null,
  expected_curtailed_energy_kwh: 50,
  expected_lost_revenue_amount: 0.225,
  avoided_cost_amount: 0.128,
  currency: 'EUR',
  price_basis: 'day_ahead',
  avg_price_per_mwh: 4.25,
  negative_price_min: 60,
  money_reason: null,
  price_windows: [
    {
      start_at: '2026-06-21T10:00:00.000Z',
      end_at: '2026-06-21T11:00:00.000Z',
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
  hours: [hour(9, 148, 294, 322), hour(10, 163, 308, 335)],
}
