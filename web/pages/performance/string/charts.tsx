import { Stack } from '@mantine/core'
import { useMemo } from 'react'
import { aligned, type Values } from '../../../ui/history.ts'
import { type Line, LineChart } from '../../../ui/line-chart.tsx'
import type { Span } from '../../../ui/site-day.ts'

export interface StringChartsProps {
  site_id: string
  inverter_id: number
  string_index: number
  span: Span
  timezone: string
}

interface StringValues {
  power: Values
  current: Values
  voltage: Values
}

const kinds = [
  ['power', 'Power', 'kW', 2],
  ['current', 'Current', 'A', 2],
  ['voltage', 'Voltage', 'V', 0],
] as const

/** Power, current and voltage of a string, with expected values. */
export function StringCharts({
  at_ms,
  measured,
  expected,
  timezone,
}: {
  at_ms: readonly number[]
  measured: StringValues
  expected?: StringValues
  timezone: string
}) {
  const charts = useMemo(
    () =>
      kinds.map(([kind, label, unit, digits]) => {
        const series = [measured, ...(expected ? [expected] : [])]
        const drawn = aligned(series.map((values) => ({ at_ms, values: values[kind] })))
        const lines: Line[] = drawn.columns.map((values, nth) => ({
          label: nth === 0 ? label : 'Expected',
          unit,
          digits,
          values,
          ...(nth === 0
            ? ({ color: 'blue' } as const)
            : ({ color: 'orange', dash: true } as const)),
        }))
        return { label, at_ms: drawn.at_ms, lines }
      }),
    [at_ms, measured, expected],
  )
  return (
    <Stack gap="xs">
      {charts.map(({ label, ...drawn }) => (
        <LineChart
          key={label}
          title={`${label} of the string over the day`}
          timezone={timezone}
          height={190}
          {...drawn}
        />
      ))}
    </Stack>
  )
}
