import type { Forecast, Overview } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useMayRead } from '../../queries.ts'
import { type History, loggerHistory } from '../../ui/history.ts'
import { type Line, LineChart } from '../../ui/line-chart.tsx'
import { dayAt, daysFrom, type Span } from '../../ui/site-clock.ts'
import { Loading } from '../../ui/states.tsx'
import { useForecasts } from '../forecasts/predictions/reads.ts'

/** With more plants, steps of five minutes take longer to download than the chart can show. */
const plants_in_detail_max = 9
const names = ['ac_power_kw', 'available_power_kw']

export default function TodayChart({ overview }: { overview: Overview }) {
  const { site, loggers, generated_at } = overview
  const { site_id, timezone } = site
  const today = dayAt(Date.parse(generated_at), timezone)
  const span = useMemo(() => daysFrom(today, 1, timezone), [today, timezone])
  const { data: forecasts } = useForecasts(span, useMayRead()('predictions:read'))
  const points = useMemo(() => forecasts?.site.flatMap(({ points }) => points) ?? [], [forecasts])
  const every = loggers.length > plants_in_detail_max ? '900s' : '300s'
  const { histories, is_loading, is_failed } = useQueries({
    queries: loggers.map(({ logger_id }) =>
      loggerHistory(site_id, logger_id, { span, names, every }),
    ),
    combine: (queries) => ({
      histories: queries.map(({ data }) => data),
      is_loading: queries.some(({ isPending }) => isPending),
      is_failed: queries.some(({ isError, data }) => isError && !data),
    }),
  })
  const drawn = useMemo(
    () => linesOf(span, Number.parseInt(every, 10) * 1000, histories, points),
    [span, every, histories, points],
  )
  if (is_loading) return <Loading />
  return (
    <>
      {is_failed && <Text size="sm">Power could not be read. Retrying.</Text>}
      <LineChart
        title={`Power of the site on ${today}, available power and forecast`}
        timezone={timezone}
        {...drawn}
      />
    </>
  )
}

function linesOf(
  span: Span,
  step_ms: number,
  histories: readonly (History | undefined)[],
  points: Forecast['points'],
) {
  const count = Math.ceil((span.end_ms - span.start_ms) / step_ms)
  const at_ms = Array.from({ length: count }, (_, step) => span.start_ms + step * step_ms)
  const known = histories.filter((history) => history && history.at_ms.length > 0)
  const total = (name: string) => {
    const parts = known.map(
      (history) => new Map(history!.at_ms.map((ms, nth) => [ms, history!.columns[name]?.[nth]])),
    )
    return at_ms.map((ms) => sumOf(parts.map((part) => part.get(ms) ?? null)))
  }
  const steps = at_ms.map((ms) =>
    points.find(({ start_at, end_at }) => Date.parse(start_at) <= ms && ms < Date.parse(end_at)),
  )
  const forecast = (name: 'p10_kw' | 'p50_kw' | 'p90_kw') =>
    steps.map((point) => point?.[name] ?? null)
  const [power, available] = [total('ac_power_kw'), total('available_power_kw')]
  const lines: Line[] = [{ label: 'Power', unit: 'kW', values: power, color: 'blue', fill: true }]
  // Without a limit, inverters report their own power as available.
  if (isLimited(power, available)) {
    lines.unshift({ label: 'Available', unit: 'kW', color: 'green', dash: true, values: available })
  }
  if (points.length === 0) return { at_ms, lines }
  const first = lines.length
  const style = { unit: 'kW', color: 'orange', stepped: true } as const
  lines.push(
    { label: 'Forecast P90', ...style, dash: true, values: forecast('p90_kw') },
    { label: 'Forecast P50', ...style, values: forecast('p50_kw') },
    { label: 'Forecast P10', ...style, dash: true, values: forecast('p10_kw') },
  )
  return { at_ms, lines, band: [first, first + 2] as const }
}

const limited_kw_min = 0.5

const isLimited = (
  power: readonly (number | null)[],
  available: readonly (number | null)[],
): boolean =>
  power.some((kw, nth) => {
    const available_kw = available[nth] ?? null
    return kw !== null && available_kw !== null && available_kw - kw > limited_kw_min + 0.02 * kw
  })

/** Null when any part is null. */
const sumOf = (parts: readonly (number | null)[]) =>
  parts.length === 0 || parts.includes(null)
    ? null
    : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)
