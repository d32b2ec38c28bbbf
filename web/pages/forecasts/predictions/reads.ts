import type { Forecast } from '@heliograph/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { useRead } from '../../../queries.ts'
import type { Span } from '../../../ui/site-day.ts'
import { utcDays } from '../../../ui/site-days.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const windowOf = ({ start_ms, end_ms }: Span) => ({ start: iso(start_ms), end: iso(end_ms) })
const minute_ms = 60_000

interface Forecasts {
  /** Forecasts of the site, by UTC day. */
  site: Forecast[]
  plants: Forecast[]
}

/** The forecasts of the UTC days that a span touches. */
export const useForecasts = (site_id: string, span: Span) =>
  useQuery({
    queryKey: ['predictions', 'forecast', site_id, span],
    queryFn: async ({ signal }): Promise<Forecasts> => {
      const days = await Promise.all(
        utcDays(span).map((date) =>
          heliograph.predictionsForecastList({ site_id, date }, { signal }),
        ),
      )
      return {
        site: days.flatMap(({ meta }) => meta.site ?? []),
        plants: days.flatMap(({ data }) => data),
      }
    },
    staleTime: minute_ms,
    placeholderData: keepPreviousData,
    refetchInterval: minute_ms,
  })

export const useProduction = (site_id: string, span: Span) =>
  useRead(
    'predictions',
    'predictionsProductionList',
    { site_id, ...windowOf(span) },
    {
      select: ({ data }) => data,
      staleTime: minute_ms,
      placeholderData: keepPreviousData,
      refetchInterval: span.end_ms > Date.now() ? minute_ms : false,
    },
  )

export const usePredictedPrices = (site_id: string, span: Span) =>
  useRead(
    'predictions',
    'predictionsPricesList',
    { site_id, ...windowOf(span) },
    {
      select: ({ data }) => data,
      staleTime: minute_ms,
      placeholderData: keepPreviousData,
      refetchInterval: minute_ms,
    },
  )

export const useModels = (site_id: string) =>
  useRead(
    'predictions',
    'predictionsModelsList',
    { site_id },
    { select: ({ data }) => data, staleTime: minute_ms, refetchInterval: minute_ms },
  )

export const fallbackWords: Record<NonNullable<Forecast['fallback_reason']>, string> = {
  no_position: 'the position of the site is unknown',
  no_panels: 'the panels are unknown',
  no_weather_forecast: 'no weather forecast covers the day',
  too_little_history: 'too little history; physical model used',
  no_model_yet: 'no trained model yet; physical model used',
  physics_was_better: 'the physical model was better in validation',
  beyond_horizon: 'the day is beyond the forecast horizon',
  not_issued: 'no forecast was issued',
}
