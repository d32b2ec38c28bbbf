/** Charts as SVG in points, drawn by ECharts without a browser. */
import { BarChart, HeatmapChart, LineChart } from 'echarts/charts'
import { GridComponent, LegendComponent, VisualMapComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import type { Chart, HeatGrades } from '../document.ts'
import { areDays, dayName, decimalsOf, digitsOf, numberText } from './cells.ts'
import {
  gradeLooks,
  hairline,
  ink,
  muted,
  no_value,
  rule,
  scaleColours,
  seriesColours,
} from './palette.ts'
import { fitted, oneLine, widthOf } from './typeface.ts'

use([BarChart, LineChart, HeatmapChart, GridComponent, LegendComponent, VisualMapComponent])
use([SVGRenderer])

type SeriesChart = Exclude<Chart, { kind: 'heat' }>
export type HeatChart = Extract<Chart, { kind: 'heat' }>

const size_pt = 8
const text = { fontFamily: 'Roboto', fontSize: size_pt, color: muted }
const label_width_pt = 110
/** Wide, because names of rows often differ only at their ends. */
const row_width_pt = 170
/** Space between labels of an axis. */
const apart_pt = 4.5
/** Width of the numbers beside an axis. */
const axis_pt = 45
const swatch_pt = 14
const legend_gap_pt = 9
const legend_row_pt = 18
const heat_row_pt = { least: 9, most: 16, in_all: 430 }

export const hasValues = (chart: Chart): boolean =>
  (chart.kind === 'heat' ? chart.values : chart.series.map(({ values }) => values)).some((row) =>
    row.some(isValue),
  )

interface Drawing {
  width_pt: number
  /** Ignored for heat maps, whose height follows from their rows. */
  plot_height_pt: number
  /** The complete heat map, if the chart is a part of it; its values define the colour scale. */
  scaled?: Chart
}

export function drawChart(
  chart: Chart,
  { width_pt, plot_height_pt, scaled = chart }: Drawing,
): string {
  if (chart.kind !== 'heat') return drawSeries(chart, { width_pt, plot_height_pt })
  const values = scaled.kind === 'heat' ? scaled.values : []
  return drawHeat(chart, width_pt, rangeOf(values.flat().filter(isValue)))
}

function drawn(option: object, width_pt: number, height_pt: number): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: width_pt, height: height_pt })
  try {
    chart.setOption({ animation: false, textStyle: text, ...option })
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}

function drawSeries(
  chart: SeriesChart,
  { width_pt, plot_height_pt }: Omit<Drawing, 'scaled'>,
): string {
  const names = chart.series.map(({ label }) => labelText(label))
  const legend_pt = legendRows(names, width_pt) * legend_row_pt
  const { labels, caption } = categories(chart.x)
  const has_right = chart.series.some(({ axis }) => axis === 'right')
  const series = chart.series.map((one, index) => seriesOption(chart, one, index))
  const foot_pt = caption ? 14 : 0
  const option = {
    legend: {
      type: 'plain',
      top: 0,
      left: 0,
      itemWidth: swatch_pt,
      itemHeight: 7,
      itemGap: legend_gap_pt,
      textStyle: { ...text, color: ink },
      // Series are identified by index, as their names may be equal.
      data: names.map((_, index) => ({ name: String(index), ...legendIcon(chart, index) })),
      formatter: (index: string) => names[Number(index)] ?? '',
    },
    grid: { left: 4, right: has_right ? 4 : 8, top: legend_pt + 22, bottom: foot_pt + 2 },
    xAxis: {
      ...categoryAxis(labels, caption, width_pt - axis_pt),
      boundaryGap: series.some(({ type }) => type === 'bar'),
    },
    yAxis: [
      { ...valueAxis(chart.left_unit, 'left'), ...limitsOf(chart) },
      ...(has_right ? [valueAxis(chart.right_unit ?? '', 'right')] : []),
    ],
    series,
  }
  return drawn(option, width_pt, plot_height_pt + legend_pt + foot_pt)
}

