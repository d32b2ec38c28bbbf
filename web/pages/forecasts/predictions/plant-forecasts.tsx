import type { Forecast } from '@heliograph/sdk'
import { Badge, Table, Text } from '@mantine/core'
import { formatEnergy, formatPower } from '../../../ui/format.ts'
import { RowTable } from '../../../ui/row-table.tsx'
import { addDays } from '../../../ui/site-day.ts'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { fallbackWords } from './reads.ts'

interface PlantForecastsProps {
  plants: readonly Forecast[]
  today: string
  timezone: string
}

const head = ['Plant', 'Day (UTC)', 'Expected', 'Band of 80 %', 'Peak', 'Confidence', 'By']

export function PlantForecasts({ plants, today, timezone }: PlantForecastsProps) {
  const shown = plants
    .filter(({ date }) => date === today || date === addDays(today, 1))
    .toSorted((a, b) => (a.logger_id ?? 0) - (b.logger_id ?? 0) || (a.date < b.date ? -1 : 1))
  if (shown.length === 0) return <Empty title="No plant has a forecast" />
  return (
    <RowTable label="Forecasts of each plant" min_width={820} head={head}>
      {shown.map((one) => (
        <Table.Tr key={`${one.logger_id}/${one.date}`}>
          <Table.Td>
            <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
              {one.logger_name}
            </Text>
          </Table.Td>
          <Table.Td>{one.date === today ? 'today' : 'tomorrow'}</Table.Td>
          <Table.Td>{formatEnergy(one.total_p50_kwh)}</Table.Td>
          <Table.Td>
            {formatEnergy(one.total_p10_kwh)} to {formatEnergy(one.total_p90_kwh)}
          </Table.Td>
          <Table.Td>
            {formatPower(one.peak_p50_kw)}
            {one.peak_at && (
              <>
                {' '}
                at <Time at={one.peak_at} timezone={timezone} style="time" />
              </>
            )}
          </Table.Td>
          <Table.Td>
            <Badge miw="max-content" color={one.confidence === 'low' ? 'orange' : 'teal'}>
              {one.confidence}
            </Badge>
          </Table.Td>
          <Table.Td>
            {one.model === 'blend' ? `model ${one.model_version}` : (one.model ?? '–')}
            {one.fallback_reason && (
              <Text size="xs" c="dimmed">
                {fallbackWords[one.fallback_reason]}
              </Text>
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  )
}
