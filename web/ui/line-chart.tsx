/** Time series with uPlot, for hundreds of thousands of points, in the time of the site. */
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatNumber } from './format.ts'
import { asLocal, type Span } from './site-clock.ts'

export interface Line {
  label: string
  unit: string
  /** One value for each instant; null breaks the line. */
  values: readonly (number | null)[]
  color: LineColor
  dash?: true
  fill?: true
  /** Each value holds until the next instant. */
  stepped?: true
  digits?: number
}

export type LineColor = 'blue' | 'orange' | 'green' | 'red' | 'violet' | 'gray'

const colors: Record<LineColor, { light: string; dark: string }> = {
  blue: { light: '#1864ab', dark: '#74c0fc' },
  orange: { light: '#d9480f', dark: '#ffa94d' },
  green: { light: '#2b8a3e', dark: '#8ce99a' },
  red: { light: '#c92a2a', dark: '#ffa8a8' },
  violet: { light: '#5f3dc4', dark: '#b197fc' },
  gray: { light: '#495057', dark: '#adb5bd' },
}

export interface LineChartProps {
  title: string
  /** Instants in ascending order, in ms. */
  at_ms: readonly number[]
  lines: readonly Line[]
  timezone: string
  height?: number
  /** Indexes of two lines; the area between them is shaded. */
  band?: readonly [upper: number, lower: number]
  /** Called with the part that a person selects with the mouse. */
  onZoom?: (part: Span) => void
}

/** Lines of one unit share an axis; the first unit uses the left axis. */
export function LineChart(props: LineChartProps) {
  const { title, at_ms, lines, timezone, height = 260, band, onZoom } = props
  const zoomed = useRef(onZoom)
  zoomed.current = onZoom
  const may_zoom = onZoom !== undefined
  const { ref, width: observed } = useElementSize()
  const target = useRef<HTMLDivElement>(null)
  const [first_width, setFirstWidth] = useState(0)
  // The observer reports one frame later.
  useLayoutEffect(() => setFirstWidth(target.current?.clientWidth ?? 0), [])
  const width = Math.round(observed) || first_width
  const chart = useRef<uPlot | null>(null)
  const shown = useRef<readonly Line[] | null>(null)
  const scheme = useComputedColorScheme('light')
  const shape = JSON.stringify([lines.map(({ values: _, ...line }) => line), band])
  // biome-ignore lint/correctness/useExhaustiveDependencies: values alone are set below, far faster
  useEffect(() => {
    if (!target.current || width === 0) return
    const onSelect = may_zoom ? (part: Span) => zoomed.current?.(part) : undefined
    const options = optionsOf({ lines, timezone, scheme, width, height, band, onSelect })
    chart.current = new uPlot(options, dataOf(at_ms, lines), target.current)
    shown.current = lines
    return () => {
      chart.current?.destroy()
      chart.current = null
    }
  }, [shape, timezone, scheme, width, height, may_zoom])
  useEffect(() => {
    // A new chart has the values already.
    if (shown.current === lines) return
    shown.current = lines
    chart.current?.setData(dataOf(at_ms, lines))
  }, [at_ms, lines])
  return (
    <div ref={ref}>
      <div ref={target} role="img" aria-label={title} style={{ minHeight: height }} />
    </div>
  )
}

const dataOf = (at_ms: readonly number[], lines: readonly Line[]): uPlot.AlignedData => [
  at_ms.map((ms) => ms / 1000),
  ...lines.map(({ values }) => values as (number | null)[]),
]

/** Tick labels by tick distance, s; a second line names a new day. */
const clockTicks: uPlot.Axis.Values = [
  [86_400, '{D} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
]

interface Drawn {
  lines: readonly Line[]
  timezone: string
  scheme: 'light' | 'dark'
  width: number
  height: number
  band?: LineChartProps['band']
  onSelect: LineChartProps['onZoom']
}

function optionsOf(drawn: Drawn): uPlot.Options {
  const { lines, timezone, scheme, width, height, band, onSelect } = drawn
  const units = [...new Set(lines.map(({ unit }) => unit))]
  const text = scheme === 'dark' ? '#c9c9c9' : '#495057'
  const grid = { stroke: scheme === 'dark' ? '#424242' : '#e9ecef', width: 1 }
  const axis = { stroke: text, grid, ticks: grid }
  return {
    width,
    height,
    tzDate: (s) => asLocal(s * 1000, timezone),
    cursor: { sync: { key: 'time' }, ...(onSelect && { drag: { x: true, setScale: false } }) },
    ...(onSelect && { hooks: { setSelect: [(chart) => select(chart, onSelect)] } }),
    legend: { live: true },
    scales: { x: { time: true } },
    ...(band && {
      bands: [
        {
          series: [band[0] + 1, band[1] + 1] as [number, number],
          fill: `${colors[lines[band[0]]!.color][scheme]}26`,
        },
      ],
    }),
    axes: [
      { ...axis, values: clockTicks },
      ...units.map((unit, nth) => ({
        ...axis,
        scale: unit,
        label: unit,
        labelSize: 18,
        size: 62,
        side: nth === 0 ? 3 : 1,
        grid: nth === 0 ? grid : { show: false },
      })),
    ],
    series: [
      { value: '{D} {MMM} {YYYY}, {HH}:{mm}:{ss}' },
      ...lines.map(({ label, unit, color, dash, fill, stepped, digits }) => ({
        label,
        scale: unit,
        stroke: colors[color][scheme],
        width: 1.5,
        ...(dash && { dash: [6, 4] }),
        ...(fill && { fill: `${colors[color][scheme]}26` }),
        ...(stepped && { paths: uPlot.paths.stepped!({ align: 1 }) }),
        points: { show: false },
        spanGaps: false,
        value: (_: uPlot, value: number | null) =>
          value === null ? '–' : `${formatNumber(value, digits ?? 1)} ${unit}`,
      })),
    ],
  }
}

const selected_px_min = 8

function select(chart: uPlot, onSelect: (part: Span) => void): void {
  const { left, width } = chart.select
  if (width < selected_px_min) return
  const at = (px: number) => chart.posToVal(px, 'x') * 1000
  onSelect({ start_ms: at(left), end_ms: at(left + width) })
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
}
