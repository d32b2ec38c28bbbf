import { Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useOverview, useSite } from '../../../queries.ts'
import { column, DataTable, numeric, tableOf } from '../../../ui/data-table.tsx'
import { formatNumber, formatQuantity, inWords } from '../../../ui/format.ts'
import { aligned, inverterHistory, loggerHistory, type Values } from '../../../ui/history.ts'
import { lineStyle } from '../../../ui/history-chart.tsx'
import { type Line, LineChart } from '../../../ui/line-chart.tsx'
import type { Quantity } from '../../../ui/quantities.ts'
import type { Span } from '../../../ui/site-clock.ts'
import { Empty, Failure, Loading } from '../../../ui/states.tsx'

interface Compared {
  kind: 'inverter' | 'logger'
  ids: readonly number[]
  quantity: Quantity
  span: Span
  /** Power per kWp of panels. */
  by_rated: boolean
}

interface Device {
  id: number
  name: string
  dc_capacity_kwp: number
}

interface Drawn extends Device {
  values: Values
}

export default function CompareChart(props: Compared) {
  const { timezone } = useSite()
  const { quantity, by_rated } = props
  const { drawn, at_ms, is_pending, error } = useDrawn(props)
  const unit = by_rated ? 'W/kWp' : quantity.unit
  const digits = by_rated ? 0 : (quantity.digits ?? 1)
  const lines = useMemo(
    () =>
      drawn.map(
        ({ name, values }, nth): Line => ({
          label: name,
          unit,
          values,
          digits,
          ...lineStyle(nth),
        }),
      ),
    [drawn, unit, digits],
  )
  if (error && drawn.length === 0) return <Failure error={error} />
  if (is_pending && drawn.length === 0) return <Loading />
  if (at_ms.length === 0) return <Empty title="No measurements on these days" />
  return (
    <>
      {is_pending && (
        <Text size="sm" role="status">
          Loading more…
        </Text>
      )}
      <LineChart
        title={`${quantity.label} of ${drawn.map(({ name }) => name).join(', ')}`}
        {...{ at_ms, lines, timezone }}
        height={360}
      />
      <DataTable {...tableOfDrawn(unit, digits)} rows={drawn} />
    </>
  )
}

function useDrawn({ kind, ids, quantity, span, by_rated }: Compared) {
  const { site_id } = useSite()
  const { data: overview } = useOverview()
  const history = kind === 'logger' ? loggerHistory : inverterHistory
  const { histories, is_pending, error } = useQueries({
    queries: ids.map((id) => history(site_id, id, { span, names: [quantity.name] })),
    combine: (queries) => ({
      histories: queries.map(({ data }) => data),
      is_pending: queries.some(({ isPending }) => isPending),
      error: queries.find((query) => query.error)?.error ?? null,
    }),
  })
  const devices: Device[] =
    kind === 'logger'
      ? (overview?.loggers ?? []).map((one) => ({ ...one, id: one.logger_id }))
      : (overview?.inverters ?? []).map((one) => ({ ...one, id: one.inverter_id }))
  const facts = JSON.stringify(
    ids.map((id) => {
      const { name, dc_capacity_kwp } = devices.find((one) => one.id === id) ?? {}
      return name === undefined ? null : { id, name, dc_capacity_kwp }
    }),
  )
  return useMemo(() => {
    const known = JSON.parse(facts) as (Device | null)[]
    const found = known.flatMap((device, nth) => {
      const read = histories[nth]
      return device && read ? [{ device, read }] : []
    })
    const { at_ms, columns } = aligned(
      found.map(({ read }) => ({
        at_ms: read.at_ms,
        values: read.columns[quantity.name] ?? [],
      })),
      Math.max(0, ...found.map(({ read }) => read.gap_ms)),
    )
    const drawn = found.map(({ device }, nth): Drawn => {
      const factor = by_rated ? 1000 / device.dc_capacity_kwp : 1
      const values = columns[nth]!.map((value) => (value === null ? null : value * factor))
      return { ...device, values }
    })
    return { at_ms, drawn, is_pending, error }
  }, [facts, histories, quantity.name, by_rated, is_pending, error])
}

/** Lowest, mean and highest value: the chart as a table. */
const tableOfDrawn = (unit: string, digits: number) =>
  tableOf<Drawn>('Summary of the shown days', 420, 'id', [
    column('Device', ({ name }) => name),
    ...(['lowest', 'mean', 'highest'] as const).map((kind) =>
      numeric<Drawn>(inWords(kind), ({ values }) =>
        formatQuantity(summaryOf(values)?.[kind], unit, digits),
      ),
    ),
    numeric('Data complete', ({ values }) => {
      const known = values.filter((value) => value !== null).length
      return `${formatNumber((known / Math.max(1, values.length)) * 100, 0)}\u00a0%`
    }),
  ])

function summaryOf(values: Values) {
  let [lowest, highest, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0]
  for (const value of values) {
    if (value === null) continue
    if (value < lowest) lowest = value
    if (value > highest) highest = value
    sum += value
    count += 1
  }
  return count === 0 ? null : { lowest, highest, mean: sum / count }
}
