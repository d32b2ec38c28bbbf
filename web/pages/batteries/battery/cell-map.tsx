import type { ClusterCells } from '@heliograph/sdk'
import { useComputedColorScheme } from '@mantine/core'
import { HeatmapChart } from 'echarts/charts'
import { VisualMapComponent } from 'echarts/components'
import { type EChartsCoreOption, use } from 'echarts/core'
import EChart from '../../../ui/echart.tsx'
import { formatNumber } from '../../../ui/format.ts'

use([HeatmapChart, VisualMapComponent])

const kinds = {
  // Narrower spans get one colour: they are within the error of the meter.
  voltage: { unit: 'mV', digits: 0, span_min: 20 },
  temperature: { unit: '°C', digits: 1, span_min: 4 },
}

// Viridis: readable for colour-blind people, and in grey.
const colors = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725']

interface CellMapProps {
  cells: ClusterCells
  kind: 'voltage' | 'temperature'
}

export default function CellMap({ cells, kind }: CellMapProps) {
  const scheme = useComputedColorScheme('light')
  const per_module =
    kind === 'voltage' ? cells.cells_per_module : cells.temperature_sensors_per_module
  const values = kind === 'voltage' ? cells.cell_voltages_mv : cells.cell_temperatures_c
  const known = values.filter((value) => value !== null)
  const places = `${known.length} of ${values.length} places`
  const title = `${kind} of ${places} in cluster ${cells.cluster_idx}`
  if (known.length === 0 || per_module === 0) return <p>No cell measurements</p>
  const option = optionOf({ values, known, per_module, kind, scheme })
  return <EChart title={title} option={option} height={80 + cells.modules.length * 30} />
}

interface Mapped {
  values: readonly (number | null)[]
  known: readonly number[]
  per_module: number
  kind: 'voltage' | 'temperature'
  scheme: 'light' | 'dark'
}

function optionOf({ values, known, per_module, kind, scheme }: Mapped): EChartsCoreOption {
  const { unit, digits, span_min } = kinds[kind]
  const text = scheme === 'dark' ? '#c9c9c9' : '#495057'
  const middle = (Math.min(...known) + Math.max(...known)) / 2
  const half = Math.max(span_min, Math.max(...known) - Math.min(...known)) / 2
  const points = values.map((value, index) => [
    index % per_module,
    Math.floor(index / per_module),
    value ?? '-',
  ])
  const modules = Math.ceil(values.length / per_module)
  const category = (count: number) => Array.from({ length: count }, (_, nth) => String(nth))
  const axis = { type: 'category', axisTick: { show: false }, axisLine: {} }
  return {
    grid: { left: 44, right: 8, top: 8, bottom: 62 },
    tooltip: {
      trigger: 'item',
      formatter: ({ value: [cell, module, value] }: { value: [number, number, number | '-'] }) =>
        `module ${module}, ${kind === 'voltage' ? 'cell' : 'sensor'} ${cell}\n` +
        (value === '-' ? 'not measured' : `${formatNumber(value, digits)} ${unit}`),
    },
    xAxis: { ...axis, data: category(per_module) },
    yAxis: { ...axis, data: category(modules), inverse: true },
    visualMap: {
      min: middle - half,
      max: middle + half,
      calculable: false,
      orient: 'horizontal',
      left: 'center',
      bottom: 0,
      itemHeight: 160,
      textStyle: { color: text },
      text: [`${formatNumber(middle + half, digits)} ${unit}`, formatNumber(middle - half, digits)],
      inRange: { color: colors },
    },
    series: [
      {
        type: 'heatmap',
        data: points,
        progressive: 0,
        itemStyle: { borderWidth: 1, borderColor: scheme === 'dark' ? '#242424' : '#ffffff' },
      },
    ],
  }
}
