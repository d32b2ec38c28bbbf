/** Records of the predictions. */
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { fallbackReasons } from './run-store.ts'

const closed = ($id: string) => ({ additionalProperties: false, $id })
const shown = (example?: unknown) => (example === undefined ? {} : { examples: [example] })
const at = (description: string, example: string) => ({
  ...At(description),
  ...shown(`2026-06-${example}Z`),
})
const kw = (description: string, example: number) =>
  Type.Number({ minimum: 0, description, ...shown(example) })
const maybe = (description: string, example?: number) =>
  Nullable(Type.Number({ description, ...shown(example) }))
const text = (description: string, example?: string) =>
  Nullable(Type.String({ description, ...shown(example) }))
const flag = (description: string, example?: boolean) =>
  Type.Boolean({ description, ...shown(example) })
const name = (description: string, example: string) =>
  Type.String({ description, ...shown(example) })
const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, ...shown(example) })
const PlantId = Nullable(
  Type.Integer({ minimum: 0, description: 'The plant; `null` for the site.', ...shown(1) }),
)

/** Why a forecast is simplified or missing. */
const reasons = [...fallbackReasons, 'beyond_horizon', 'not_issued'] as const

export const quantileRule =
  'P10, P50 and P90 are quantiles: power stays below `p10_kw` with a probability of 10 %, and ' +
  'below `p90_kw` with 90 %, so p10 <= p50 <= p90. Quantiles do not add up: the site has its own ' +
  'model, and daily quantiles are not sums over steps.'

export const limitedRule =
  '`p50_kw` reduced by curtailment orders and planned outages known now; for the site, by the ' +
  'losses of its plants.'

export type ForecastPoint = Static<typeof ForecastPoint>
export const ForecastPoint = Type.Object(
  {
    start_at: at('Start of the step, inclusive.', '21T10:00:00.000'),
    end_at: at('End of the step, exclusive.', '21T11:00:00.000'),
    p10_kw: kw('10 % quantile of the mean power.', 118.2),
    p50_kw: kw('Median of the mean power.', 161.4),
    p90_kw: kw('90 % quantile of the mean power.', 178.9),
    p10_kwh: kw('`p10_kw` over the step.', 118.2),
    p50_kwh: kw('`p50_kw` over the step.', 161.4),
    p90_kwh: kw('`p90_kw` over the step.', 178.9),
    poa_irradiance_w_m2: maybe('Plane-of-array irradiance, weighted by panel capacity.', 842),
    ambient_temperature_c: maybe('Air temperature from the weather forecast.', 24.3),
    cloud_cover_pct: maybe('Cloud cover from the weather forecast.', 22),
    limited_p50_kw: kw(limitedRule, 120),
    is_night: flag('The sun stays below the horizon.'),
  },
  closed('ForecastPoint'),
)

