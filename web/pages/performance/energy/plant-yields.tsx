import type { LoggerEfficiency } from '@heliograph/sdk'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatEnergy, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'

const reasons = {
  no_daylight: 'No daylight, or the position of the site is unknown.',
  insufficient_data: 'Less than half of the daylight was measured.',
} as const

const sensors = {
  irradiance: 'Implausible irradiance: the ratios are unreliable.',
  dc_power: 'Implausible DC power: below AC power.',
} as const

const columns: readonly Column<LoggerEfficiency>[] = [
  {
    name: 'Plant',
    wraps: true,
    cell: ({ logger_name, excluded_reason, suspect_sensors }) => (
      <>
        {logger_name}
        {excluded_reason && <Muted>{reasons[excluded_reason]}</Muted>}
        {suspect_sensors.map((sensor) => (
          <Muted key={sensor}>{sensors[sensor]}</Muted>
        ))}
      </>
    ),
  },
  numeric('Energy', (plant) => formatEnergy(plant.energy_kwh)),
  numeric('Expected', (plant) => formatEnergy(plant.expected_energy_kwh)),
  numeric('Of expected', (plant) => formatQuantity(plant.energy_performance_index_pct, '%')),
  numeric('Yield', (plant) => formatQuantity(plant.specific_yield_kwh_kwp, 'kWh/kWp', 2)),
  numeric('Performance ratio', (plant) => (
    <>
      {formatQuantity(plant.performance_ratio_pct, '%')}
      {plant.performance_ratio_to_guaranteed_pct !== null && (
        <Muted>
          {`${formatQuantity(plant.performance_ratio_to_guaranteed_pct, '%', 0)} of guaranteed`}
        </Muted>
      )}
    </>
  )),
  numeric('Availability', (plant) => formatQuantity(plant.availability_time_pct, '%')),
  numeric('Curtailed', (plant) => formatEnergy(plant.curtailed_energy_kwh)),
  numeric('Data complete', (plant) => formatQuantity(plant.completeness_pct, '%')),
]

export const PlantYields = ({ plants }: { plants: readonly LoggerEfficiency[] }) => (
  <DataTable
    label="Yields of each plant"
    width={1000}
    {...{ columns, rows: plants }}
    keyOf={({ logger_id }) => logger_id}
  />
)