function seriesOption(chart: SeriesChart, one: SeriesChart['series'][number], index: number) {
  const type = (one.kind ?? (chart.kind === 'bars' ? 'bar' : 'line')) as 'bar' | 'line'
  const color = seriesColours[index % seriesColours.length]
  // When colours repeat, lines differ by their dashes.
  const dash = (['solid', 'dashed', 'dotted'] as const)[
    Math.floor(index / seriesColours.length) % 3
  ]
  return {
    name: String(index),
    type,
    yAxisIndex: one.axis === 'right' ? 1 : 0,
    data: one.values.map((value) => (isValue(value) ? value : null)),
    ...(chart.stacked && type === 'bar' ? { stack: one.axis ?? 'left' } : {}),
    itemStyle: { color },
    lineStyle: { color, width: 1.4, type: dash },
    // A value between unknown ones has no line, so it gets a dot.
    showSymbol: type === 'line',
    symbol: 'circle',
    symbolSize: (_: unknown, { dataIndex }: { dataIndex: number }) =>
      isAlone(one.values, dataIndex) ? 3 : 0,
    barMaxWidth: 22,
    barCategoryGap: '30%',
    connectNulls: false,
  }
}

const isValue = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value)

const isAlone = (values: readonly (number | null)[], index: number): boolean =>
  isValue(values[index]) && !isValue(values[index - 1]) && !isValue(values[index + 1])

function legendIcon(chart: SeriesChart, index: number) {
  const kind = chart.series[index]?.kind ?? (chart.kind === 'bars' ? 'bar' : 'line')
  return kind === 'bar' ? { icon: 'rect' } : {}
}

const labelText = (label: string, width_pt = label_width_pt): string =>
  fitted(oneLine(label), width_pt, { size_pt })

function legendRows(names: readonly string[], width_pt: number): number {
  let rows = 1
  let used_pt = 0
  for (const name of names) {
    const entry_pt = swatch_pt + 5 + widthOf(name, { size_pt }) * 1.08 + legend_gap_pt
    if (used_pt > 0 && used_pt + entry_pt > width_pt) {
      rows += 1
      used_pt = 0
    }
    used_pt += entry_pt
  }
  return rows
}

const categoryAxis = (labels: readonly string[], caption: string, axis_width_pt: number) => ({
  type: 'category',
  data: labels,
  name: caption,
  nameLocation: 'middle',
  nameGap: 18,
  nameTextStyle: text,
  axisLine: { lineStyle: { color: rule } },
  axisTick: { show: false },
  axisLabel: { ...text, interval: skippedLabels(labels, axis_width_pt) },
})

/** Labels to skip between two that are shown. */
function skippedLabels(labels: readonly string[], axis_width_pt: number): number {
  const widest_pt = labels.reduce((most, label) => Math.max(most, widthOf(label, { size_pt })), 0)
  return Math.ceil(((widest_pt + apart_pt) * labels.length) / axis_width_pt) - 1
}

const valueAxis = (unit: string, position: 'left' | 'right') => ({
  type: 'value',
  position,
  name: labelText(unit),
  nameGap: 9,
  nameTextStyle: { ...text, align: position },
  axisLine: { show: false },
  axisTick: { show: false },
  splitNumber: 4,
  splitLine: position === 'left' ? { lineStyle: { color: hairline } } : { show: false },
  axisLabel: { ...text, formatter: axisNumber },
})

const limitsOf = ({ left_max, is_whole }: SeriesChart) => ({
  ...(left_max === undefined ? {} : { max: left_max }),
  ...(is_whole ? { minInterval: 1 } : {}),
})

const axisNumber = (value: number): string => {
  return numberText(value, Math.abs(value) >= 10 ? 0 : decimalsOf(value, 3))
}

/** Days of one year are shown without it. */
function dayLabels(x: readonly string[]): string[] {
  const years = new Set(x.map((name) => name.slice(0, 4)))
  const style = areDays(x) && years.size === 1 ? 'without_year' : 'with_year'
  return x.map((name) => dayName(name, style))
}

