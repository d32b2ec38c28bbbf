/** Bars, lines and bands with ECharts, loaded only by pages that need it. */
import { useComputedColorScheme } from '@mantine/core'
import { BarChart, type BarSeriesOption, LineChart, type LineSeriesOption } from 'echarts/charts'
import {
  GridComponent,
  type GridComponentOption,
  LegendComponent,
  type LegendComponentOption,
  MarkLineComponent,
  TooltipComponent,
  type TooltipComponentOption,
} from 'echarts/components'
import { type ComposeOption, type ECharts, type EChartsCoreOption, init, use } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'

use([
  BarChart,
  LineChart,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  CanvasRenderer,
])

export type ChartOption = ComposeOption<
  | BarSeriesOption
  | LineSeriesOption
  | GridComponentOption
  | LegendComponentOption
  | TooltipComponentOption
>

export interface EChartProps {
  title: string
  option: ChartOption | EChartsCoreOption
  height?: number
  /** Called with the x value of a click on the first grid. */
  onPick?: (x: number) => void
}

export const palette = {
  light: ['#1864ab', '#d9480f', '#2b8a3e', '#5f3dc4', '#0b7285', '#a61e4d', '#5c940d', '#495057'],
  dark: ['#74c0fc', '#ffa94d', '#8ce99a', '#b197fc', '#66d9e8', '#faa2c1', '#c0eb75', '#adb5bd'],
} as const

export default function EChart({ title, option, height = 280, onPick }: EChartProps) {
  const picked = useRef(onPick)
  picked.current = onPick
  const target = useRef<HTMLDivElement>(null)
  const chart = useRef<ECharts | null>(null)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    const element = target.current
    if (!element) return
    const made = init(element, null, { renderer: 'canvas' })
    chart.current = made
    made.getZr().on('click', ({ offsetX, offsetY }) => {
      const at = picked.current && made.convertFromPixel({ gridIndex: 0 }, [offsetX, offsetY])
      if (Array.isArray(at) && typeof at[0] === 'number') picked.current?.(at[0])
    })
    const observer = new ResizeObserver(() => made.resize())
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.dispose()
    }
  }, [])
  useEffect(() => {
    chart.current?.setOption(themed(option, scheme), { notMerge: true })
  }, [option, scheme])
  return <div ref={target} role="img" aria-label={title} style={{ height, width: '100%' }} />
}

/** Tooltips are drawn on the canvas: the content security policy forbids inline styles. */
function themed(given: EChartProps['option'], scheme: 'light' | 'dark') {
  const option = given as Record<string, object | undefined>
  const is_dark = scheme === 'dark'
  const text = is_dark ? '#c9c9c9' : '#495057'
  const line = is_dark ? '#424242' : '#dee2e6'
  const axis = {
    axisLabel: { color: text },
    axisLine: { lineStyle: { color: line } },
    splitLine: { lineStyle: { color: line } },
    nameTextStyle: { color: text },
  }
  const themedAxis = (given: object) => {
    const label = 'axisLabel' in given ? (given.axisLabel as object) : {}
    return { ...axis, ...given, axisLabel: { ...axis.axisLabel, ...label } }
  }
  const axes = (given: object = {}) =>
    Array.isArray(given) ? given.map(themedAxis) : themedAxis(given)
  return {
    animation: false,
    color: [...palette[scheme]],
    grid: { left: 8, right: 12, top: 52, bottom: 8, containLabel: true },
    ...option,
    legend: { type: 'scroll', top: 0, textStyle: { color: text }, ...option.legend },
    tooltip: {
      trigger: 'axis',
      renderMode: 'richText',
      confine: true,
      backgroundColor: is_dark ? '#2e2e2e' : '#ffffff',
      borderColor: line,
      textStyle: { color: is_dark ? '#f1f3f5' : '#212529', fontSize: 12 },
      ...option.tooltip,
    },
    xAxis: axes(option.xAxis),
    yAxis: axes(option.yAxis),
  } as EChartsCoreOption
}
