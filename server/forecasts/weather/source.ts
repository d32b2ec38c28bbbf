import type { Place } from '@heliograph/domain/place'
import type { ForecastStep } from './run.ts'
import type { WeatherSourceName } from './settings.ts'

export interface SourceRequest {
  now: Date
  signal: AbortSignal
}

export interface Forecast {
  /** null when the source does not report it. */
  issued_at: Date | null
  model: string | null
  /** Consecutive steps of one length, the first at or before `now`. */
  steps: ForecastStep[]
  /** Optional data that could not be fetched; null when complete. */
  shortcoming: string | null
}

interface ForecastAnswer {
  /** null: nothing new since `last_modified`. */
  forecast: Forecast | null
  /** To be sent with the next request. */
  last_modified: string | null
  /** No new forecast before this time; null when the source does not report it. */
  expires_at: Date | null
}

/** Steps from an archive, each issued `lead_minutes` before its end. */
export interface PreviousSteps {
  lead_minutes: number
  model: string | null
  steps: ForecastStep[]
}

/**
 * Functions throw `SourceFault` without a valid answer. Missing and implausible values of a step
 * are null.
 */
export interface WeatherSource {
  name: WeatherSourceName
  forecast(
    place: Place,
    request: SourceRequest & { last_modified: string | null },
  ): Promise<ForecastAnswer>
  /** Forecasts of past UTC days by lead time; null when the source has no archive. */
  previous:
    | ((
        place: Place,
        days: { from: Date; to: Date },
        request: SourceRequest,
      ) => Promise<PreviousSteps[]>)
    | null
}
