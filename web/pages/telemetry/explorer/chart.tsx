import { Button, Group, Skeleton } from '@mantine/core'
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { useMayRead, useSite } from '../../../queries.ts'
import { type Cell, saveCsv } from '../../../ui/csv.ts'
import { column, DataTable, numeric, tableOf } from '../../../ui/data-table.tsx'
import {
  formatDuration,
  formatEnergy,
  formatNumber,
  formatQuantity,
  none,
} from '../../../ui/format.ts'
import { aligned, everyOf, type History, type Values } from '../../../ui/history.ts'
import { lineStyle } from '../../../ui/history-chart.tsx'
import { type Line, LineChart } from '../../../ui/line-chart.tsx'
import { Muted, Time } from '../../../ui/page.tsx'
import { expectedPower, type Quantity } from '../../../ui/quantities.ts'
import { clockAt, type Span } from '../../../ui/site-clock.ts'
import { Empty, Failure } from '../../../ui/states.tsx'
import { expectedHistory } from './expected.ts'
import type { Source } from './sources.ts'
import { energyOf, statisticsOf } from './statistics.ts'
import { useZoom, type Zoom } from './zoom.ts'

interface Shown {
  sources: readonly Source[]
  quantities: readonly Quantity[]
  days: Span
  /** Power per kWp of panels. */
  by_rated: boolean
}

interface Series {
  key: string
  device: string
  /** Of the quantity. */
  name: string
  label: string
  unit: string
  digits: number
  values: Values
}

const chart_height = 400
const day_s = 86_400

export default function ExplorerChart({ days, ...shown }: Shown) {
  const { timezone } = useSite()
  const zoom = useZoom(days)
  const { span } = zoom
  const is_drawn = useRef(false)
  const { series, at_ms, is_pending, error } = useSeries({ ...shown, span })
  const lines = useMemo(() => linesOf(series), [series])
  if (error && series.length === 0) return <Failure error={error} />
  // The first view is drawn once, a later one as its parts arrive.
  if (is_pending && !is_drawn.current) return <Skeleton height={chart_height} />
  is_drawn.current = true
  const step_s = Number.parseInt(everyOf(span), 10)
  return (
    <>
      <Group justify="space-between" mb="xs">
        <ZoomButtons zoom={zoom} is_pending={is_pending} step_s={step_s} />
        <Button
          size="xs"
          variant="default"
          disabled={at_ms.length === 0}
          onClick={() => void saveCsv('heliograph-explorer', rowsOf(series, at_ms, timezone))}
        >
          Download CSV
        </Button>
      </Group>
      {at_ms.length === 0 ? (
        <Empty title="No measurements in this period">See “Gaps” for the cause.</Empty>
      ) : (
        <LineChart
          title={lines.map(({ label }) => label).join(', ')}
          at_ms={at_ms}
          lines={lines}
          timezone={timezone}
          height={chart_height}
          onZoom={zoom.set}
        />
      )}
      <DataTable {...tableOfSeries(step_s)} rows={series} />
    </>
  )
}

/** The expected power of a plant is a dashed line in the colour of its power. */
function linesOf(series: readonly Series[]): Line[] {
  const colours = new Map<string, number>()
  return series.map(({ device, name, label, unit, digits, values }) => {
    const is_expected = name === expectedPower.name
    const key = `${device}/${is_expected ? 'ac_power_kw' : name}`
    const nth = colours.get(key) ?? colours.size
    colours.set(key, nth)
    return {
      label: `${device} ${label.toLowerCase()}`,
      unit,
      digits,
      values,
      ...lineStyle(nth),
      ...(is_expected && { dash: true }),
    }
  })
}

interface ZoomButtonsProps {
  zoom: Zoom
  is_pending: boolean
  step_s: number
}

const ZoomButtons = ({ zoom, is_pending, step_s }: ZoomButtonsProps) => (
  <Group gap="xs">
    {zoom.buttons.map(({ name, next }) => (
      <Button
        key={name}
        size="xs"
        variant="default"
        disabled={next === null}
        onClick={() => next && zoom.set(next)}
      >
        {name}
      </Button>
    ))}
    <Muted>
      <Time at={new Date(zoom.span.start_ms).toISOString()} /> to{' '}
      <Time at={new Date(zoom.span.end_ms).toISOString()} />,{' '}
      {step_s === day_s ? 'daily means' : `means of ${formatDuration(step_s)}`}
      {is_pending && '. Loading more…'}
    </Muted>
  </Group>
)

