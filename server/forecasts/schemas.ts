/** The records of the predictions as their answers have them. */
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { fallbackReasons } from './run-store.ts'

const closed = ($id: string) => ({ additionalProperties: false, $id })
const kw = (description: string) => Type.Number({ minimum: 0, description })
const maybe = (description: string) => Nullable(Type.Number({ description }))

/** Why there is a simpler forecast than usual, or none. */
const reasons = [...fallbackReasons, 'beyond_horizon', 'not_issued'] as const

export const quantileRule =
  'P10, P50 and P90 are quantiles: with a probability of 10 % the power stays below `p10_kw`, with ' +
  '90 % below `p90_kw`, so that p10 <= p50 <= p90. They do not add: the site has a model of its ' +
  'own, and the quantiles of a day are no sums of those of its steps.'

export const limitedRule =
  '`p50_kw` lowered to what curtailment rows and planned outages that are known now leave of it; ' +
  'the site by what its plants lose.'

export type ForecastPoint = Static<typeof ForecastPoint>
export const ForecastPoint = Type.Object(
  {
    start_at: At('Start of the step, inclusive.'),
    end_at: At('End of the step, exclusive.'),
    p10_kw: kw('Mean power that is undercut with a probability of 10 %.'),
    p50_kw: kw('The median of the mean power.'),
    p90_kw: kw('Mean power that is undercut with a probability of 90 %.'),
    p10_kwh: kw('`p10_kw` over the step.'),
    p50_kwh: kw('`p50_kw` over the step.'),
    p90_kwh: kw('`p90_kw` over the step.'),
    poa_irradiance_w_m2: maybe('Irradiance in the planes of the panels, by their capacity.'),
    ambient_temperature_c: maybe('Of the air, as the weather forecast has it.'),
    cloud_cover_pct: maybe('Share of the sky that is covered.'),
    limited_p50_kw: kw(limitedRule),
    is_night: Type.Boolean({ description: 'The sun stays below the horizon.' }),
  },
  closed('ForecastPoint'),
)

export type Forecast = Static<typeof Forecast>
export const Forecast = Type.Object(
  {
    logger_id: Nullable(Type.Integer({ minimum: 0, description: 'The plant; null: the site.' })),
    logger_name: Nullable(Type.String({ description: 'Of the plant; null of the site.' })),
    date: Type.String({ format: 'date', description: 'The day, UTC.' }),
    run_id: Nullable(
      Type.Integer({ description: 'The run that made it; null without a forecast.' }),
    ),
    run_at: Nullable(At('When it was issued: nothing that came later is in it.')),
    valid_from_at: At('Start of the day.'),
    valid_to_at: At('End of the day.'),
    horizon_h: Nullable(
      Type.Number({ description: 'From its issue to the end of the day, hours.' }),
    ),
    model: Nullable(
      Type.Enum(['blend', 'physical'], {
        description:
          '`blend`: gradient boosting and a quantile forest, trained on the history of the plant ' +
          'and calibrated. `physical`: a model of the panels, with the error that such forecasts ' +
          'usually have.',
      }),
    ),
    model_version: Nullable(
      Type.String({ description: 'Counts the trainings of `blend`; null of `physical`.' }),
    ),
    weather_source: Nullable(Type.String({ description: 'Whose weather forecast it rests on.' })),
    weather_run_at: Nullable(At('When that weather forecast was issued.')),
    resolution_minutes: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'Length of the steps, which is that of the weather.',
      }),
    ),
    cached: Type.Boolean({ description: 'False where this request made it.' }),
    next_run_at: Nullable(
      At('When the next is due, if new weather came by then; null for days out of reach.'),
    ),
    points: Type.Array(ForecastPoint, { description: `The steps of the day. ${quantileRule}` }),
    total_p10_kwh: Nullable(kw('Energy of the day that is undercut with a probability of 10 %.')),
    total_p50_kwh: Nullable(kw('Median of the energy of the day.')),
    total_p90_kwh: Nullable(kw('Energy of the day that is undercut with a probability of 90 %.')),
    peak_p50_kw: Nullable(kw('The highest `p50_kw`.')),
    peak_at: Nullable(At('Start of the step that has it; null where nothing is expected.')),
    confidence: Type.Enum(['low', 'medium', 'high'], {
      description:
        'By the width of the band of the day beside what a clear sky would give: up to 30 % ' +
        '`high`, up to 60 % `medium`. Not above what the model reached on the days held out of ' +
        'its training, of which 80 % are meant to lie from P10 to P90: at least 70 %, and 60 days ' +
        'to learn from, for `high`, at least 60 % for `medium`. Physics is `medium` at best, and ' +
        '`low` is what is no `ok`.',
    }),
    status: Type.Enum(['ok', 'stale', 'fallback'], {
      description:
        '`stale`: rests on a weather forecast of more than 12 hours ago. `fallback`: a simpler ' +
        'forecast or none, see `fallback_reason`.',
    }),
    fallback_reason: Nullable(
      Type.Enum([...reasons], {
        description:
          '`no_position`, `no_panels`: not known of the site. `no_weather_forecast`: none covers ' +
          'the day. Physics stands in where there is no model: `no_model_yet`: its training is to ' +
          'come or failed; `too_little_history`: to train on; `physics_was_better` on the last ' +
          'days, which the model had not seen. ' +
          '`beyond_horizon`: the day is too far ahead. `not_issued`: none was, for a day of the ' +
          'past; forecasts are not made up afterwards.',
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
    start_at: At('Start of the step, inclusive.'),
    end_at: At('End of the step, exclusive.'),
    logger_id: Nullable(Type.Integer({ minimum: 0, description: 'The plant; null: the site.' })),
    forecast_run_at: Nullable(
      At('When the forecast was issued; null where none was before the gate closed.'),
    ),
    is_hindcast: Type.Boolean({
      description:
        'Made afterwards from what was known at `forecast_run_at`, by a model that had not seen ' +
        'the day: for days before forecasts were issued.',
    }),
    lead_time_h: Nullable(Type.Number({ description: 'From the issue to the start, hours.' })),
    p10_kwh: maybe('Undercut with a probability of 10 %.'),
    p50_kwh: maybe('The median.'),
    p90_kwh: maybe('Undercut with a probability of 90 %.'),
    actual_kwh: maybe('Delivered; null while it is not known.'),
    actual_available_kwh: maybe(
      'Delivered, and what curtailment kept back; null with `curtailed` where that is not known.',
    ),
    error_kwh: maybe('`p50_kwh` less `actual_available_kwh`.'),
    error_pct: Nullable(
      Type.Number({
        description:
          'Of `actual_available_kwh`; null where that is below 1 % of what rated power gives.',
      }),
    ),
    inside_band: Nullable(
      Type.Boolean({ description: 'Whether the available energy lies from P10 to P90.' }),
    ),
    curtailed: Type.Boolean({
      description: 'Curtailment kept something back, or may have where how much is not known.',
    }),
    completeness_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Part of the step in which the power of the inverters is known.',
    }),
  },
  closed('PredictedProduction'),
)

