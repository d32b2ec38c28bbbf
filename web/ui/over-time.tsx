import { Stack } from '@mantine/core'
import type { ComponentProps } from 'react'
import { useSite } from '../queries.ts'
import { DayPicker, useDaySpan } from './days.tsx'
import { loaded } from './lazy-chart.tsx'
import { Section } from './page.tsx'

const HistoryChart = loaded(() => import('./history-chart.tsx'))

type ChartProps = ComponentProps<typeof HistoryChart>

interface OverTimeProps extends Omit<ChartProps, 'span' | 'timezone'> {
  choices: readonly number[]
}

export function OverTime({ choices, ...chart }: OverTimeProps) {
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, Math.max(...choices))
  return (
    <Section title="Over time">
      <Stack gap="sm">
        <DayPicker chosen={chosen} choices={choices} />
        <HistoryChart {...chart} span={chosen.span} timezone={timezone} />
      </Stack>
    </Section>
  )
}