export type Forecast = Static<typeof Forecast>
export const Forecast = Type.Object(
  {
    logger_id: PlantId,
    logger_name: text('Name of the plant; `null` for the site.', 'South'),
    date: Type.String({ format: 'date', description: 'UTC day.', ...shown('2026-06-21') }),
    run_id: Nullable(
      Type.Integer({
        description: 'Id of the forecast run; `null` without a forecast.',
        ...shown(4711),
      }),
    ),
    run_at: Nullable(at('Issue time: the forecast uses nothing known later.', '21T04:25:02.000')),
    valid_from_at: at('Start of the day.', '21T00:00:00.000'),
    valid_to_at: at('End of the day.', '22T00:00:00.000'),
    horizon_h: maybe('Hours from the issue time to the end of the day.', 19.5827778),
    model: Nullable(
      Type.Enum(['blend', 'physical'], {
        description:
          '`blend`: gradient boosting and a quantile forest, trained on the history of the plant ' +
          'and calibrated. `physical`: a physical model of the panels with typical forecast errors.',
        ...shown('blend'),
      }),
    ),
    model_version: text('Number of the training of `blend`; `null` for `physical`.', '12'),
    weather_source: text('Source of the weather forecast.', 'open_meteo'),
    weather_run_at: Nullable(at('Issue time of the weather forecast.', '21T03:00:00.000')),
    resolution_minutes: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'Length of the steps, equal to that of the weather forecast.',
        ...shown(60),
      }),
    ),
    cached: flag('False if this request made the forecast.', true),
    next_run_at: Nullable(
      at(
        'Time of the next run, if new weather has arrived; `null` for days beyond the horizon.',
        '21T10:02:00.000',
      ),
    ),
    points: Type.Array(ForecastPoint, { description: `Steps of the day. ${quantileRule}` }),
    total_p10_kwh: Nullable(kw('10 % quantile of the energy of the day.', 912.4)),
    total_p50_kwh: Nullable(kw('Median of the energy of the day.', 1204.8)),
    total_p90_kwh: Nullable(kw('90 % quantile of the energy of the day.', 1371.2)),
    peak_p50_kw: Nullable(kw('Highest `p50_kw` of the day.', 161.4)),
    peak_at: Nullable(
      at('Start of the step with the highest `p50_kw`; `null` if all are 0.', '21T10:00:00.000'),
    ),
    confidence: Type.Enum(['low', 'medium', 'high'], {
      description:
        'Width of the P10 to P90 band of the day relative to clear-sky energy: up to 30 % is ' +
        '`high`, up to 60 % `medium`. Capped by the coverage of the band on the hold-out days ' +
        '(nominally 80 %): `high` requires 70 % and 60 days of training data, `medium` 60 %. ' +
        'Physical forecasts are at most `medium`; any `status` but `ok` is `low`.',
      ...shown('medium'),
    }),
    status: Type.Enum(['ok', 'stale', 'fallback'], {
      description:
        '`stale`: the weather forecast is more than 12 hours old. `fallback`: the forecast is ' +
        'simplified or missing, see `fallback_reason`.',
    }),
    fallback_reason: Nullable(
      Type.Enum([...reasons], {
        description:
          '`no_position`, `no_panels`: unknown for this site. `no_weather_forecast`: no weather ' +
          'forecast covers the day. The physical model is used for `no_model_yet` (not trained ' +
          'yet, or the training failed), `too_little_history` (not enough data to train) and ' +
          '`physics_was_better` (more accurate on the hold-out days). `beyond_horizon`: the day is ' +
          'too far ahead. `not_issued`: a past day without a forecast; none is made afterwards.',
      }),
    ),
  },
  closed('Forecast'),
)

export const Forecasts = Type.Object(
  {
    data: Type.Array(Forecast),
    meta: Type.Object(
      {
        count: Type.Integer({ minimum: 0 }),
        site: Nullable(Forecast),
      },
      closed('ForecastsMeta'),
    ),
  },
  { additionalProperties: false },
)

export type Production = Static<typeof Production>
export const Production = Type.Object(
  {
    start_at: at('Start of the step, inclusive.', '20T10:00:00.000'),
    end_at: at('End of the step, exclusive.', '20T11:00:00.000'),
    logger_id: PlantId,
    forecast_run_at: Nullable(
      at(
        'Issue time of the forecast; `null` without one before the gate closure.',
        '19T09:25:03.000',
      ),
    ),
    is_hindcast: flag(
      'Computed later with data known at `forecast_run_at`, by a model not trained on the day. ' +
        'Only for days before the first issued forecast.',
    ),
    lead_time_h: maybe('Hours from the issue time to the start of the step.', 24.5825),
    p10_kwh: maybe('10 % quantile of the energy.', 121.3),
    p50_kwh: maybe('Median of the energy.', 158),
    p90_kwh: maybe('90 % quantile of the energy.', 176.4),
    actual_kwh: maybe('Delivered energy; `null` while unknown.', 120),
    actual_available_kwh: maybe(
      'Delivered plus curtailed energy; `null` when `curtailed` by an unknown amount.',
      163.2,
    ),
    error_kwh: maybe('`p50_kwh` minus `actual_available_kwh`.', -5.2),
    error_pct: maybe(
      'Error in percent of `actual_available_kwh`; `null` when that is below 1 % of the energy at ' +
        'rated power.',
      -3.18627451,
    ),
    inside_band: Nullable(flag('The available energy lies between P10 and P90.', true)),
    curtailed: flag('Energy was curtailed, or may have been by an unknown amount.', true),
    completeness_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Share of the step with known power of the inverters.',
      ...shown(100),
    }),
  },
  closed('PredictedProduction'),
)

