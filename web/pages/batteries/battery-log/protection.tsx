import type { BatteryProtection } from '@heliograph/sdk'
import { Stack, Text } from '@mantine/core'
import { useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { formatNumber, formatQuantity } from '../../../ui/format.ts'
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
  { name: 'Protects from', cell: ({ parameter }) => names[parameter] ?? inWords(parameter) },
  { name: 'Level', cell: ({ level }) => inWords(level) },
  {
    name: 'Trips at',
    is_number: true,
    cell: ({ trip_value, unit }) => quantity(trip_value, unit),
  },
  {
    name: 'Recovers at',
    is_number: true,
    cell: ({ recover_value, unit }) => quantity(recover_value, unit),
  },
  {
    name: 'Once it lasted, s',
    is_number: true,
    cell: ({ delay_ms }) => formatNumber(delay_ms && delay_ms / 1000),
  },
  { name: 'Then', cell: ({ action }) => inWords(action) },
  { name: 'By', cell: ({ source }) => source.toUpperCase() },
]

/** The thresholds that the device protects itself by. */
export function Protection({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const { timezone } = useSite()
  const query = useRead('bess', 'bessProtectionList', { site_id, bess_id }, slow_ms)
  return (
    <Answered query={query}>
      {({ data }) => {
        const [first] = data
        if (!first) return <Empty title="The device does not tell its thresholds" />
        const at = data.reduce((old, { read_at }) => (read_at < old ? read_at : old), first.read_at)
        return (
          <Stack>
            <Text size="sm" c="dimmed">
              As the device is set, read <Time {...{ at, timezone }} />. They are set at the device
              alone.
            </Text>
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
