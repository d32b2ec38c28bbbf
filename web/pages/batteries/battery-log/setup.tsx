import type { BatterySetup, BatterySetupRegister } from '@heliograph/sdk'
import { Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { formatNumber, formatPower, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { slow_ms } from '../battery/reads.ts'

/** Null when no device reports the value. */
const quantity = (value: number | null, unit: string, digits = 0) =>
  value === null ? null : formatQuantity(value, unit, digits)
const power = (kw: number | null) => (kw === null ? null : formatPower(kw))

const rowsOf = (setup: BatterySetup): [string, ReactNode][] => [
  ['Energy, rated', quantity(setup.rated_energy_kwh, 'kWh')],
  ['Capacity, rated', quantity(setup.rated_capacity_ah, 'Ah')],
  ['Voltage, nominal', quantity(setup.nominal_voltage_v, 'V')],
  ['Maximum charge power', power(setup.max_charge_power_kw)],
  ['Maximum discharge power', power(setup.max_discharge_power_kw)],
  ['Minimum charge', quantity(setup.soc_min_pct, '%')],
  ['Maximum charge', quantity(setup.soc_max_pct, '%')],
  ['Reserve', quantity(setup.soc_reserve_pct, '%')],
  ['Ramp rate', quantity(setup.ramp_rate_kw_s, 'kW/s')],
  ['Heartbeat timeout', quantity(setup.heartbeat_timeout_s, 's')],
  ['Firmware', setup.bms_firmware],
  ['Address', setup.bms_address],
]

const columns: Column<BatterySetupRegister>[] = [
  numeric('Address', ({ address }) => address),
  { name: 'Name', cell: ({ name }) => name },
  numeric('Value', ({ value }) => formatNumber(value, Number.isInteger(value) ? 0 : 3)),
  { name: 'Unit', cell: ({ unit }) => unit },
]

/** Settings of the device, read-only. */
export function Setup({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const query = useRead('bess', 'bessSetupGet', { site_id, bess_id }, slow_ms)
  return (
    <Answered query={query}>
      {(setup) => (
        <Stack>
          <Muted>
            Read <Time at={setup.read_at} />, unchanged since <Time at={setup.changed_at} />.
            Settings can be changed only at the device.
          </Muted>
          <Facts rows={rowsOf(setup)} cols={4} left_out />
          <Title order={2} size="h4">
            Registers
          </Title>
          {setup.raw_registers.length === 0 ? (
            <Empty title="No registers were read" />
          ) : (
            <DataTable
              label="Registers"
              width={420}
              {...{ columns, rows: setup.raw_registers }}
              keyOf={({ address, name }) => `${address} ${name}`}
            />
          )}
        </Stack>
      )}
    </Answered>
  )
}
