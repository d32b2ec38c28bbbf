import type { BatteryDeviation } from '@heliograph/sdk'
import { Card, Stack, Switch, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
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

/** Hours in which the battery deviated from its approved plan, with the reason. */
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
                  label="Show all hours"
                  checked={is_whole}
                  mt="xs"
                  onChange={({ currentTarget }) => setWhole(currentTarget.checked)}
                />
              )}
              {shown.length > 0 && (
                <DataTable
                  label="Hours against the plan"
                  width={640}
                  {...{ columns, rows: shown }}
                  keyOf={({ hour }) => hour}
                />
              )}
            </Card>
          )
        }}
      </Answered>
    </Stack>
  )
}

const columns: readonly Column<BatteryDeviation>[] = [
  {
    name: 'Hour',
    cell: ({ start_at, end_at }) => (
      <>
        <Time at={start_at} style="time" />–<Time at={end_at} style="time" />
      </>
    ),
  },
  numeric('Planned', ({ planned_power_kw }) => formatPower(planned_power_kw)),
  numeric('Actual', ({ actual_avg_power_kw }) => formatPower(actual_avg_power_kw)),
  numeric('Deviation', ({ deviation_kwh }) => formatQuantity(deviation_kwh, 'kWh')),
  numeric('Cost', ({ cost_amount, currency }) => formatMoney(cost_amount, currency)),
  { name: 'Reason', cell: ({ reason }) => deviationReason(reason) },
]
