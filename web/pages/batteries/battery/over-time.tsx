import type { BatteryUnit } from '@heliograph/sdk'
import { Stack } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useSite } from '../../../shell/site-shell.tsx'
import { DayPicker } from '../../../ui/day-picker.tsx'
import { bessHistory } from '../../../ui/history.ts'
import { batteryQuantities } from '../../../ui/quantities.ts'
import { Section } from '../../../ui/section.tsx'
import { Loading } from '../../../ui/states.tsx'
import { useDaySpan } from '../../../ui/use-day-span.ts'

const HistoryChart = lazy(() => import('../../../ui/history-chart.tsx'))

/** Measurements of the unit by day. */
export function OverTime({ site_id, unit }: { site_id: string; unit: BatteryUnit }) {
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, 3)
  return (
    <Section title="Over time">
      <Stack gap="sm">
        <DayPicker chosen={chosen} choices={[1, 2, 3]} />
        <Suspense fallback={<Loading />}>
          <HistoryChart
            name={unit.name}
            history={bessHistory(site_id, unit.bess_id, chosen.span)}
            quantities={batteryQuantities}
            first={['power_kw', 'setpoint_kw', 'cell_temperature_max_c']}
            timezone={timezone}
          />
        </Suspense>
      </Stack>
    </Section>
  )
}
