import { Stack } from '@mantine/core'
import { type ComponentProps, lazy, Suspense } from 'react'
import { useSite } from '../queries.ts'
import { DayPicker, useDaySpan } from './days.tsx'
import { Section } from './page.tsx'
import type { Span } from './site-clock.ts'
import { Loading } from './states.tsx'

const HistoryChart = lazy(() => import('./history-chart.tsx'))

type ChartProps = ComponentProps<typeof HistoryChart>

interface OverTimeProps extends Omit<ChartProps, 'history' | 'timezone'> {
  historyOf: (span: Span) => ChartProps['history']
  choices: readonly number[]
}

export function OverTime({ historyOf, choices, ...chart }: OverTimeProps) {
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, Math.max(...choices))
  return (
    <Section title="Over time">
      <Stack gap="sm">
        <DayPicker chosen={chosen} choices={choices} />
        <Suspense fallback={<Loading />}>
          <HistoryChart {...chart} history={historyOf(chosen.span)} timezone={timezone} />
        </Suspense>
      </Stack>
    </Section>
  )
}
