import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Closed, Named, Nullable } from '../http/params.ts'
import { fallbackReasons } from './run-store.ts'

const at = (description: string, example: string) => ({
  ...field.At(description),
  examples: [`2026-06-${example}Z`],
})
const PlantId = field.CountOrNull('The plant; `null` for the site.', 1)

const reasons = [...fallbackReasons, 'beyond_horizon', 'not_issued'] as const

export const quantileRule =
  'P10, P50 and P90 are quantiles: power stays below `p10_kw` with a probability of 10 %, and ' +
  'below `p90_kw` with 90 %, so p10 <= p50 <= p90. Quantiles do not add up: the site has its own ' +
  'model, and daily quantiles are not sums over steps.'

export const limitedRule =
  '`p50_kw` reduced by curtailment orders and planned outages known now; for the site, by the ' +
  'losses of its plants.'

export type ForecastPoint = Static<typeof ForecastPoint>
export const ForecastPoint = Named('ForecastPoint', {
  start_at: at('Start of the step, inclusive.', '21T10:00:00.000'),
  end_at: at('End of the step, exclusive.', '21T11:00:00.000'),
  p10_kw: field.FromZero('10 % quantile of the mean power.', 118.2),
  p50_kw: field.FromZero('Median of the mean power.', 161.4),
  p90_kw: field.FromZero('90 % quantile of the mean power.', 178.9),
  p10_kwh: field.FromZero('`p10_kw` over the step.', 118.2),
  p50_kwh: field.FromZero('`p50_kw` over the step.', 161.4),
  p90_kwh: field.FromZero('`p90_kw` over the step.', 178.9),
  poa_irradiance_w_m2: field.NumOrNull(
    'Plane-of-array irradiance, weighted by panel capacity.',
    842,
  ),
  ambient_temperature_c: field.NumOrNull('Air temperature from the weather forecast.', 24.3),
  cloud_cover_pct: field.NumOrNull('Cloud cover from the weather forecast.', 22),
  limited_p50_kw: field.FromZero(limitedRule, 120),
  is_night: field.Flag('The sun stays below the horizon.'),
})

export type Forecast = Static<typeof Forecast>
export const Forecast = Named('Forecast', {
  logger_id: PlantId,
  logger_name: field.TextOrNull('Name of the plant; `null` for the site.', 'South'),
  date: field.Day('UTC day.', '2026-06-21'),
  run_id: field.IntOrNull('Id of the forecast run; `null` without a forecast.', 4711),
  run_at: Nullable(at('Issue time: the forecast uses nothing known later.', '21T04:25:02.000')),
  valid_from_at: at('Start of the day.', '21T00:00:00.000'),
  valid_to_at: at('End of the day.', '22T00:00:00.000'),
  horizon_h: field.NumOrNull('Hours from the issue time to the end of the day.', 19.5827778),
  model: field.OneOfOrNull(
    ['blend', 'physical'],
    '`blend`: gradient boosting and a quantile forest, trained on the history of the plant ' +
      'and calibrated. `physical`: a physical model of the panels with typical forecast errors.',
    'blend',
  ),
  model_version: field.TextOrNull(
    'Number of the training of `blend`; `null` for `physical`.',
    '12',
  ),
  weather_source: field.TextOrNull('Source of the weather forecast.', 'open_meteo'),
  weather_run_at: Nullable(at('Issue time of the weather forecast.', '21T03:00:00.000')),
  resolution_minutes: field.IntOrNull(
    'Length of the steps, equal to that of the weather forecast.',
    { minimum: 1, examples: [60] },
  ),
  cached: field.Flag('False if this request made the forecast.', true),
  next_run_at: Nullable(
    at(
      'Time of the next run, if new weather has arrived; `null` for days beyond the horizon.',
      '21T10:02:00.000',
    ),
  ),
  points: Type.Array(ForecastPoint, { description: `Steps of the day. ${quantileRule}` }),
  total_p10_kwh: field.FromZeroOrNull('10 % quantile of the energy of the day.', 912.4),
  total_p50_kwh: field.FromZeroOrNull('Median of the energy of the day.', 1204.8),
  total_p90_kwh: field.FromZeroOrNull('90 % quantile of the energy of the day.', 1371.2),
  peak_p50_kw: field.FromZeroOrNull('Highest `p50_kw` of the day.', 161.4),
  peak_at: Nullable(
    at('Start of the step with the highest `p50_kw`; `null` if all are 0.', '21T10:00:00.000'),
  ),
  confidence: field.OneOf(
    ['low', 'medium', 'high'],
    'Width of the P10 to P90 band of the day relative to clear-sky energy: up to 30 % is ' +
      '`high`, up to 60 % `medium`. Capped by the coverage of the band on the hold-out days ' +
      '(nominally 80 %): `high` requires 70 % and 60 days of training data, `medium` 60 %. ' +
      'Physical forecasts are at most `medium`; any `status` but `ok` is `low`.',
    'medium',
  ),
  status: field.OneOf(
    ['ok', 'stale', 'fallback'],
    '`stale`: the weather forecast is more than 12 hours old. `fallback`: the forecast is ' +
      'simplified or missing, see `fallback_reason`.',
  ),
  fallback_reason: field.OneOfOrNull(
    reasons,
    '`no_position`, `no_panels`: unknown for this site. `no_weather_forecast`: no weather ' +
      'forecast covers the day. The physical model is used for `no_model_yet` (not trained ' +
      'yet, or the training failed), `too_little_history` (not enough data to train) and ' +
      '`physics_was_better` (more accurate on the hold-out days). `beyond_horizon`: the day is ' +
      'too far ahead. `not_issued`: a past day without a forecast; none is made afterwards.',
  ),
})

