import type { Forecast } from '@heliograph/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { useRead, useSite } from '../../../queries.ts'
import { type Span, utcDays, windowOf } from '../../../ui/site-clock.ts'

const minute_ms = 60_000

const options = {
  staleTime: minute_ms,
  placeholderData: keepPreviousData,
  refetchInterval: minute_ms,
}

/** The forecasts of the UTC days that a span touches. */
export function useForecasts(span: Span, enabled = true) {
  const { site_id } = useSite()
  return useQuery({
    queryKey: ['predictions', 'forecast', site_id, span],
    queryFn: async ({ signal }): Promise<{ site: Forecast[]; plants: Forecast[] }> => {
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
    enabled,
    ...options,
  })
}

export const useProduction = (span: Span) =>
  useRead('predictions', 'predictionsProductionList', windowOf(span), {
    ...options,
    select: ({ data }) => data,
    refetchInterval: span.end_ms > Date.now() ? minute_ms : false,
  })

export const usePredictedPrices = (span: Span, enabled = true) =>
  useRead('predictions', 'predictionsPricesList', windowOf(span), {
    ...options,
    enabled,
    select: ({ data }) => data,
  })

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
