import type { PcsNow } from '@heliograph/sdk'
import { Badge, Stack, Text, Title } from '@mantine/core'
import { useRead } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatPower, formatQuantity } from '../../../ui/format.ts'
import { SeverityBadge } from '../../../ui/severity.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { live_ms, slow_ms } from './reads.ts'

const columns: readonly Column<PcsNow>[] = [
  { name: 'PCS', cell: ({ pcs_idx }) => pcs_idx },
  {
    name: 'State',
    cell: ({ state, quality }) => (
      <Badge miw="max-content" color={colorOf(state, quality)}>
        {quality === 'stale' ? 'Communication lost' : inWords(state ?? 'unknown')}
      </Badge>
    ),
  },
  numeric('Power', ({ ac_power_kw }) => formatPower(ac_power_kw)),
  numeric('Setpoint', ({ setpoint_kw }) => formatPower(setpoint_kw)),
  numeric('Maximum, discharge / charge', ({ max_discharge_power_kw, max_charge_power_kw }) =>
    [max_discharge_power_kw, max_charge_power_kw].map(formatPower).join(' / '),
  ),
  numeric('Grid', ({ voltage_l1_l2_v, frequency_hz }) =>
    [formatQuantity(voltage_l1_l2_v, 'V', 0), formatQuantity(frequency_hz, 'Hz', 2)].join(', '),
  ),
  numeric('DC', ({ dc_voltage_v }) => formatQuantity(dc_voltage_v, 'V', 0)),
  numeric('Heat sink', ({ heatsink_temperature_c }) =>
    formatQuantity(heatsink_temperature_c, '°C'),
  ),
  numeric('Energy discharged', ({ energy_injected_total_kwh: kwh }) =>
    formatQuantity(kwh === null ? null : kwh / 1000, 'MWh'),
  ),
]

export function Pcs({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const pcs = useRead('bess', 'bessPcsCurrentGet', { site_id, bess_id }, live_ms)
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        Power conversion
      </Title>
      <Answered query={pcs}>
        {(data) =>
          data.pcs.length === 0 ? (
            <Empty title="No power conversion data" />
          ) : (
            <DataTable
              label="Power conversion"
              width={820}
              {...{ columns, rows: data.pcs }}
              keyOf={({ pcs_idx }) => pcs_idx}
            />
          )
        }
      </Answered>
      <Faults site_id={site_id} bess_id={bess_id} />
    </Stack>
  )
}

function colorOf(state: string | null, quality: string): string {
  if (quality === 'stale' || state === 'fault') return 'red'
  return state === null ? 'gray' : 'teal'
}

function Faults({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const { data } = useRead('bess', 'bessPcsFaultsGet', { site_id, bess_id }, slow_ms)
  if (!data) return null
  if (data.active_count === 0) {
    return <Text>{data.measured_at === null ? 'Faults unknown' : 'No active faults'}</Text>
  }
  return (
    <Stack gap={4} component="ul" m={0} pl={0}>
      {data.active.map(({ pcs_idx, code, name, severity, asserted_since_at }) => (
        <li key={`${pcs_idx} ${code}`} style={{ listStyle: 'none' }}>
          <SeverityBadge severity={severity} /> PCS {pcs_idx}: {name}
          {asserted_since_at && ', since '}
          {asserted_since_at && <Time at={asserted_since_at} />}
        </li>
      ))}
    </Stack>
  )
}