const PriceMethod = Nullable(
  Type.Enum(['learned', 'naive'], {
    description:
      '`learned`: trained model. `naive`: price at the same time of the day before, used when no ' +
      'trained model is better on the hold-out days. `null` without a price forecast.',
  }),
)

export type PriceForecastItem = Static<typeof PriceForecastItem>
export const PriceForecastItem = Type.Object(
  {
    start_at: at('Start of the market period, inclusive.', '21T10:00:00.000'),
    end_at: at('End of the market period, exclusive.', '21T10:15:00.000'),
    market_code: name('Market assigned to the site.', 'BG'),
    p10_price_per_mwh: maybe('10 % quantile of the price.', -12.4),
    p50_price_per_mwh: maybe('Median of the price.', 21.7),
    p90_price_per_mwh: maybe('90 % quantile of the price.', 58.1),
    actual_price_per_mwh: maybe('Day-ahead price; `null` until it is published.', 18.02),
    negative_probability_pct: maybe('Probability of a price below 0, from the quantiles.', 21.5),
    run_at: Nullable(at('Issue time, before the gate closure.', '20T09:25:04.000')),
    model_version: text('Number of the training.', '31'),
    method: PriceMethod,
    currency: name('ISO 4217 code.', 'EUR'),
  },
  closed('PredictedPrice'),
)

const Metrics = Type.Object(
  {
    window_days: Type.Integer({
      description: '7, 30 or 90 days up to yesterday, UTC.',
      ...shown(7),
    }),
    lead_time: Type.Enum(['intraday', 'day_ahead'], {
      description:
        '`day_ahead`: the last forecast before the gate closure. `intraday`: the last forecast ' +
        'issued at least an hour before the step.',
      ...shown('day_ahead'),
    }),
    mae_kw: maybe('Mean absolute error of P50.', 9.8),
    rmse_kw: maybe('Root mean square error of P50.', 15.6),
    nmae_pct: maybe('`mae_kw` in percent of rated power.', 4.9),
    nrmse_pct: maybe('`rmse_kw` in percent of rated power.', 7.8),
    mbe_kw: maybe('Mean bias error, P50 minus actual: positive if too much was forecast.', 1.2),
    mape_pct: maybe(
      'Mean absolute percentage error, over steps with at least 5 % of rated power.',
      14.1,
    ),
    r2_ratio: maybe(
      'Coefficient of determination of P50; negative if worse than forecasting the mean.',
      0.91,
    ),
    crps_kw: maybe(
      'Continuous ranked probability score, approximated by twice the mean pinball loss of P10, ' +
        'P50 and P90.',
      6.4,
    ),
    pinball_loss_kw: maybe('Mean pinball loss of P10, P50 and P90.', 3.2),
    mae_per_mwh: maybe('Price models: mean absolute error of P50.'),
    rmse_per_mwh: maybe('Price models: root mean square error of P50.'),
    mbe_per_mwh: maybe('Price models: mean bias error, P50 minus actual.'),
    pinball_loss_per_mwh: maybe('Price models: mean pinball loss of P10, P50 and P90.'),
    p10_p90_coverage_pct: maybe('Share of actuals between P10 and P90; nominally 80.', 81.2),
    skill_vs_persistence_pct: maybe(
      'Reduction of the mean absolute error compared with persistence on the same steps. For ' +
        'production, smart persistence: the clear-sky index of the plant at the same time of the ' +
        'last known day, times the clear-sky power now. For prices: the price 24 hours before.',
      31.5,
    ),
    sample_count: count('Daylight steps compared.', 108),
    hindcast_count: count('Steps among them that come from hindcasts.', 0),
    curtailed_excluded_count: count('Steps excluded because the plant was curtailed.', 4),
  },
  closed('ModelMetrics'),
)

