import type { PredictedProduction } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { bandOption } from '../../../ui/band-option.ts'
import { formatEnergy, formatNumber, formatTime } from '../../../ui/format.ts'
import { Chart } from '../../../ui/lazy-chart.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Empty } from '../../../ui/states.tsx'

interface LastWeekProps {
  steps: readonly PredictedProduction[]
  timezone: string
}

/** Day-ahead forecasts beside available production. */
export function LastWeek({ steps, timezone }: LastWeekProps) {
  const option = useMemo(
    () =>
      bandOption({
        labels: steps.map(
          ({ start_at }) =>
            `${formatTime(start_at, timezone, 'day')} ${formatTime(start_at, timezone, 'time')}`,
        ),
        p10: steps.map(({ p10_kwh }) => p10_kwh),
        p50: steps.map(({ p50_kwh }) => p50_kwh),
        p90: steps.map(({ p90_kwh }) => p90_kwh),
        lines: [{ name: 'Available', values: steps.map((step) => step.actual_available_kwh) }],
        unit: 'kWh',
        by_day: true,
      }),
    [steps, timezone],
  )
  const compared = steps.filter(({ error_kwh }) => error_kwh !== null)
  if (compared.length === 0) return <Empty title="No forecasts with measurements" />
  const banded = compared.filter(({ actual_available_kwh }) => (actual_available_kwh ?? 0) > 0)
  const inside = banded.filter(({ inside_band }) => inside_band).length
  const error_kwh = compared.reduce((sum, step) => sum + (step.error_kwh ?? 0), 0)
  const is_hindcast = compared.some((step) => step.is_hindcast)
  return (
    <>
      <Chart title="Day-ahead forecast and available energy" option={option} />
      <Text size="sm">
        {banded.length > 0 &&
          `${formatNumber((100 * inside) / banded.length, 0)} % of daylight hours were within the band. `}
        Total error: {formatEnergy(Math.abs(error_kwh))} too {error_kwh >= 0 ? 'high' : 'low'}.
      </Text>
      {is_hindcast && (
        <Muted>Days before the first forecast are hindcasts from data known at that time.</Muted>
      )}
    </>
  )
}