const PriceMethod = Nullable(
  Type.Enum(['learned', 'naive'], {
    description:
      '`learned`: by the model. `naive`: each price is that of the day before at the same time, ' +
      'since nothing that was learned is better on the days held out. null without a forecast ' +
      'of prices.',
  }),
)

export type PriceForecastItem = Static<typeof PriceForecastItem>
export const PriceForecastItem = Type.Object(
  {
    start_at: At('Start of the market period, inclusive.'),
    end_at: At('End of the market period, exclusive.'),
    market_code: Type.String({ description: 'The market that the site is assigned to.' }),
    p10_price_per_mwh: maybe('Undercut with a probability of 10 %.'),
    p50_price_per_mwh: maybe('The median.'),
    p90_price_per_mwh: maybe('Undercut with a probability of 90 %.'),
    actual_price_per_mwh: maybe('The price of the day-ahead market; null until it is published.'),
    negative_probability_pct: maybe('That the price is below zero, by the quantiles.'),
    run_at: Nullable(At('When the forecast was issued: before the gate closed.')),
    model_version: Nullable(Type.String({ description: 'Counts the trainings.' })),
    method: PriceMethod,
    currency: Type.String({ description: 'ISO 4217.' }),
  },
  closed('PredictedPrice'),
)

const Metrics = Type.Object(
  {
    window_days: Type.Integer({ description: '7, 30 or 90 days up to yesterday, UTC.' }),
    lead_time: Type.Enum(['intraday', 'day_ahead'], {
      description:
        '`day_ahead`: the last forecast before the gate closed. `intraday`: the last one issued ' +
        'an hour or more before the step.',
    }),
    mae_kw: maybe('Mean absolute error of P50.'),
    rmse_kw: maybe('Root of the mean squared error of P50.'),
    nmae_pct: maybe('`mae_kw` in percent of rated power.'),
    nrmse_pct: maybe('`rmse_kw` in percent of rated power.'),
    mbe_kw: maybe('Mean error, P50 less actual: positive where too much was forecast.'),
    mape_pct: maybe('Mean absolute error in percent, where at least 5 % of rated power was given.'),
    r2_ratio: maybe(
      'Share of the variance that P50 explains; negative where it is worse than the mean.',
    ),
    crps_kw: maybe(
      'Continuous ranked probability score, as twice the mean pinball loss of P10, P50 and P90: ' +
        'coarser than one of many quantiles.',
    ),
    pinball_loss_kw: maybe('Mean of the pinball losses of P10, P50 and P90.'),
    mae_per_mwh: maybe('Of prices: mean absolute error of P50.'),
    rmse_per_mwh: maybe('Of prices: root of the mean squared error of P50.'),
    mbe_per_mwh: maybe('Of prices: mean error, P50 less actual.'),
    pinball_loss_per_mwh: maybe('Of prices: mean of the pinball losses of P10, P50 and P90.'),
    p10_p90_coverage_pct: maybe('How often the actual lay from P10 to P90; 80 is meant.'),
    skill_vs_persistence_pct: maybe(
      'How much smaller the mean absolute error is than that of persistence on the same steps. Of ' +
        'production that is smart persistence: the share of its clear sky that the plant gave at ' +
        'the same time of the last day known by then, times the clear sky now. Of prices: the ' +
        'price 24 hours before.',
    ),
    sample_count: Type.Integer({ minimum: 0, description: 'Steps by day that were compared.' }),
    hindcast_count: Type.Integer({ minimum: 0, description: 'Of these, those of hindcasts.' }),
    curtailed_excluded_count: Type.Integer({
      minimum: 0,
      description: 'Steps left out because curtailment held the plant.',
    }),
  },
  closed('ModelMetrics'),
)

