/** Columns over categories, as an option for `Chart`. */
import type { ChartOption } from './echart.tsx'
import { formatNumber } from './format.ts'

export interface Columns {
  name: string
  values: readonly (number | null)[]
  /** Columns of one stack stand upon each other. */
  stack?: string
  as?: 'bar' | 'line' | 'steps'
  color?: string
  /** On the right axis. */
  is_second?: true
}

export interface ColumnsOrder {
  categories: readonly string[]
  columns: readonly Columns[]
  unit: string
  second_unit?: string
  digits?: number
}

export function columnsOption(order: ColumnsOrder): ChartOption {
  const { categories, columns, unit, second_unit, digits = 1 } = order
  const units = second_unit === undefined ? [unit] : [unit, second_unit]
  return {
    xAxis: { type: 'category', data: [...categories] },
    yAxis: units.map((name, nth) => ({
      ...{ type: 'value', name, nameLocation: 'end' },
      ...(nth > 0 && { splitLine: { show: false } }),
    })) as never,
    series: columns.map(({ name, values, stack, as = 'bar', color, is_second }) => ({
      ...{ name, data: [...values], stack, barMaxWidth: 46 },
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