/** Days of one month are shown as 1 to 31, with the month as the caption. */
function categories(x: readonly string[]): { labels: string[]; caption: string } {
  const days = x.map((name) => /^(\d{4}-\d{2})-(\d{2})$/.exec(name))
  const month = days[0]?.[1]
  if (month === undefined || days.some((day) => day?.[1] !== month)) {
    return { labels: dayLabels(x).map((name) => labelText(name)), caption: '' }
  }
  const caption = new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-GB', {
    timeZone: 'UTC',
    month: 'short',
    year: 'numeric',
  })
  return { labels: days.map((day) => String(Number(day?.[2]))), caption }
}

function drawHeat(
  chart: HeatChart,
  width_pt: number,
  [low, high]: [low: number, high: number],
): string {
  const { x, y, unit, grades } = chart
  const cells = (grades?.of ?? chart.values).flatMap((row, at_y) =>
    row.flatMap((value, at_x) => (isValue(value) ? [[at_x, at_y, value]] : [])),
  )
  const { labels, caption } = categories(x)
  const names = y.map((name) => labelText(name, row_width_pt))
  const name_pt = Math.max(...names.map((name) => widthOf(name, { size_pt })), 10)
  const row_pt = Math.max(
    heat_row_pt.least,
    Math.min(heat_row_pt.most, heat_row_pt.in_all / Math.max(y.length, 1)),
  )
  const foot_pt = caption ? 32 : 20
  const head_pt = 26
  const plot_pt = row_pt * y.length
  const option = {
    grid: {
      left: name_pt + 10,
      right: 4,
      top: head_pt,
      height: plot_pt,
      outerBoundsMode: 'none',
      show: true,
      backgroundColor: no_value,
      borderColor: rule,
      borderWidth: 0.5,
    },
    xAxis: {
      ...categoryAxis(labels, caption, width_pt - name_pt - 14),
      axisLine: { show: false },
      splitArea: { show: false },
    },
    yAxis: {
      type: 'category',
      data: names,
      inverse: true,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { ...text, color: ink, interval: 0 },
    },
    visualMap: grades
      ? gradeLegend(grades, name_pt + 6)
      : colourScale([low, high], { left_pt: name_pt + 6, unit }),
    series: [
      {
        type: 'heatmap',
        data: cells,
        itemStyle: { borderColor: '#ffffff', borderWidth: 0.5 },
        progressive: 0,
        ...(grades && { label: gradeSigns }),
      },
    ],
  }
  return drawn(option, width_pt, head_pt + plot_pt + foot_pt)
}

const gradeLegend = ({ labels }: HeatGrades, left_pt: number) => ({
  type: 'piecewise',
  orient: 'horizontal',
  left: left_pt,
  top: 0,
  padding: 2,
  itemWidth: 9,
  itemHeight: 9,
  itemGap: 12,
  itemSymbol: 'rect',
  textStyle: { ...text, color: ink },
  pieces: labels.map((label, grade) => ({ value: grade, label, color: gradeLooks[grade]!.fill })),
})

const gradeSigns = {
  show: true,
  fontFamily: text.fontFamily,
  fontSize: size_pt,
  formatter: ({ value: [, , grade = 0] }: { value: number[] }) =>
    `{g${grade}|${gradeLooks[grade]!.sign}}`,
  rich: Object.fromEntries(
    gradeLooks.map(({ ink: color }, grade) => [
      `g${grade}`,
      { ...text, color, fontWeight: 'bold' },
    ]),
  ),
}

function colourScale(
  [low, high]: [low: number, high: number],
  { left_pt, unit }: { left_pt: number; unit: string },
) {
  const digits = digitsOf([low, high], high - low >= 20 ? 0 : undefined)
  return {
    type: 'continuous',
    orient: 'horizontal',
    left: left_pt,
    top: 0,
    min: low,
    max: high,
    calculable: false,
    itemWidth: 8,
    itemHeight: 140,
    text: [`${numberText(high, digits)} ${labelText(unit)}`, numberText(low, digits)],
    textGap: 6,
    textStyle: { ...text, color: ink },
    inRange: { color: [...scaleColours] },
  }
}

/** Never a single value, for which a scale has no colours. */
function rangeOf(values: readonly number[]): [low: number, high: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (low > high) return [0, 1]
  return low === high ? [Math.min(low, 0), high > 0 ? high : low + 1] : [low, high]
}
