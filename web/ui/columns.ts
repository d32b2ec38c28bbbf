import type { ChartOption } from './echart.tsx'
import { formatNumber } from './format.ts'

interface Columns {
  name: string
  values: readonly (number | null)[]
  /** Columns with the same stack are stacked. */
  stack?: string
  as?: 'bar' | 'line' | 'steps'
  color?: string
  /** On the right axis. */
  is_second?: true
}

interface ColumnsOrder {
  categories: readonly string[]
  columns: readonly Columns[]
  unit: string
  second_unit?: string
  digits?: number
}

interface Ends {
  min: number
  max: number
}

/** Ends of two axes that put 0 at the same height on both. */
export function endsOf(columns: readonly Columns[]): Ends[] {
  const ranges = [false, true].map((is_second) => {
    const values = columns
      .filter((one) => (one.is_second ?? false) === is_second)
      .flatMap((one) => one.values.filter((value) => value !== null))
    return { min: Math.min(0, ...values), max: Math.max(0, ...values) }
  })
  const shareBelow = ({ min, max }: Ends) => (max - min === 0 ? 0 : -min / (max - min))
  const below = Math.max(...ranges.map(shareBelow))
  return ranges.map(({ min, max }) => {
    // Columns that are all 0 still get an axis with a height.
    const height = Math.max(max / (1 - Math.min(below, 0.95)), below === 0 ? 0 : -min / below) || 1
    return { min: nice(-height * below), max: nice(height * (1 - below)) }
  })
}

const nice = (value: number) => Number(value.toPrecision(3))

export function columnsOption(order: ColumnsOrder): ChartOption {
  const { categories, columns, unit, second_unit, digits = 1 } = order
  const units = second_unit === undefined ? [unit] : [unit, second_unit]
  const ends = units.length === 1 ? [] : endsOf(columns)
  return {
    xAxis: { type: 'category', data: [...categories] },
    yAxis: units.map((name, nth) => ({
      type: 'value',
      name,
      nameLocation: 'end',
      ...(nth > 0 && { splitLine: { show: false } }),
      ...ends[nth],
    })) as never,
    series: columns.map(({ name, values, stack, as = 'bar', color, is_second }) => ({
      name,
      data: [...values],
      stack,
      barMaxWidth: 46,
      type: as === 'bar' ? ('bar' as const) : ('line' as const),
      ...(as === 'steps' && { step: 'middle' as const }),
      ...(as !== 'bar' && { symbol: 'none', lineStyle: { width: 2, type: 'dashed' as const } }),
      ...(color && { itemStyle: { color } }),
      ...(is_second && { yAxisIndex: 1 }),
      tooltip: {
        valueFormatter: (value: unknown) =>
          `${formatNumber(typeof value === 'number' ? value : null, digits)} ${
            is_second ? second_unit : unit
          }`,
      },
    })) as never,
  }
}
