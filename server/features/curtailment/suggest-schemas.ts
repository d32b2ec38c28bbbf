import { type Static, Type } from 'typebox'
import { LoggerId, Nullable } from '../../http/params.ts'
import { limitModes } from '../../records/curtailment-row.ts'
import { At } from '../../records/frame.ts'
import { ahead_h_max, days_good, days_min, reasons } from './suggest.ts'

const closed = { additionalProperties: false } as const
const Expected = (description: string) => Nullable(Type.Number({ minimum: 0, description }))
const Unknown = (description: string) => Nullable(Type.Number({ description }))

const unforecast = 'null while there is no forecast.'
const unpriced = 'null where no price is known.'

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
    price_per_mwh: Unknown(`Price of the hour; ${unpriced}`),
    suggested_limit_kw: Expected('The suggestion, the same for every hour, kW.'),
  },
  { ...closed, $id: 'CurtailmentSuggestionHour' },
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
    basis: Type.Enum(['forecast_p50', 'forecast_p90', 'price', 'clear_sky', 'none'], {
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
    expected_lost_revenue_amount: Unknown(`Worth of that energy; ${unpriced}`),
    avoided_cost_amount: Unknown(`What is not paid at negative prices; ${unpriced}`),
    currency: Nullable(Type.String({ description: `ISO 4217; ${unpriced}` })),
    avg_price_per_mwh: Unknown(`Mean price of the window; ${unpriced}`),
    negative_price_min: Unknown(`Minutes of the window with a negative price; ${unpriced}`),
    confidence: Type.Enum(['low', 'medium', 'high'], {
      description:
        `Under \`clear_sky\` never \`high\`; \`medium\` with ${days_good} days of every hour of ` +
        `daylight and a window that ends within ${ahead_h_max} hours.`,
    }),
    reasons: Type.Array(
      Type.Enum([...reasons], {
        description:
          '`no_forecast`, `no_price`: not there to be derived from. `no_position`: of the site. ' +
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
  ...{ p10_kw, p50_kw, p90_kw, price_per_mwh: null, suggested_limit_kw: 276 },
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
  expected_lost_revenue_amount: null,
  avoided_cost_amount: null,
  currency: null,
  avg_price_per_mwh: null,
  negative_price_min: null,
  confidence: 'medium',
  reasons: ['no_forecast', 'no_price'],
  hours: [hour(9, 148, 294, 322), hour(10, 163, 308, 335)],
}
