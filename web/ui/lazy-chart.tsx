import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { EChartProps } from './echart.tsx'
import type { LineChartProps } from './line-chart.tsx'

const EChart = lazy(() => import('./echart.tsx'))
const Lines = lazy(async () => ({ default: (await import('./line-chart.tsx')).LineChart }))

export const Chart = (props: EChartProps) => (
  <Suspense fallback={<Skeleton height={props.height ?? 280} />}>
    <EChart {...props} />
  </Suspense>
)

export const LazyLines = (props: LineChartProps) => (
  <Suspense fallback={<Skeleton height={props.height ?? 260} />}>
    <Lines {...props} />
  </Suspense>
)
