import type { Overview } from '@heliograph/sdk'
import { SimpleGrid } from '@mantine/core'
import { formatAge, formatQuantity } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { NamedFigure } from '../../ui/named-figure.tsx'
import { Section } from '../../ui/section.tsx'

export function WeatherNow({ overview: { site, status, weather } }: { overview: Overview }) {
  const station = weather[0]
  const sun = status.sun_elevation_deg
  const wind = station?.wind_speed_m_s
  const rows: [string, string][] = [
    ['Irradiance, panel plane', formatQuantity(status.poa_irradiance_w_m2, 'W/m²', 0)],
    ['Panel temperature', formatQuantity(status.module_temperature_c, '°C')],
    ['Air temperature', formatQuantity(status.ambient_temperature_c, '°C')],
    ['Wind', formatQuantity(wind, 'm/s')],
    ['Humidity', formatQuantity(station?.relative_humidity_pct, '%', 0)],
    ['Sun elevation', formatQuantity(sun, '°')],
  ]
  return (
    <Section title="Weather">
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs">
        {rows.map(([name, value]) => (
          <NamedFigure key={name} name={name} value={value} />
        ))}
      </SimpleGrid>
      <Muted mt="xs">
        {station
          ? `Wind and humidity: ${station.name ?? 'met station'}, ${formatAge(station.age_s)}`
          : `No met station at ${site.name}`}
      </Muted>
    </Section>
  )
}
