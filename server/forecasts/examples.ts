import { exampleOf } from '../http/example.ts'
import { Forecast, ForecastPoint, ModelStatus, PriceForecastItem, Production } from './schemas.ts'

export const forecastExample = exampleOf(Forecast)

export const siteForecastExample = exampleOf(Forecast, {
  logger_id: null,
  logger_name: null,
  run_id: 4710,
  points: [
    exampleOf(ForecastPoint, {
      p10_kw: 188,
      p50_kw: 240.2,
      p90_kw: 262.1,
      p10_kwh: 188,
      p50_kwh: 240.2,
      p90_kwh: 262.1,
      limited_p50_kw: 198.8,
    }),
  ],
  total_p10_kwh: 1450.2,
  total_p50_kwh: 1790.1,
  total_p90_kwh: 2004.9,
  peak_p50_kw: 240.2,
})

export const productionExample = exampleOf(Production)

export const priceExample = exampleOf(PriceForecastItem, { method: 'learned' })

export const modelExample = exampleOf(ModelStatus)
