/** The day of a plan: power by quarter hour with its allowed range, state of charge and prices. */
import type { BessSchedule, ScheduleHour } from '@heliograph/sdk'
import { useComputedColorScheme } from '@mantine/core'
import { CustomChart } from 'echarts/charts'
import { type EChartsCoreOption, use } from 'echarts/core'
import { useMemo } from 'react'
import { useSite } from '../../../queries.ts'
import EChart from '../../../ui/echart.tsx'
import { formatMoney, formatNumber, formatPower, formatTime } from '../../../ui/format.ts'
import { Muted, useNow } from '../../../ui/page.tsx'
import { lastsAt } from '../../../ui/site-clock.ts'
import { powerWords } from '../battery/words.ts'

use([CustomChart])

interface DayChartProps {
  schedule: BessSchedule
  onPick: (at_ms: number) => void
}

export default function DayChart({ schedule, onPick }: DayChartProps) {
  const { timezone } = useSite()
  const scheme = useComputedColorScheme('light')
  const now_ms = useNow(60_000)
  const option = useMemo(
    () => optionOf({ schedule, timezone, scheme, now_ms }),
    [schedule, timezone, scheme, now_ms],
  )
  return (
    <div>
      <EChart
        title="Power, state of charge and price by the hour; the table below has the same values"
        option={option}
        height={420}
        onPick={onPick}
      />
      <Muted>
        Positive values discharge, negative values charge.
        {schedule.status === 'proposed' &&
          ' The pale area is the allowed range of an hour while the other hours stay unchanged.'}
      </Muted>
    </div>
  )
}

interface Drawn {
  schedule: BessSchedule
  timezone: string
  scheme: 'light' | 'dark'
  now_ms: number
}

const colors = {
  light: { band: '#74c0fc', out: '#2b8a3e', in: '#1864ab', soc: '#5f3dc4', price: '#d9480f' },
  dark: { band: '#4dabf7', out: '#8ce99a', in: '#74c0fc', soc: '#b197fc', price: '#ffa94d' },
}

const quarter_ms = 900_000

type Box = [start_ms: number, end_ms: number, from: number, to: number]

function optionOf({ schedule, timezone, scheme, now_ms }: Drawn): EChartsCoreOption {
  const { hours, totals } = schedule
  const color = colors[scheme]
  const text = scheme === 'dark' ? '#c9c9c9' : '#495057'
  const line = scheme === 'dark' ? '#424242' : '#dee2e6'
  const start_ms = Date.parse(hours[0]?.start_at ?? '')
  const time = {
    type: 'time',
    min: start_ms,
    max: start_ms + 96 * quarter_ms,
    axisLine: { onZero: false, lineStyle: { color: line } },
    splitLine: { show: true, lineStyle: { color: line } },
    axisPointer: { show: true, label: { show: false } },
  }
  const label = {
    hideOverlap: true,
    formatter: (ms: number) => formatTime(new Date(ms).toISOString(), timezone, 'time'),
  }
  const value = { type: 'value' }
  return {
    legend: { inactiveColor: line },
    grid: [
      { left: 52, right: 46, top: 58, height: 208 },
      { left: 52, right: 46, top: 304, height: 78 },
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }] },
    tooltip: {
      formatter: (found: { axisValue: number }[]) =>
        tooltipOf(schedule, found[0]?.axisValue ?? 0, timezone),
    },
    xAxis: [
      { ...time, axisLabel: { show: false } },
      { ...time, gridIndex: 1, axisLabel: label },
    ],
    yAxis: [
      { ...value, name: 'kW' },
      { ...value, name: '% charge', min: 0, max: 100, splitLine: { show: false } },
      { ...value, name: `${totals.currency}/MWh`, gridIndex: 1, scale: true, splitNumber: 2 },
    ],
    series: seriesOf(schedule, color, text, now_ms),
  }
}

