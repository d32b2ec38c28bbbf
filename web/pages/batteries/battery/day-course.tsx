import type { BatteryDashboard } from '@heliograph/sdk'
import { Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { useSite } from '../../../queries.ts'
import { type Line, LineChart } from '../../../ui/line-chart.tsx'
import { Muted, Time } from '../../../ui/page.tsx'

export default function DayCourse({ dashboard }: { dashboard: BatteryDashboard }) {
  const { timezone } = useSite()
  const { power_series, soc_series } = dashboard
  const at_ms = useMemo(
    () => power_series.map(({ start_at }) => Date.parse(start_at)),
    [power_series],
  )
  const power = useMemo(
    (): Line[] => [
      {
        label: 'Power',
        unit: 'kW',
        color: 'blue',
        stepped: true,
        fill: true,
        values: power_series.map(({ power_kw }) => power_kw),
      },
      {
        label: 'Planned',
        unit: 'kW',
        color: 'gray',
        stepped: true,
        dash: true,
        values: power_series.map(({ planned_power_kw }) => planned_power_kw),
      },
    ],
    [power_series],
  )
  const soc = useMemo(
    (): Line[] => [
      {
        label: 'State of charge',
        unit: '%',
        color: 'green',
        values: soc_series.map(({ soc_pct }) => soc_pct),
      },
      {
        label: 'Planned',
        unit: '%',
        color: 'gray',
        dash: true,
        values: soc_series.map(({ planned_soc_pct }) => planned_soc_pct),
      },
    ],
    [soc_series],
  )
  return (
    <Stack gap="xs">
      <Title order={3} size="h4">
        Power and state of charge
      </Title>
      <Muted>
        From <Time at={power_series[0]?.start_at} />, the UTC day of the plan. Positive values
        discharge.
      </Muted>
      <LineChart
        title="Power of the battery today, measured and planned"
        at_ms={at_ms}
        timezone={timezone}
        lines={power}
        height={220}
      />
      <LineChart
        title="State of charge today, measured and planned"
        at_ms={at_ms}
        timezone={timezone}
        lines={soc}
        height={180}
      />
    </Stack>
  )
}
