/** The day of a plan: power by quarter hour with its allowed range, state of charge and prices. */

import type { BessSchedule } from '@heliograph/sdk'
import { useComputedColorScheme } from '@mantine/core'
import { CustomChart, LineChart } from 'echarts/charts'
import {
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components'
import * as echarts from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useMemo } from 'react'
import { useSite } from '../../../shell/site-shell.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { useNow } from '../../../ui/use-now.ts'
import { CanvasChart } from '../battery/canvas-chart.tsx'
import { optionOf } from './day-option.ts'

echarts.use([
  CustomChart,
  LineChart,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  CanvasRenderer,
])

interface DayChartProps {
  schedule: BessSchedule
  onPick: (at_ms: number) => void
}

export default function DayChart({ schedule, onPick }: DayChartProps) {
  const { timezone } = useSite()
  const scheme = useComputedColorScheme('light')
  const now_ms = useNow(60_000)
  const option = useMemo(
    () => optionOf({ schedule, timezone, scheme, now_ms }),
    [schedule, timezone, scheme, now_ms],
  )
  return (
    <div>
      <CanvasChart
        title="Power, state of charge and price by the hour; the table below has the same values"
        option={option}
        height={420}
        onPick={onPick}
      />
      <Muted>
        Positive values discharge, negative values charge.
        {schedule.status === 'proposed' &&
          ' The pale area is the allowed range of an hour while the other hours stay unchanged.'}
      </Muted>
    </div>
  )
}