export const Forecasts = Closed({
  data: Type.Array(Forecast),
  meta: Named('ForecastsMeta', {
    count: Type.Integer({ minimum: 0, examples: [1] }),
    site: Nullable(Forecast),
  }),
})

export type Production = Static<typeof Production>
export const Production = Named('PredictedProduction', {
  start_at: at('Start of the step, inclusive.', '20T10:00:00.000'),
  end_at: at('End of the step, exclusive.', '20T11:00:00.000'),
  logger_id: PlantId,
  forecast_run_at: Nullable(
    at(
      'Issue time of the forecast; `null` without one before the gate closure.',
      '19T09:25:03.000',
    ),
  ),
  is_hindcast: field.Flag(
    'Computed later with data known at `forecast_run_at`, by a model not trained on the day. ' +
      'Only for days before the first issued forecast.',
  ),
  lead_time_h: field.NumOrNull('Hours from the issue time to the start of the step.', 24.5825),
  p10_kwh: field.NumOrNull('10 % quantile of the energy.', 121.3),
  p50_kwh: field.NumOrNull('Median of the energy.', 158),
  p90_kwh: field.NumOrNull('90 % quantile of the energy.', 176.4),
  actual_kwh: field.NumOrNull('Delivered energy; `null` while unknown.', 120),
  actual_available_kwh: field.NumOrNull(
    'Delivered plus curtailed energy; `null` when `curtailed` by an unknown amount.',
    163.2,
  ),
  error_kwh: field.NumOrNull('`p50_kwh` minus `actual_available_kwh`.', -5.2),
  error_pct: field.NumOrNull(
    'Error in percent of `actual_available_kwh`; `null` when that is below 1 % of the energy at ' +
      'rated power.',
    -3.18627451,
  ),
  inside_band: field.FlagOrNull('The available energy lies between P10 and P90.', true),
  curtailed: field.Flag('Energy was curtailed, or may have been by an unknown amount.', true),
  completeness_pct: field.Percent('Share of the step with known power of the inverters.', 100),
})

const PriceMethod = field.OneOfOrNull(
  ['learned', 'naive'],
  '`learned`: trained model. `naive`: price at the same time of the day before, used when no ' +
    'trained model is better on the hold-out days. `null` without a price forecast.',
)

export type PriceForecastItem = Static<typeof PriceForecastItem>
export const PriceForecastItem = Named('PredictedPrice', {
  start_at: at('Start of the market period, inclusive.', '21T10:00:00.000'),
  end_at: at('End of the market period, exclusive.', '21T10:15:00.000'),
  market_code: field.Text('Market assigned to the site.', 'BG'),
  p10_price_per_mwh: field.NumOrNull('10 % quantile of the price.', -12.4),
  p50_price_per_mwh: field.NumOrNull('Median of the price.', 21.7),
  p90_price_per_mwh: field.NumOrNull('90 % quantile of the price.', 58.1),
  actual_price_per_mwh: field.NumOrNull('Day-ahead price; `null` until it is published.', 18.02),
  negative_probability_pct: field.NumOrNull(
    'Probability of a price below 0, from the quantiles.',
    21.5,
  ),
  run_at: Nullable(at('Issue time, before the gate closure.', '20T09:25:04.000')),
  model_version: field.TextOrNull('Number of the training.', '31'),
  method: PriceMethod,
  currency: field.Text('ISO 4217 code.', 'EUR'),
})

