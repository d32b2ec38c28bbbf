import type { BatteryProtection } from '@heliograph/sdk'
import { Stack } from '@mantine/core'
import { useRead } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatNumber, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { slow_ms } from '../battery/reads.ts'

const units: Partial<Record<BatteryProtection['unit'], string>> = {
  C: '°C',
  pct: '%',
  kohm: 'kΩ',
}

const quantity = (value: number | null, unit: BatteryProtection['unit']) =>
  formatQuantity(value, units[unit] ?? unit, Number.isInteger(value) ? 0 : 1)

const names: Partial<Record<BatteryProtection['parameter'], string>> = {
  soc_low: 'State of charge low',
  soc_high: 'State of charge high',
}

const columns: Column<BatteryProtection>[] = [
  { name: 'Protection', cell: ({ parameter }) => names[parameter] ?? inWords(parameter) },
  { name: 'Level', cell: ({ level }) => inWords(level) },
  numeric('Trips at', ({ trip_value, unit }) => quantity(trip_value, unit)),
  numeric('Recovers at', ({ recover_value, unit }) => quantity(recover_value, unit)),
  numeric('Delay, s', ({ delay_ms }) => formatNumber(delay_ms && delay_ms / 1000)),
  { name: 'Action', cell: ({ action }) => inWords(action) },
  { name: 'Source', cell: ({ source }) => source.toUpperCase() },
]

/** Protection thresholds of the device. */
export function Protection({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const query = useRead('bess', 'bessProtectionList', { site_id, bess_id }, slow_ms)
  return (
    <Answered query={query}>
      {({ data }) => {
        const [first] = data
        if (!first) return <Empty title="The device reports no thresholds" />
        const at = data.reduce((old, { read_at }) => (read_at < old ? read_at : old), first.read_at)
        return (
          <Stack>
            <Muted>
              Read from the device <Time at={at} />. Thresholds can be changed only at the device.
            </Muted>
            <DataTable
              label="Thresholds of protection"
              width={760}
              {...{ columns, rows: data }}
              keyOf={({ parameter, level, source }) => `${source} ${parameter} ${level}`}
            />
          </Stack>
        )
      }}
    </Answered>
  )
}
