import type { Inverter, Logger } from '@heliograph/sdk'
import { Badge, Group } from '@mantine/core'
import { InverterState, limitWords, PlantState } from './badges.tsx'
import { type Column, column, DataTable, numeric, tableOf } from './data-table.tsx'
import { formatAge, formatEnergy, formatPower, formatQuantity, inUnit, none } from './format.ts'
import { SiteLink } from './page.tsx'
import { Empty } from './states.tsx'

const specificYield = inUnit('kWh/kWp', 2)

const inverter_name: Column<Inverter> = column('Inverter', ({ inverter_id, name }) => (
  <SiteLink to={`/inverters/${inverter_id}`}>{name}</SiteLink>
))

const inverter_columns: readonly Column<Inverter>[] = [
  column(
    'State',
    (inverter) => <InverterState inverter={inverter} />,
    ({ comm_state, state }) => (comm_state === 'connected' ? state : comm_state),
  ),
  column('Alarms', ({ active_alarm_count, active_alarm_codes }) =>
    active_alarm_count === 0 ? 'None' : active_alarm_codes.slice(0, 2).join(', '),
  ),
  numeric('Power', ({ ac_power_kw }) => ac_power_kw, formatPower),
  numeric('Available', ({ available_power_kw }) => available_power_kw, formatPower),
  column('Limited by', ({ limited_by }) => limitWords(limited_by)),
  numeric('Efficiency', ({ efficiency_pct }) => efficiency_pct, inUnit('%')),
  numeric('Today', ({ energy_today_kwh }) => energy_today_kwh, formatEnergy),
  numeric('Yield today', (inverter) => inverter.specific_yield_today_kwh_kwp, specificYield),
  numeric('Last data', ({ age_s }) => age_s, formatAge),
]

interface InverterTableProps {
  inverters: readonly Inverter[]
  plantName?: (logger_id: number) => string
}

export function InverterTable({ inverters, plantName }: InverterTableProps) {
  const first = [inverter_name]
  if (plantName) first.push(column('Plant', ({ logger_id }) => plantName(logger_id)))
  const columns = [...first, ...inverter_columns]
  return (
    <DataTable
      label="Inverters"
      width={980}
      columns={columns}
      rows={inverters}
      by="inverter_id"
      page_size={50}
      nouns={['inverter', 'inverters']}
      none="No inverters"
    />
  )
}

const plant_table = tableOf<Logger>('Plants', 760, 'logger_id', [
  column('Plant', ({ logger_id, name }) => <SiteLink to={`/plants/${logger_id}`}>{name}</SiteLink>),
  column(
    'State',
    (plant) => <State plant={plant} />,
    ({ status }) => status,
  ),
  numeric('Power', ({ ac_power_kw }) => ac_power_kw, formatPower),
  numeric('Available', ({ available_power_kw }) => available_power_kw, formatPower),
  numeric('Today', ({ energy_today_kwh }) => energy_today_kwh, formatEnergy),
  numeric('Yield today', (plant) => plant.specific_yield_today_kwh_kwp, specificYield),
  numeric(
    'Inverters online',
    ({ inverters_online }) => inverters_online,
    (online, { inverter_count }) => `${online ?? none} of ${inverter_count}`,
  ),
  numeric('Last data', ({ age_s }) => age_s, formatAge),
])

export const PlantTable = ({ plants }: { plants: readonly Logger[] }) => (
  <DataTable
    {...plant_table}
    rows={plants}
    none={
      <Empty title="No plants yet">
        A plant appears as soon as its edge agent has reported it.
      </Empty>
    }
  />
)

const State = ({ plant }: { plant: Logger }) => (
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
