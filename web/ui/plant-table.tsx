import type { Logger } from '@heliograph/sdk'
import { Anchor, Badge, Group } from '@mantine/core'
import { Link } from 'wouter'
import { type Column, DataTable, numeric } from './data-table.tsx'
import { formatAge, formatEnergy, formatPower, formatQuantity } from './format.ts'
import { PlantState } from './plant-words.tsx'
import { Empty } from './states.tsx'

const columns: readonly Column<Logger>[] = [
  { name: 'State', cell: (plant) => <State plant={plant} /> },
  numeric('Power', (plant) => formatPower(plant.ac_power_kw)),
  numeric('Available', (plant) => formatPower(plant.available_power_kw)),
  numeric('Today', (plant) => formatEnergy(plant.energy_today_kwh)),
  numeric('Yield today', (plant) =>
    formatQuantity(plant.specific_yield_today_kwh_kwp, 'kWh/kWp', 2),
  ),
  numeric(
    'Inverters online',
    (plant) => `${plant.inverters_online ?? '–'} of ${plant.inverter_count}`,
  ),
  numeric('Last data', (plant) => formatAge(plant.age_s)),
]

export function PlantTable({ site_id, plants }: { site_id: string; plants: readonly Logger[] }) {
  if (plants.length === 0) {
    return (
      <Empty title="No plants yet">
        A plant appears as soon as its edge agent has reported it.
      </Empty>
    )
  }
  const name: Column<Logger> = {
    name: 'Plant',
    cell: (plant) => (
      <Anchor component={Link} href={`/sites/${site_id}/plants/${plant.logger_id}`}>
        {plant.name}
      </Anchor>
    ),
  }
  return (
    <DataTable
      label="Plants"
      width={760}
      columns={[name, ...columns]}
      rows={plants}
      keyOf={({ logger_id }) => logger_id}
    />
  )
}

function State({ plant }: { plant: Logger }) {
  return (
    <Group gap={4} wrap="nowrap">
      <PlantState plant={plant} />
      {plant.curtailment_active && (
        <Badge color="yellow" miw="max-content">
          Curtailed{' '}
          {plant.limit_pct_of_rated !== null &&
            `to ${formatQuantity(plant.limit_pct_of_rated, '%', 0)}`}
        </Badge>
      )}
    </Group>
  )
}
