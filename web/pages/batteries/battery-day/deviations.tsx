import type { BatteryDeviation } from '@heliograph/sdk'
import { Card, Stack, Switch, Table, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { formatMoney, formatPower, formatQuantity } from '../../../ui/format.ts'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { slow_ms } from '../battery/reads.ts'
import { deviationReason } from '../battery/words.ts'
import { isPlanned, summaryOf } from './deviation-words.ts'

interface DeviationsProps {
  site_id: string
  bess_id: number
  day: string
}

/** Where the battery did not do what was approved, and why. */
export function Deviations({ site_id, bess_id, day }: DeviationsProps) {
  const deviations = useRead(
    'bess',
    'bessDeviationsList',
    { site_id, bess_id, target_date: day },
    slow_ms,
  )
  const [is_whole, setWhole] = useState(false)
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        Plan vs actual
      </Title>
      <Answered query={deviations}>
        {({ data }) => {
          const planned = data.filter(isPlanned)
          const strayed = planned.filter(({ within_tolerance }) => !within_tolerance)
          const shown = is_whole ? data : strayed
          return (
            <Card withBorder padding="sm">
              <Text>{summaryOf(data)}</Text>
              {data.length > strayed.length && (
                <Switch
                  label="Show every hour"
                  checked={is_whole}
                  mt="xs"
                  onChange={({ currentTarget }) => setWhole(currentTarget.checked)}
                />
              )}
              {shown.length > 0 && <DeviationTable rows={shown} />}
            </Card>
          )
        }}
      </Answered>
    </Stack>
  )
}

function DeviationTable({ rows }: { rows: readonly BatteryDeviation[] }) {
  const { timezone } = useSite()
  return (
    <Table.ScrollContainer
      minWidth={640}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Hours against the plan' } }}
    >
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Hour</Table.Th>
            {['Planned', 'Was', 'Difference', 'Cost'].map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
            <Table.Th>Why</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="figure">
          {rows.map((row) => (
            <Table.Tr key={row.hour}>
              <Table.Td>
                <Time at={row.start_at} timezone={timezone} style="time" />–
                <Time at={row.end_at} timezone={timezone} style="time" />
              </Table.Td>
              <Table.Td ta="right">{formatPower(row.planned_power_kw)}</Table.Td>
              <Table.Td ta="right">{formatPower(row.actual_avg_power_kw)}</Table.Td>
              <Table.Td ta="right">{formatQuantity(row.deviation_kwh, 'kWh')}</Table.Td>
              <Table.Td ta="right">{formatMoney(row.cost_amount, row.currency)}</Table.Td>
              <Table.Td>{deviationReason(row.reason)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
