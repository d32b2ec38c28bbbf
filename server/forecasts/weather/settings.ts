/** From where weather forecasts are fetched. */
export const weatherSources = ['open_meteo', 'met_norway'] as const
export type WeatherSourceName = (typeof weatherSources)[number]

export interface WeatherSettings {
  source: WeatherSourceName
  /** Another server than the public one, without a path of its own; null for the public one. */
  url: string | null
  /** A secret. */
  key: string | null
  /** Where its operator can be reached, as the source may want to know. */
  contact: string | null
}