const Trial = Type.Object(
  {
    version: name('Version of the newest trained model.', '12'),
    trained_at: at('Time of the training.', '21T01:10:31.000'),
    used: flag('The model came into use: it was no worse than its predecessor.', true),
    sample_count: count('Daylight steps of the hold-out.', 184),
    pinball_loss_kw: maybe('Mean pinball loss of P10, P50 and P90 on the hold-out.', 3.1),
    previous_pinball_loss_kw: maybe(
      'Same for the predecessor: the model in use before, or the physical model.',
      3.3,
    ),
    mae_kw: maybe('Mean absolute error of P50 on the hold-out.', 9.4),
    p10_p90_coverage_pct: maybe(
      'Share of actuals between P10 and P90 on the hold-out; nominally 80.',
      80.4,
    ),
  },
  { ...closed('ModelTrial'), description: 'Result of the last training of a production model.' },
)

export type ModelMetrics = Static<typeof Metrics>

export type ModelStatus = Static<typeof ModelStatus>
export const ModelStatus = Type.Object(
  {
    model: name(
      'Name, such as `production:site`, `production:logger:7` or `price:BG`.',
      'production:logger:1',
    ),
    kind: Type.Enum(['production', 'price']),
    logger_id: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'The plant; `null` for the site and for prices.',
        ...shown(1),
      }),
    ),
    version: text('Version of the model in use; `null` without one.', '12'),
    status: Type.Enum(['ok', 'degraded', 'disabled', 'insufficient_data'], {
      description:
        '`degraded`: drift was detected, the last training failed, or the model is older than a ' +
        'week. `disabled`: the physical model is used because it was better on the hold-out days. ' +
        '`insufficient_data`: there is no trained model; the physical model is used for production.',
    }),
    fallback_reason: Nullable(
      Type.Enum(['no_model_yet', 'too_little_history', 'physics_was_better'], {
        description: 'Why the physical model is used; `null` with a trained model, and for prices.',
      }),
    ),
    last_trial: Nullable(Trial),
    trained_at: Nullable(at('Training time of the model in use.', '21T01:10:31.000')),
    training_from_at: Nullable({
      ...At('Start of the training data.'),
      ...shown('2025-01-01T06:00:00.000Z'),
    }),
    training_to_at: Nullable(
      at(
        'End of the training data. It excludes the hold-out days, except for models with up to ' +
          '120 days of data, which are trained on them after scoring.',
        '07T00:00:00.000',
      ),
    ),
    training_sample_count: count('Steps of the training data.', 12_480),
    excluded_sample_count: Nullable(
      count('Steps excluded: not measured, curtailed, clipped, faulty or without weather.', 810),
    ),
    method: PriceMethod,
    training_s: maybe('Duration of the training.', 7.4),
    hold_out_days: maybe('Length of the hold-out that scored the model.', 14),
    last_run_at: Nullable(at('Time of the last forecast.', '21T09:25:03.000')),
    next_run_at: Nullable(
      at('Time of the next check for new weather or prices.', '21T10:02:00.000'),
    ),
    last_error: text('Error of the last training; `null` if it succeeded.'),
    metrics: Type.Array(Metrics),
    drift_detected: flag(
      'The day-ahead error of the last 7 days exceeds 1.5 times that of the last 90 days, or the ' +
        'bias exceeds 5 % of rated power, over at least 50 steps.',
    ),
  },
  closed('ModelStatus'),
)
