import type { Inverter } from '@heliograph/sdk'
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { type Column, DataTable, numeric } from './data-table.tsx'
import { formatAge, formatEnergy, formatPower, formatQuantity } from './format.ts'
import { InverterState, limitWords } from './plant-words.tsx'

const columns: readonly Column<Inverter>[] = [
  { name: 'State', cell: (inverter) => <InverterState inverter={inverter} /> },
  {
    name: 'Alarms',
    cell: ({ active_alarm_count, active_alarm_codes }) =>
      active_alarm_count === 0 ? 'None' : active_alarm_codes.slice(0, 2).join(', '),
  },
  numeric('Power', ({ ac_power_kw }) => formatPower(ac_power_kw)),
  numeric('Available', ({ available_power_kw }) => formatPower(available_power_kw)),
  { name: 'Limited by', cell: ({ limited_by }) => limitWords(limited_by) },
  numeric('Efficiency', ({ efficiency_pct }) => formatQuantity(efficiency_pct, '%')),
  numeric('Today', (inverter) => formatEnergy(inverter.energy_today_kwh)),
  numeric('Yield today', (inverter) =>
    formatQuantity(inverter.specific_yield_today_kwh_kwp, 'kWh/kWp', 2),
  ),
  numeric('Last data', ({ age_s }) => formatAge(age_s)),
]

export function InverterTable({
  site_id,
  inverters,
  plantName,
}: {
  site_id: string
  inverters: readonly Inverter[]
  /** Adds a column for the plant. */
  plantName?: (logger_id: number) => string
}) {
  const first: Column<Inverter>[] = [
    {
      name: 'Inverter',
      cell: ({ inverter_id, name }) => (
        <Anchor component={Link} href={`/sites/${site_id}/inverters/${inverter_id}`}>
          {name}
        </Anchor>
      ),
    },
  ]
  if (plantName) first.push({ name: 'Plant', cell: ({ logger_id }) => plantName(logger_id) })
  return (
    <DataTable
      label="Inverters"
      width={980}
      columns={[...first, ...columns]}
      rows={inverters}
      keyOf={({ inverter_id }) => inverter_id}
    />
  )
}