const Trial = Type.Object(
  {
    version: Type.String({ description: 'Of the model that was trained last.' }),
    trained_at: At('When it was trained.'),
    used: Type.Boolean({
      description: 'Whether it came into use: it was no worse than what forecast until then.',
    }),
    sample_count: Type.Integer({ minimum: 0, description: 'Steps of the hold-out, by day.' }),
    pinball_loss_kw: maybe('Of the model on the hold-out, mean of P10, P50 and P90.'),
    previous_pinball_loss_kw: maybe(
      'On the same steps, of what forecast until then: the model in use, or physics without one.',
    ),
    mae_kw: maybe('Of the model on the hold-out: mean absolute error of P50.'),
    p10_p90_coverage_pct: maybe('Of the model on the hold-out; 80 is meant.'),
  },
  { ...closed('ModelTrial'), description: 'How the last training of production ended.' },
)

export type ModelMetrics = Static<typeof Metrics>

export type ModelStatus = Static<typeof ModelStatus>
export const ModelStatus = Type.Object(
  {
    model: Type.String({ description: '`production:site`, `production:logger:7`, `price:BG`.' }),
    kind: Type.Enum(['production', 'price']),
    logger_id: Nullable(
      Type.Integer({ minimum: 0, description: 'Null of the site and of prices.' }),
    ),
    version: Nullable(Type.String({ description: 'Of the model in use; null without one.' })),
    status: Type.Enum(['ok', 'degraded', 'disabled', 'insufficient_data'], {
      description:
        '`degraded`: drift was detected, the last training failed, or the model is older than a ' +
        'week. `disabled`: physics was better than the model on days that it had not seen, and ' +
        'forecasts instead. `insufficient_data`: there is no model; physics forecasts production.',
    }),
    fallback_reason: Nullable(
      Type.Enum(['no_model_yet', 'too_little_history', 'physics_was_better'], {
        description: 'Why physics forecasts production; null where a model does, and of prices.',
      }),
    ),
    last_trial: Nullable(Trial),
    trained_at: Nullable(At('When the model in use was trained.')),
    training_from_at: Nullable(At('Start of what it learned from.')),
    training_to_at: Nullable(
      At(
        'End of what it learned from; the days held out are not part of it, except of a model of up ' +
          'to 120 days, which learned them after it had been scored by them.',
      ),
    ),
    training_sample_count: Type.Integer({ minimum: 0, description: 'Steps it learned from.' }),
    excluded_sample_count: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'Steps left out: not measured, curtailed, clipped, faulty, without weather.',
      }),
    ),
    method: PriceMethod,
    training_s: maybe('How long the training took.'),
    hold_out_days: maybe('The last days, by which it was scored before it had seen them.'),
    last_run_at: Nullable(At('When it last made a forecast.')),
    next_run_at: Nullable(At('When it is to look for new weather or prices next.')),
    last_error: Nullable(
      Type.String({ description: 'Of the last training; null if it was good.' }),
    ),
    metrics: Type.Array(Metrics),
    drift_detected: Type.Boolean({
      description:
        'The day-ahead error of the last 7 days is more than 1.5 times that of the last 90, or its ' +
        'bias above 5 % of rated power; with 50 steps at least.',
    }),
  },
  closed('ModelStatus'),
)
