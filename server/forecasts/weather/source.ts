/** What a service of weather forecasts has to offer: one small interface for all of them. */
import type { Place } from '@heliograph/domain/place'
import type { ForecastStep } from './run.ts'
import type { WeatherSourceName } from './settings.ts'

export interface Asked {
  now: Date
  /** Aborted when the answer is no longer wanted. */
  signal: AbortSignal
}

export interface Forecast {
  /** Null where the source does not say. */
  issued_at: Date | null
  model: string | null
  /** From the step that holds `now` on or before it; one length, without a hole. */
  steps: ForecastStep[]
  /** What was asked for besides and did not come; null where nothing is missing. */
  shortcoming: string | null
}

interface ForecastAnswer {
  /** Null: nothing new since `last_modified`. */
  forecast: Forecast | null
  /** The source wants to be asked with it next time. */
  last_modified: string | null
  /** The source has nothing new before; null where it does not say. */
  expires_at: Date | null
}

/** Steps that were each issued `lead_minutes` before their end. */
export interface PreviousSteps {
  lead_minutes: number
  model: string | null
  steps: ForecastStep[]
}

/**
 * Its functions throw `SourceError` when there is no answer, or none that can be believed; a value
 * that is absent or impossible is null in a step.
 */
export interface WeatherSource {
  name: WeatherSourceName
  forecast(place: Place, asked: Asked & { last_modified: string | null }): Promise<ForecastAnswer>
  /** Forecasts of whole days (UTC) in the past, by lead; null where the source has no archive. */
  previous:
    | ((place: Place, days: { from: Date; to: Date }, asked: Asked) => Promise<PreviousSteps[]>)
    | null
}
