import type { LoggerEfficiency } from '@heliograph/sdk'
import { useMemo } from 'react'
import { columnsOption } from '../../../ui/columns.ts'
import { Chart } from '../../../ui/lazy-chart.tsx'
import { Muted } from '../../../ui/muted.tsx'
import type { Period } from '../../../ui/periods.ts'
import { Empty } from '../../../ui/states.tsx'
import { type Bucket, labelOf } from './reads.ts'

interface EnergyChartProps {
  buckets: readonly Bucket[]
  plants: readonly LoggerEfficiency[]
  period: Period
  timezone: string
}

export function EnergyChart({ buckets, plants, period, timezone }: EnergyChartProps) {
  const is_known = buckets.some(({ by_logger }) => by_logger.size > 0)
  const option = useMemo(() => {
    const ids = [...new Set(buckets.flatMap(({ by_logger }) => [...by_logger.keys()]))]
    const nameOf = (id: number) =>
      plants.find(({ logger_id }) => logger_id === id)?.logger_name ?? `Plant ${id}`
    const is_large = period.kind === 'year'
    const scale = (kwh: number | null | undefined) =>
      kwh === null || kwh === undefined ? null : is_large ? kwh / 1000 : kwh
    return columnsOption({
      categories: buckets.map(({ key }) => labelOf(key, { period, timezone })),
      unit: is_large ? 'MWh' : 'kWh',
      digits: is_large ? 2 : 1,
      columns: [
        ...ids
          .sort((a, b) => a - b)
          .map((id) => ({
            name: nameOf(id),
            stack: 'energy',
            values: buckets.map(({ by_logger }) => scale(by_logger.get(id))),
          })),
        {
          name: 'Expected',
          as: 'line' as const,
          color: '#868e96',
          values: buckets.map(({ expected_kwh }) => scale(expected_kwh)),
        },
      ],
    })
  }, [buckets, plants, period, timezone])
  if (!is_known) return <Empty title="No data for this period" />
  return (
    <>
      <Chart title="Energy of each plant, and expected energy" option={option} height={300} />
      {buckets.some(({ is_partial }) => is_partial) && (
        <Muted>Incomplete period or measurements: values may still increase.</Muted>
      )}
    </>
  )
}
