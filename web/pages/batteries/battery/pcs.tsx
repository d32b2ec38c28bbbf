import { Badge, Stack, Table, Text, Title } from '@mantine/core'
import { useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { formatPower, formatQuantity } from '../../../ui/format.ts'
import { SeverityBadge } from '../../../ui/severity.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { live_ms, slow_ms } from './reads.ts'

const columns = ['Power', 'Setpoint', 'Up to, out / in', 'Grid', 'DC', 'Heat sink', 'Given so far']

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
            <Empty title="No power conversion is read" />
          ) : (
            <Table.ScrollContainer
              minWidth={820}
              scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Power conversion' } }}
            >
              <Table verticalSpacing="xs">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>PCS</Table.Th>
                    <Table.Th>State</Table.Th>
                    {columns.map((name) => (
                      <Table.Th key={name} ta="right">
                        {name}
                      </Table.Th>
                    ))}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody className="figure">
                  {data.pcs.map((one) => (
                    <Table.Tr key={one.pcs_idx}>
                      <Table.Td>{one.pcs_idx}</Table.Td>
                      <Table.Td>
                        <Badge miw="max-content" color={colorOf(one.state, one.quality)}>
                          {one.quality === 'stale' ? 'Does not answer' : stateOf(one.state)}
                        </Badge>
                      </Table.Td>
                      <Table.Td ta="right">{formatPower(one.ac_power_kw)}</Table.Td>
                      <Table.Td ta="right">{formatPower(one.setpoint_kw)}</Table.Td>
                      <Table.Td ta="right">
                        {formatPower(one.max_discharge_power_kw)} /{' '}
                        {formatPower(one.max_charge_power_kw)}
                      </Table.Td>
                      <Table.Td ta="right">
                        {formatQuantity(one.voltage_l1_l2_v, 'V', 0)},{' '}
                        {formatQuantity(one.frequency_hz, 'Hz', 2)}
                      </Table.Td>
                      <Table.Td ta="right">{formatQuantity(one.dc_voltage_v, 'V', 0)}</Table.Td>
                      <Table.Td ta="right">
                        {formatQuantity(one.heatsink_temperature_c, '°C')}
                      </Table.Td>
                      <Table.Td ta="right">
                        {formatQuantity(kwhToMwh(one.energy_injected_total_kwh), 'MWh')}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Answered>
      <Faults site_id={site_id} bess_id={bess_id} />
    </Stack>
  )
}

const kwhToMwh = (kwh: number | null) => (kwh === null ? null : kwh / 1000)

const stateOf = (state: string | null) => (state === null ? 'Not known' : inWords(state))

function colorOf(state: string | null, quality: string): string {
  if (quality === 'stale' || state === 'fault') return 'red'
  return state === null ? 'gray' : 'teal'
}

function Faults({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const { timezone } = useSite()
  const { data } = useRead('bess', 'bessPcsFaultsGet', { site_id, bess_id }, slow_ms)
  if (!data) return null
  if (data.active_count === 0) {
    return (
      <Text>{data.measured_at === null ? 'Its faults are not known.' : 'No fault is set.'}</Text>
    )
  }
  return (
    <Stack gap={4} component="ul" m={0} pl={0}>
      {data.active.map(({ pcs_idx, code, name, severity, asserted_since_at }) => (
        <li key={`${pcs_idx} ${code}`} style={{ listStyle: 'none' }}>
          <SeverityBadge severity={severity} /> PCS {pcs_idx}: {name}
          {asserted_since_at && ', since '}
          {asserted_since_at && <Time at={asserted_since_at} timezone={timezone} />}
        </li>
      ))}
    </Stack>
  )
}
