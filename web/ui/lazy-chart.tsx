import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { EChartProps } from './echart.tsx'
import type { LineChartProps } from './line-chart.tsx'

const EChart = lazy(() => import('./echart.tsx'))
const Lines = lazy(async () => ({ default: (await import('./line-chart.tsx')).LineChart }))

/** `EChart`, loaded when it is shown. */
export const Chart = (props: EChartProps) => (
  <Suspense fallback={<Skeleton height={props.height ?? 280} />}>
    <EChart {...props} />
  </Suspense>
)

/** `LineChart`, loaded when it is shown. */
export const LazyLines = (props: LineChartProps) => (
  <Suspense fallback={<Skeleton height={props.height ?? 260} />}>
    <Lines {...props} />
  </Suspense>
)