function useSeries({ sources, quantities, span, by_rated }: Omit<Shown, 'days'> & { span: Span }) {
  const { site_id, timezone } = useSite()
  const may_expect = useMayRead()('energy:read')
  const every = everyOf(span)
  const namesOf = (source: Source) =>
    quantities
      .map(({ name }) => name)
      .filter((name) => name !== expectedPower.name && hasQuantity(source, name))
  const measured = useQueries({
    queries: sources.map((source) => {
      const names = namesOf(source)
      return {
        ...source.historyOf({ span, names, every }),
        enabled: names.length > 0,
        placeholderData: keepPreviousData,
      }
    }),
    combine,
  })
  const is_expected = may_expect && quantities.some(({ name }) => name === expectedPower.name)
  const plants = is_expected ? sources.filter(({ logger_id }) => logger_id !== undefined) : []
  const modelled = useQueries({
    queries: plants.map(({ logger_id }) =>
      expectedHistory({ site_id, timezone, logger_id: logger_id!, span, every }),
    ),
    combine,
  })
  const facts = JSON.stringify(sources.map(({ id }) => id))
  const names = JSON.stringify(quantities.map(({ name }) => name))
  // biome-ignore lint/correctness/useExhaustiveDependencies: ids and names stand for their objects
  const drawn = useMemo(() => {
    const ofPlant = sources.map((source) => modelled.histories[plants.indexOf(source)])
    return seriesOf({ sources, quantities, by_rated }, measured.histories, ofPlant)
  }, [facts, names, by_rated, measured.histories, modelled.histories])
  return {
    ...drawn,
    is_pending: measured.is_pending || modelled.is_pending,
    error: measured.error ?? modelled.error,
  }
}

interface Read {
  data: History | undefined
  isLoading: boolean
  error: Error | null
}

const combine = (reads: readonly Read[]) => ({
  histories: reads.map(({ data }) => data),
  is_pending: reads.some(({ isLoading }) => isLoading),
  error: reads.find(({ error }) => error)?.error ?? null,
})

const hasQuantity = ({ quantities }: Source, name: string) =>
  quantities.some((one) => one.name === name)

function seriesOf(
  { sources, quantities, by_rated }: Omit<Shown, 'days'>,
  measured: readonly (History | undefined)[],
  modelled: readonly (History | undefined)[],
) {
  const found = sources.flatMap((source, nth) =>
    quantities.flatMap((quantity) => {
      const read = (quantity.name === expectedPower.name ? modelled : measured)[nth]
      return read && hasQuantity(source, quantity.name) ? [{ source, quantity, read }] : []
    }),
  )
  const { at_ms, columns } = aligned(
    found.map(({ read, quantity }) => ({
      at_ms: read.at_ms,
      values: read.columns[quantity.name] ?? [],
    })),
    Math.max(0, ...found.map(({ read }) => read.gap_ms)),
  )
  const series = found.map(({ source, quantity }, nth): Series => {
    const kwp = by_rated && quantity.unit === 'kW' ? source.dc_capacity_kwp : undefined
    return {
      key: `${source.id}/${quantity.name}`,
      device: source.name,
      name: quantity.name,
      label: quantity.label,
      unit: kwp ? 'W/kWp' : quantity.unit,
      digits: kwp ? 0 : quantity.digits,
      values: columns[nth]!.map((value) => (kwp && value !== null ? (value * 1000) / kwp : value)),
    }
  })
  return { series, at_ms }
}

const tableOfSeries = (step_s: number) =>
  tableOf<Series>('Summary of the shown period', 640, 'key', [
    column('Device', ({ device }) => device),
    column('Quantity', ({ label }) => label),
    numeric('Lowest', (series) => shown(series, 'lowest')),
    numeric('Mean', (series) => shown(series, 'mean')),
    numeric('Highest', (series) => shown(series, 'highest')),
    numeric('Energy', ({ unit, values }) =>
      // The mean of a day leaves out its gaps.
      unit === 'kW' && step_s < day_s ? formatEnergy(energyOf(values, step_s)) : none,
    ),
    numeric(
      'Data complete',
      ({ values }) => `${formatNumber(statisticsOf(values).known_pct, 0)}\u00a0%`,
    ),
  ])

const shown = ({ values, unit, digits }: Series, name: 'lowest' | 'mean' | 'highest') =>
  formatQuantity(statisticsOf(values)[name], unit, digits)

/** Instants in UTC and in the time of the site, and one column for each series. */
function rowsOf(series: readonly Series[], at_ms: readonly number[], timezone: string): Cell[][] {
  const heads = series.map(({ device, label, unit }) => `${device}: ${label} (${unit})`)
  return [
    ['Time (UTC)', `Time (${timezone})`, ...heads],
    ...at_ms.map((ms, nth) => [
      new Date(ms).toISOString(),
      clockAt(ms, timezone).replace('T', ' '),
      ...series.map(({ values }) => values[nth] ?? null),
    ]),
  ]
}