function seriesOf(
  { hours, status }: BessSchedule,
  color: (typeof colors)['light'],
  text: string,
  now_ms: number,
) {
  const powers = hours.flatMap(powerBoxes)
  const actual = hours.flatMap(({ start_at, end_at, actual_power_kw }) => [
    [Date.parse(start_at), actual_power_kw],
    [Date.parse(end_at), actual_power_kw],
  ])
  const now = {
    silent: true,
    symbol: 'none',
    label: { show: false },
    lineStyle: { color: text, type: 'solid', width: 1.5 },
    data: [{ xAxis: now_ms }],
  }
  return [
    ...(status === 'proposed'
      ? [
          {
            ...boxes('Allowed range', hours.filter(isOpen).map(bandBox)),
            itemStyle: { color: color.band, opacity: 0.3 },
          },
        ]
      : []),
    {
      ...boxes(
        'Discharge',
        powers.filter(([, , , kw]) => kw > 0),
      ),
      itemStyle: { color: color.out },
    },
    {
      ...boxes(
        'Charge',
        powers.filter(([, , , kw]) => kw < 0),
      ),
      itemStyle: { color: color.in },
      markLine: now,
    },
    ...(hours.some(({ actual_power_kw }) => actual_power_kw !== null)
      ? [{ ...lines('Actual', actual), itemStyle: { color: text }, lineStyle: { type: 'dotted' } }]
      : []),
    {
      ...lines('State of charge', socPoints(hours)),
      yAxisIndex: 1,
      itemStyle: { color: color.soc },
    },
    {
      ...lines('Price', hours.flatMap(pricePoints)),
      xAxisIndex: 1,
      yAxisIndex: 2,
      step: 'end',
      itemStyle: { color: color.price },
    },
  ]
}

const lines = (name: string, data: readonly (number | null)[][]) => ({
  name,
  type: 'line',
  data,
  showSymbol: false,
  connectNulls: false,
  lineStyle: { width: 2 },
})

interface Api {
  value(dimension: number): number
  coord(point: [number, number]): [number, number]
  style(): object
}

/** Rectangles between two instants and two values. */
const boxes = (name: string, data: readonly Box[]) => ({
  name,
  type: 'custom',
  data,
  encode: { x: [0, 1], y: [2, 3] },
  renderItem: (_: unknown, api: Api) => {
    const [left, top] = api.coord([api.value(0), Math.max(api.value(2), api.value(3))])
    const [right, bottom] = api.coord([api.value(1), Math.min(api.value(2), api.value(3))])
    const shape = { x: left, y: top, width: right - left, height: Math.max(1, bottom - top) }
    return { type: 'rect', shape, style: api.style() }
  },
})

const isOpen = ({ locked, min_power_kw, max_power_kw }: ScheduleHour) =>
  !locked && max_power_kw - min_power_kw >= 0.002

const bandBox = ({ start_at, end_at, min_power_kw, max_power_kw }: ScheduleHour): Box => [
  Date.parse(start_at),
  Date.parse(end_at),
  min_power_kw,
  max_power_kw,
]

function powerBoxes({ start_at, end_at, power_kw, quarter_power_kw }: ScheduleHour): Box[] {
  const from_ms = Date.parse(start_at)
  if (!quarter_power_kw) return [[from_ms, Date.parse(end_at), 0, power_kw]]
  return quarter_power_kw.map((kw, nth) => {
    const at_ms = from_ms + nth * quarter_ms
    return [at_ms, at_ms + quarter_ms, 0, kw ?? 0]
  })
}

const socPoints = (hours: readonly ScheduleHour[]) => [
  ...hours.map(({ start_at, soc_start_pct }) => [Date.parse(start_at), soc_start_pct]),
  ...hours.slice(-1).map(({ end_at, soc_end_pct }) => [Date.parse(end_at), soc_end_pct]),
]

function pricePoints(hour: ScheduleHour): (number | null)[][] {
  const from_ms = Date.parse(hour.start_at)
  const prices = hour.quarter_price_per_mwh ?? [hour.price_per_mwh]
  const points = prices.map((price, nth) => [from_ms + nth * quarter_ms, price])
  return [...points, [Date.parse(hour.end_at) - 1, prices.at(-1) ?? null]]
}

function tooltipOf(
  { hours, status, totals }: BessSchedule,
  at_ms: number,
  timezone: string,
): string {
  const hour = hours.find(lastsAt(at_ms)) ?? hours.at(-1)
  if (!hour) return ''
  const [least, most] = [hour.min_power_kw, hour.max_power_kw].map(formatPower)
  const { start_at, end_at, quarter_power_kw, price_per_mwh, actual_power_kw } = hour
  const [from, to] = [start_at, end_at].map((at) => formatTime(at, timezone, 'time'))
  const quarters = quarter_power_kw?.map((kw) => formatNumber(kw, 0)).join(' · ')
  return [
    `${from}–${to}`,
    `${powerWords(hour.power_kw)}${quarters ? `  (quarters ${quarters} kW)` : ''}`,
    ...(status !== 'proposed' || !isOpen(hour) ? [] : [`allowed range ${least} to ${most}`]),
    ...(actual_power_kw === null ? [] : [`actual: ${powerWords(actual_power_kw)}`]),
    `charge ${formatNumber(hour.soc_start_pct)} → ${formatNumber(hour.soc_end_pct)} %`,
    `price ${formatMoney(price_per_mwh, totals.currency)} per MWh`,
  ].join('\n')
}
