import type { WeatherSensor } from '@heliograph/sdk'
import { useMay, useRead } from '../../queries.ts'
import { type Column, DataTable, numeric } from '../../ui/data-table.tsx'
import { formatDate, formatQuantity } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Section } from '../../ui/section.tsx'
import { inWords } from '../../ui/words.ts'

const reasons: Record<NonNullable<WeatherSensor['reject_reason']>, string> = {
  not_measured: 'Rejected: no measurement',
  out_of_range: 'Rejected: out of range',
  stuck: 'Rejected: stuck value',
  disagrees: 'Rejected: disagrees with others',
}

const quantities: Partial<Record<WeatherSensor['quantity'], string>> = {
  poa_irradiance: 'Irradiance, panel plane',
  ghi: 'Global horizontal irradiance',
  dhi: 'Diffuse horizontal irradiance',
}

const columns: Column<WeatherSensor>[] = [
  {
    name: 'Instrument',
    wraps: true,
    cell: ({ name, quantity }) => (
      <>
        {name}
        <Muted>{quantities[quantity] ?? inWords(quantity)}</Muted>
      </>
    ),
  },
  numeric('Value', ({ value, unit }) => formatQuantity(value, unit)),
  numeric('Deviation from average', ({ deviation_from_average_pct: deviation }) =>
    formatQuantity(deviation, '%'),
  ),
  {
    name: 'Quality',
    cell: ({ reject_reason, included_in_average }) =>
      reject_reason ? reasons[reject_reason] : included_in_average ? 'Used' : 'Not in the average',
  },
  { name: 'Calibrated', cell: ({ calibrated_date }) => formatDate(calibrated_date) },
]

/** Instruments of the met station of a plant, with their quality check. */
export function Instruments({ site_id, logger_id }: { site_id: string; logger_id: number }) {
  const may = useMay()
  const { data } = useRead(
    'weather',
    'weatherGet',
    { site_id, logger_id },
    { refetchInterval: 15_000, enabled: may('weather:read') },
  )
  if (!data || data.sensors.length === 0) return null
  return (
    <Section title="Weather instruments">
      <DataTable
        label="Weather instruments"
        width={560}
        {...{ columns, rows: data.sensors }}
        keyOf={({ station_id, sensor_id }) => `${station_id} ${sensor_id}`}
      />
    </Section>
  )
}
