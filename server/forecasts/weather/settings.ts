export const weatherSources = ['open_meteo', 'met_norway'] as const
export type WeatherSourceName = (typeof weatherSources)[number]

export interface WeatherSettings {
  source: WeatherSourceName
  /** Base URL without a path; null for the public server. */
  url: string | null
  key: string | null
  /** Contact of the operator, which some sources require. */
  contact: string | null
}
