import { Skeleton } from '@mantine/core'
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Loading } from './states.tsx'

/** A component of a file that is loaded when it is first shown. */
export function loaded<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  fallbackOf: (props: Props) => ReactNode = () => <Loading />,
) {
  const Part: ComponentType<Props> = lazy(load)
  return (props: Props) => (
    <Suspense fallback={fallbackOf(props)}>
      <Part {...props} />
    </Suspense>
  )
}

export const Chart = loaded(
  () => import('./echart.tsx'),
  ({ height = 280 }) => <Skeleton height={height} />,
)

export const LazyLines = loaded(
  async () => ({ default: (await import('./line-chart.tsx')).LineChart }),
  ({ height = 260 }) => <Skeleton height={height} />,
)
