/** Chart option of a median with its P10 to P90 band, and lines to compare it with. */
import type { ChartOption } from './echart.tsx'
import { formatNumber } from './format.ts'

type Values = readonly (number | null)[]

interface BandChart {
  labels: readonly string[]
  p10: Values
  p50: Values
  p90: Values
  /** Lines beside the band, such as measurements. */
  lines: readonly { name: string; values: Values; dashed?: true }[]
  unit: string
  digits?: number
  stepped?: true
  /** For several days: labels end in the time, and the axis shows only midnights. */
  by_day?: true
  /** Index of the present step. */
  now?: number | null
}

const midnight = ' 00:00'

const midnights = {
  interval: (_: number, label: string) => label.endsWith(midnight),
  formatter: (label: string) => label.slice(0, -midnight.length),
  hideOverlap: true,
}

interface Hovered {
  dataIndex: number
}

export function bandOption(chart: BandChart): ChartOption {
  const { labels, p10, p50, p90, lines, unit, digits = 1, stepped, by_day, now = null } = chart
  const line = { type: 'line', symbol: 'none', ...(stepped && { step: 'end' }) }
  const band = { ...line, stack: 'band', stackStrategy: 'all', silent: true }
  const height = p90.map((high, nth) => {
    const low = p10[nth] ?? null
    return high === null || low === null ? null : high - low
  })
  const none = { lineStyle: { opacity: 0 } }
  return {
    legend: {
      data: [
        // There is no expectation when all values are known already.
        ...(p50.some((value) => value !== null)
          ? [{ name: '80 % band', icon: 'roundRect' }, 'Expected']
          : []),
        ...lines.map(({ name }) => name),
      ],
    },
    xAxis: {
      type: 'category',
      data: [...labels],
      boundaryGap: false,
      ...(by_day && { axisLabel: midnights, axisTick: { interval: midnights.interval } }),
    },
    yAxis: { type: 'value', name: unit },
    tooltip: {
      formatter: (hovered: unknown) => {
        const [first] = hovered as Hovered[]
        return first ? tooltipOf(chart, first.dataIndex, digits) : ''
      },
    },
    series: [
      { ...band, ...none, name: 'P10', data: [...p10] },
      {
        ...band,
        ...none,
        name: '80 % band',
        data: height,
        areaStyle: { opacity: 0.25 },
        itemStyle: { color: '#1c7ed6' },
      },
      {
        ...line,
        name: 'Expected',
        data: [...p50],
        itemStyle: { color: '#1c7ed6' },
        lineStyle: { width: 2 },
        ...(now !== null && {
          markLine: {
            symbol: 'none',
            silent: true,
            data: [{ xAxis: now }],
            label: { formatter: 'now', color: '#868e96' },
            lineStyle: { color: '#868e96' },
          },
        }),
      },
      ...lines.map(({ name, values, dashed }, nth) => ({
        ...line,
        name,
        data: [...values],
        itemStyle: { color: nth === 0 ? '#e8590c' : '#868e96' },
        lineStyle: { width: 2, ...(dashed && { type: 'dashed' }) },
      })),
    ] as never,
  }
}

function tooltipOf(chart: BandChart, nth: number, digits: number): string {
  const { labels, p10, p50, p90, lines, unit } = chart
  const number = (values: Values) => formatNumber(values[nth] ?? null, digits)
  return [
    labels[nth] ?? '',
    `Expected ${number(p50)} ${unit} (${number(p10)} to ${number(p90)})`,
    ...lines.map(({ name, values }) => `${name} ${number(values)} ${unit}`),
  ].join('\n')
}
