import type { BatteryUnit } from '@heliograph/sdk'
import { Stack, Title } from '@mantine/core'
import { Facts } from '../../../ui/facts.tsx'
import { formatNumber, formatPower, formatQuantity } from '../../../ui/format.ts'

/** Inventory data of the unit. */
export function Details({ unit }: { unit: BatteryUnit }) {
  const { manufacturer, model, serial_number, chemistry, coupling, warranty_end_date } = unit
  const cells = formatNumber(unit.cell_count, 0)
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        Details
      </Title>
      <Facts
        cols={4}
        rows={[
          ['Model', [manufacturer, model].filter(Boolean).join(' ') || null],
          ['Serial number', serial_number],
          [
            'Cells',
            `${chemistry.toUpperCase().replace('_', ' ')}, ${coupling.toUpperCase()} coupled`,
          ],
          ['Energy, rated', formatQuantity(unit.rated_energy_kwh, 'kWh', 0)],
          ['Energy, usable', formatQuantity(unit.usable_energy_kwh, 'kWh')],
          ['Discharge power, rated', formatPower(unit.rated_discharge_power_kw)],
          ['Charge power, rated', formatPower(unit.rated_charge_power_kw)],
          ['Round-trip efficiency', formatQuantity(unit.roundtrip_efficiency_pct, '%')],
          [
            'Consists of',
            `${unit.cluster_count} clusters, ${unit.module_count} modules, ${cells} cells`,
          ],
          ['In service since', unit.commissioned_date],
          ['Warranty until', warranty_end_date],
          ['Firmware', unit.bms_firmware],
        ]}
      />
    </Stack>
  )
}
