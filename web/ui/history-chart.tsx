/** Quantities of a device over time, with one chart for each unit. */
import { MultiSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { aligned, type History, type HistoryQuery, type Shown } from './history.ts'
import { type Line, LineChart, type LineColor } from './line-chart.tsx'
import { type Quantity, quantityChoices } from './quantities.ts'
import type { Span } from './site-clock.ts'
import { Answered, Empty } from './states.tsx'
import { useFilters } from './use-filters.ts'

export const lineColors: readonly LineColor[] = ['blue', 'orange', 'green', 'red', 'violet', 'gray']

/** Repeats the colours as dashed lines. */
export const lineStyle = (nth: number) => ({
  color: lineColors[nth % lineColors.length]!,
  ...(nth >= lineColors.length && { dash: true as const }),
})

export default function HistoryChart({
  name,
  historyOf,
  span,
  quantities,
  first,
  timezone,
}: {
  name: string
  historyOf: (shown: Shown) => HistoryQuery
  span: Span
  quantities: readonly Quantity[]
  first: readonly string[]
  timezone: string
}) {
  const filters = useFilters()
  const chosen = filters.get('show')?.split(',') ?? [...first]
  const query = useQuery({
    ...historyOf({ span, names: chosen }),
    // While a further quantity is read.
    placeholderData: (before, query) =>
      query?.queryKey[3] === span.start_ms && query.queryKey[4] === span.end_ms
        ? before
        : undefined,
  })
  return (
    <Stack gap="sm">
      <MultiSelect
        label="Quantities"
        data={quantityChoices(quantities)}
        value={chosen}
        onChange={(names) => filters.set({ show: names.join(',') || null })}
        searchable
        maxValues={8}
      />
      <Answered query={query}>
        {(data) => (
          <Charts
            name={name}
            history={data}
            quantities={quantities.filter(({ name }) => chosen.includes(name))}
            timezone={timezone}
          />
        )}
      </Answered>
    </Stack>
  )
}

function Charts({
  name,
  history,
  quantities,
  timezone,
}: {
  name: string
  history: History
  quantities: readonly Quantity[]
  timezone: string
}) {
  const names = quantities.map((quantity) => quantity.name).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names stand for the quantities
  const charts = useMemo(() => chartsOf(history, quantities), [history, names])
  if (history.at_ms.length === 0) {
    return <Empty title="No measurements on these days">See “Gaps” for the cause.</Empty>
  }
  return charts.map(({ unit, at_ms, lines }) => (
    <LineChart
      key={unit}
      title={`${lines.map(({ label }) => label).join(', ')} of ${name}`}
      at_ms={at_ms}
      lines={lines}
      timezone={timezone}
      height={charts.length > 1 ? 200 : 260}
    />
  ))
}

function chartsOf(history: History, quantities: readonly Quantity[]) {
  const units = [...new Set(quantities.map(({ unit }) => unit))]
  return units.map((unit) => {
    const own = quantities.filter((quantity) => quantity.unit === unit)
    const series = own.map(({ name }) => ({
      at_ms: history.at_ms,
      values: history.columns[name] ?? [],
    }))
    const { at_ms, columns } = aligned(series, history.gap_ms)
    const lines: Line[] = own.map(({ name, label, digits }, nth) => ({
      label,
      unit,
      values: columns[nth]!,
      ...lineStyle(nth),
      ...(name === 'available_power_kw' && { dash: true }),
      digits,
    }))
    return { unit, at_ms, lines }
  })
}
