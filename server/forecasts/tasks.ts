/** Tasks and answers of the forecast thread, as plain values that can be sent to a thread. */
import type { Plant } from '@heliograph/forecast/plant'
import type { ProductionForecast } from '@heliograph/forecast/production-forecast'
import type { Hindcast } from '@heliograph/forecast/production-holdout'
import type { ForecastStep } from '@heliograph/forecast/production-scores'
import type { ScoreSums } from '@heliograph/forecast/score-sums'
import type { Market } from '../markets/price-store.ts'
import type { Course, Span } from './course.ts'
import type { HoldOutScores, TrainingFacts } from './model-store.ts'
import type { LeadTime } from './vintage-steps.ts'

/** Whole UTC days in steps of one length. */
export interface Grid extends Span {
  step_ms: number
}

/** Training data: actual production, and the weather as it was known in advance. */
export interface History {
  course: Course
  /** One packed series (`packSteps`) per lead time; models are compared on the first. */
  weather: Float64Array[]
  grid: Grid
}

export interface TrainTask {
  kind: 'train'
  plant: Plant
  history: History
  /** Last days, excluded from training. */
  hold_out_days: number
  /** Model in use, to be compared on the hold-out. */
  previous: Uint8Array | null
  seed: number
}

export interface Trained {
  model: Uint8Array
  facts: Omit<TrainingFacts, 'training_s'>
  scores: HoldOutScores
  is_worse: boolean
  /** Hindcasts of the model in use from now on; none when it stays the same. */
  hindcasts: Hindcast[]
}

export interface PredictTask {
  kind: 'predict'
  items: PredictItem[]
}

export interface PredictItem {
  plant: Plant
  days: PredictDay[]
  /** null: physical model, with errors estimated from `history`. */
  model: Uint8Array | null
  history: History | null
}

interface PredictDay {
  grid: Grid
  /** Packed (`packSteps`) known steps of the grid. */
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
  /** Packed (`packPrices`) known prices of the market, ascending. */
  prices: Float64Array
  timezone: string
  limits: PriceLimits
  hold_out_days: number
  previous: Uint8Array | null
  seed: number
}

/** Price limits of the auction per MWh; null when unknown. */
export type PriceLimits = Pick<Market, 'price_min_per_mwh' | 'price_max_per_mwh'>

export interface PriceDay {
  delivery_date: string
  start_ms: number
  resolution_minutes: number
  p10_price: number[]
  p50_price: number[]
  p90_price: number[]
  /** 0 to 1; null until the model has observed its own errors. */
  negative_probability: (number | null)[]
}

/** `naive`: the price at the same time of the day before. */
export type PriceMethod = 'learned' | 'naive'

interface TrainedPrices {
  /** Also calibrated on the hold-out days. */
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
  /** `trained` is null with too little data. */
  train: { trained: Trained | null; sample_count: number }
  /** By item, a forecast for each of its days; null when its model is unreadable. */
  predict: (ProductionForecast[] | null)[]
  score: DayScores[]
  train_prices: { trained: TrainedPrices | null; day_count: number }
  predict_prices: PriceDay[]
}
