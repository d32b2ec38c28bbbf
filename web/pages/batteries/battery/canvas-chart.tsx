/** An ECharts chart with the parts that the caller registers. Import it lazily: it is large. */
import { useElementSize } from '@mantine/hooks'
import * as echarts from 'echarts/core'
import { useEffect, useRef } from 'react'

interface CanvasChartProps {
  /** For screen readers. */
  title: string
  option: echarts.EChartsCoreOption
  height: number
  /** Called with the x value of a click on the first grid. */
  onPick?: (x: number) => void
}

export function CanvasChart({ title, option, height, onPick }: CanvasChartProps) {
  const { ref, width } = useElementSize()
  const target = useRef<HTMLDivElement>(null)
  const chart = useRef<echarts.ECharts | null>(null)
  const picked = useRef(onPick)
  picked.current = onPick
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new option is set below
  useEffect(() => {
    if (!target.current || width === 0) return
    const made = echarts.init(target.current, null, { renderer: 'canvas', width, height })
    made.setOption(option)
    made.getZr().on('click', ({ offsetX, offsetY }) => {
      const at = made.convertFromPixel({ gridIndex: 0 }, [offsetX, offsetY])
      if (Array.isArray(at) && typeof at[0] === 'number') picked.current?.(at[0])
    })
    chart.current = made
    return () => {
      made.dispose()
      chart.current = null
    }
  }, [width, height])
  useEffect(() => {
    chart.current?.setOption(option, { notMerge: true })
  }, [option])
  return (
    <div ref={ref}>
      <div ref={target} role="img" aria-label={title} style={{ height }} />
    </div>
  )
}
