import type { LoggerEfficiency } from '@heliograph/sdk'
import { Table, Text } from '@mantine/core'
import { formatEnergy, formatQuantity } from '../../../ui/format.ts'
import { RowTable } from '../../../ui/row-table.tsx'

const head = [
  'Plant',
  'Energy',
  'Expected',
  'Of expected',
  'Yield',
  'Performance ratio',
  'Availability',
  'Curtailed',
  'Measured',
]

const reasons = {
  no_daylight: 'There was no daylight, or the position of the site is not known.',
  insufficient_data: 'Less than half of the daylight was measured.',
} as const

const sensors = {
  irradiance: 'The light sensor cannot be right: the ratios are not to be trusted.',
  dc_power: 'DC power cannot be right: less than AC.',
} as const

export function PlantYields({ plants }: { plants: readonly LoggerEfficiency[] }) {
  return (
    <RowTable label="Plants with yields" min_width={1000} head={head}>
      {plants.map((plant) => (
        <Table.Tr key={plant.logger_id}>
          <Table.Td>
            <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
              {plant.logger_name}
            </Text>
            {plant.excluded_reason && (
              <Text size="xs" c="dimmed">
                {reasons[plant.excluded_reason]}
              </Text>
            )}
            {plant.suspect_sensors.map((sensor) => (
              <Text key={sensor} size="xs" c="dimmed">
                {sensors[sensor]}
              </Text>
            ))}
          </Table.Td>
          <Table.Td>{formatEnergy(plant.energy_kwh)}</Table.Td>
          <Table.Td>{formatEnergy(plant.expected_energy_kwh)}</Table.Td>
          <Table.Td>{formatQuantity(plant.energy_performance_index_pct, '%')}</Table.Td>
          <Table.Td>{formatQuantity(plant.specific_yield_kwh_kwp, 'kWh/kWp', 2)}</Table.Td>
          <Table.Td>
            {formatQuantity(plant.performance_ratio_pct, '%')}
            {plant.performance_ratio_to_guaranteed_pct !== null && (
              <Text size="xs" c="dimmed">
                {formatQuantity(plant.performance_ratio_to_guaranteed_pct, '%', 0)} of guaranteed
              </Text>
            )}
          </Table.Td>
          <Table.Td>{formatQuantity(plant.availability_time_pct, '%')}</Table.Td>
          <Table.Td>{formatEnergy(plant.curtailed_energy_kwh)}</Table.Td>
          <Table.Td>{formatQuantity(plant.completeness_pct, '%')}</Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  )
}