const Metrics = Named('ModelMetrics', {
  window_days: field.Int('7, 30 or 90 days up to yesterday, UTC.', 7),
  lead_time: field.OneOf(
    ['intraday', 'day_ahead'],
    '`day_ahead`: the last forecast before the gate closure. `intraday`: the last forecast ' +
      'issued at least an hour before the step.',
    'day_ahead',
  ),
  mae_kw: field.NumOrNull('Mean absolute error of P50.', 9.8),
  rmse_kw: field.NumOrNull('Root mean square error of P50.', 15.6),
  nmae_pct: field.NumOrNull('`mae_kw` in percent of rated power.', 4.9),
  nrmse_pct: field.NumOrNull('`rmse_kw` in percent of rated power.', 7.8),
  mbe_kw: field.NumOrNull(
    'Mean bias error, P50 minus actual: positive if too much was forecast.',
    1.2,
  ),
  mape_pct: field.NumOrNull(
    'Mean absolute percentage error, over steps with at least 5 % of rated power.',
    14.1,
  ),
  r2_ratio: field.NumOrNull(
    'Coefficient of determination of P50; negative if worse than forecasting the mean.',
    0.91,
  ),
  crps_kw: field.NumOrNull(
    'Continuous ranked probability score, approximated by twice the mean pinball loss of P10, ' +
      'P50 and P90.',
    6.4,
  ),
  pinball_loss_kw: field.NumOrNull('Mean pinball loss of P10, P50 and P90.', 3.2),
  mae_per_mwh: field.NumOrNull('Price models: mean absolute error of P50.'),
  rmse_per_mwh: field.NumOrNull('Price models: root mean square error of P50.'),
  mbe_per_mwh: field.NumOrNull('Price models: mean bias error, P50 minus actual.'),
  pinball_loss_per_mwh: field.NumOrNull('Price models: mean pinball loss of P10, P50 and P90.'),
  p10_p90_coverage_pct: field.NumOrNull(
    'Share of actuals between P10 and P90; nominally 80.',
    81.2,
  ),
  skill_vs_persistence_pct: field.NumOrNull(
    'Reduction of the mean absolute error compared with persistence on the same steps. For ' +
      'production, smart persistence: the clear-sky index of the plant at the same time of the ' +
      'last known day, times the clear-sky power now. For prices: the price 24 hours before.',
    31.5,
  ),
  sample_count: field.Count('Daylight steps compared.', 108),
  hindcast_count: field.Count('Steps among them that come from hindcasts.', 0),
  curtailed_excluded_count: field.Count('Steps excluded because the plant was curtailed.', 4),
})

const Trial = Named(
  'ModelTrial',
  {
    version: field.Text('Version of the newest trained model.', '12'),
    trained_at: at('Time of the training.', '21T01:10:31.000'),
    used: field.Flag('The model came into use: it was no worse than its predecessor.', true),
    sample_count: field.Count('Daylight steps of the hold-out.', 184),
    pinball_loss_kw: field.NumOrNull('Mean pinball loss of P10, P50 and P90 on the hold-out.', 3.1),
    previous_pinball_loss_kw: field.NumOrNull(
      'Same for the predecessor: the model in use before, or the physical model.',
      3.3,
    ),
    mae_kw: field.NumOrNull('Mean absolute error of P50 on the hold-out.', 9.4),
    p10_p90_coverage_pct: field.NumOrNull(
      'Share of actuals between P10 and P90 on the hold-out; nominally 80.',
      80.4,
    ),
  },
  { description: 'Result of the last training of a production model.' },
)

export type ModelMetrics = Static<typeof Metrics>

export type ModelStatus = Static<typeof ModelStatus>
export const ModelStatus = Named('ModelStatus', {
  model: field.Text(
    'Name, such as `production:site`, `production:logger:7` or `price:BG`.',
    'production:logger:1',
  ),
  kind: Type.Enum(['production', 'price']),
  logger_id: field.CountOrNull('The plant; `null` for the site and for prices.', 1),
  version: field.TextOrNull('Version of the model in use; `null` without one.', '12'),
  status: field.OneOf(
    ['ok', 'degraded', 'disabled', 'insufficient_data'],
    '`degraded`: drift was detected, the last training failed, or the model is older than a ' +
      'week. `disabled`: the physical model is used because it was better on the hold-out days. ' +
      '`insufficient_data`: there is no trained model; the physical model is used for production.',
  ),
  fallback_reason: field.OneOfOrNull(
    ['no_model_yet', 'too_little_history', 'physics_was_better'],
    'Why the physical model is used; `null` with a trained model, and for prices.',
  ),
  last_trial: Nullable(Trial),
  trained_at: Nullable(at('Training time of the model in use.', '21T01:10:31.000')),
  training_from_at: Nullable({
    ...field.At('Start of the training data.'),
    examples: ['2025-01-01T06:00:00.000Z'],
  }),
  training_to_at: Nullable(
    at(
      'End of the training data. It excludes the hold-out days, except for models with up to ' +
        '120 days of data, which are trained on them after scoring.',
      '07T00:00:00.000',
    ),
  ),
  training_sample_count: field.Count('Steps of the training data.', 12_480),
  excluded_sample_count: field.CountOrNull(
    'Steps excluded: not measured, curtailed, clipped, faulty or without weather.',
    810,
  ),
  method: PriceMethod,
  training_s: field.NumOrNull('Duration of the training.', 7.4),
  hold_out_days: field.NumOrNull('Length of the hold-out that scored the model.', 14),
  last_run_at: Nullable(at('Time of the last forecast.', '21T09:25:03.000')),
  next_run_at: Nullable(at('Time of the next check for new weather or prices.', '21T10:02:00.000')),
  last_error: field.TextOrNull('Error of the last training; `null` if it succeeded.'),
  metrics: Type.Array(Metrics),
  drift_detected: field.Flag(
    'The day-ahead error of the last 7 days exceeds 1.5 times that of the last 90 days, or the ' +
      'bias exceeds 5 % of rated power, over at least 50 steps.',
  ),
})
