/** What the forecast thread is asked and what it answers: plain values that cross into a thread. */
import type { Plant } from '@heliograph/forecast/plant'
import type { ProductionForecast } from '@heliograph/forecast/production-forecast'
import type { Hindcast } from '@heliograph/forecast/production-holdout'
import type { ForecastStep } from '@heliograph/forecast/production-scores'
import type { ScoreSums } from '@heliograph/forecast/score-sums'
import type { Market } from '../markets/price-store.ts'
import type { Course } from './course.ts'
import type { HoldOutScores, TrainingFacts } from './model-store.ts'
import type { LeadTime } from './vintage-steps.ts'

/** Of the grid of a forecast: UTC days of steps of one length. */
export interface Grid {
  from_ms: number
  to_ms: number
  step_ms: number
}

/** What was known in time and what came of it: what a model learns from. */
export interface History {
  course: Course
  /** Of `packSteps`, ascending, a series for each lead: first that by which models are compared. */
  weather: Float64Array[]
  grid: Grid
}

export interface TrainTask {
  kind: 'train'
  plant: Plant
  history: History
  /** The last days, which are not learned from. */
  hold_out_days: number
  /** The model in use until now, to be beaten on the hold-out. */
  previous: Uint8Array | null
  seed: number
}

export interface Trained {
  model: Uint8Array
  facts: Omit<TrainingFacts, 'training_s'>
  scores: HoldOutScores
  is_worse: boolean
  /** Of what is in use from now on; none where it was before. */
  hindcasts: Hindcast[]
}

export interface PredictTask {
  kind: 'predict'
  items: PredictItem[]
}

export interface PredictItem {
  plant: Plant
  days: PredictDay[]
  /** null: physics, with the errors that the history tells of. */
  model: Uint8Array | null
  history: History | null
}

interface PredictDay {
  grid: Grid
  /** Of `packSteps`, on the grid as far as it is known. */
  weather: Float64Array
}

export interface ScoreTask {
  kind: 'score'
  plant: Plant
  course: Course
  days: { target_date: string; lead_time: LeadTime; steps: ForecastStep[] }[]
}

export interface DayScores {
  target_date: string
  lead_time: LeadTime
  sums: ScoreSums
}

export interface TrainPricesTask {
  kind: 'train_prices'
  /** Of `packPrices`: all that is known of the market, ascending. */
  prices: Float64Array
  timezone: string
  limits: PriceLimits
  hold_out_days: number
  previous: Uint8Array | null
  seed: number
}

/** The prices that an auction can give, per MWh; null: not known. */
export type PriceLimits = Pick<Market, 'price_min_per_mwh' | 'price_max_per_mwh'>

/** A delivery day as it was or would have been forecast. */
export interface PriceDay {
  delivery_date: string
  start_ms: number
  resolution_minutes: number
  p10_price: number[]
  p50_price: number[]
  p90_price: number[]
  /** 0 to 1; null where the model has not seen yet how far off it is. */
  negative_probability: (number | null)[]
}

/** `naive`: each price is that of the day before at its time. */
export type PriceMethod = 'learned' | 'naive'

interface TrainedPrices {
  /** Calibrated with the days of the hold-out, too. */
  model: Uint8Array
  from_ms: number
  to_ms: number
  day_count: number
  method: PriceMethod
  sums: ScoreSums
  is_worse: boolean
  hindcasts: PriceDay[]
}

export interface PredictPricesTask {
  kind: 'predict_prices'
  model: Uint8Array
  prices: Float64Array
  timezone: string
  limits: PriceLimits
  delivery_dates: string[]
  resolution_minutes: number
}

export type Task = TrainTask | PredictTask | ScoreTask | TrainPricesTask | PredictPricesTask

export interface Answers {
  /** null: there is too little to learn from. */
  train: { trained: Trained | null; sample_count: number }
  /** Of each item a forecast for each of its days; null where its model cannot be read. */
  predict: (ProductionForecast[] | null)[]
  score: DayScores[]
  train_prices: { trained: TrainedPrices | null; day_count: number }
  predict_prices: PriceDay[]
}
