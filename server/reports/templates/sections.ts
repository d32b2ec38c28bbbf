import type { Cell, Chart, Column, Metric, Section } from '../document.ts'

type Of<Item, Value = Cell> = (item: Item) => Value

/** A column of a table, and its value for an item. */
export interface Field<Item> extends Column {
  of: Of<Item>
}

export const text = <Item>(key: string, label: string, of: Of<Item>): Field<Item> => ({
  key,
  label,
  kind: 'text',
  of,
})

/** A day, YYYY-MM-DD. */
export const day = <Item>(of: Of<Item>): Field<Item> => ({
  key: 'day',
  label: 'Day',
  kind: 'date',
  of,
})

/** `of` gives a date or its RFC 3339 text. */
export const instant = <Item>(
  key: string,
  label: string,
  of: Of<Item, Date | string | null>,
): Field<Item> => ({
  key,
  label,
  kind: 'instant',
  of: (item) => {
    const at = of(item)
    return typeof at === 'string' ? new Date(at) : at
  },
})

/** A column of numbers with a fixed count of decimals. */
export const number = <Item>(
  key: string,
  label: string,
  [digits, unit]: readonly [digits: number, unit?: string | undefined],
  of: Of<Item>,
): Field<Item> => ({ key, label, digits, unit, kind: 'number', of })

export const fieldsOf = <Item, Part>(
  fields: readonly Field<Part>[],
  partOf: (item: Item) => Part,
): Field<Item>[] => fields.map((field) => ({ ...field, of: (item) => field.of(partOf(item)) }))

export const cellsOf = <Item>(fields: readonly Field<Item>[], item: Item): Record<string, Cell> =>
  Object.fromEntries(fields.map(({ key, of }) => [key, of(item)]))

/** `totals` has the cells of the last row; columns without a total are absent. */
export const table = <Item>(
  title: string,
  items: readonly Item[],
  fields: readonly Field<Item>[],
  more: { totals?: Record<string, Cell>; note?: string | undefined } = {},
): Section => ({
  kind: 'table',
  title,
  columns: fields.map(({ of: _, ...column }) => column),
  rows: items.map((item) => cellsOf(fields, item)),
  ...more,
})

/** Note of a table that lists the first items of all. */
export const listed = (count: number, all: readonly unknown[]) =>
  `${Math.min(count, all.length)} of ${all.length}`

export const metricsSection = (title: string, metrics: Metric[]): Section => ({
  kind: 'metrics',
  title,
  metrics,
})

export const metric = (
  label: string,
  value: Cell,
  [digits, unit]: readonly [digits: number, unit?: string | undefined],
  note?: string,
): Metric => ({ label, value, digits, unit, note })

export const textSection = (title: string, body: string): Section => ({
  kind: 'text',
  title,
  text: body,
})

type SeriesChart = Exclude<Chart, { kind: 'heat' }>

/** A chart with a place for each item; `series` are labels with a value per item. */
export const chart = <Item>(
  title: string,
  items: readonly Item[],
  placeOf: (item: Item) => string,
  axes: Omit<SeriesChart, 'x' | 'series'>,
  series: readonly (readonly [
    label: string,
    of: Of<Item, number | null>,
    style?: { kind: 'line'; axis: 'right' },
  ])[],
  note?: string,
): Section => ({
  kind: 'chart',
  title,
  chart: {
    ...axes,
    x: items.map(placeOf),
    series: series.map(([label, of, style]) => ({ label, values: items.map(of), ...style })),
  },
  note,
})

/** Unit of a price; undefined when the currency is unknown. */
export const perMwh = (currency: string | null) =>
  currency === null ? undefined : `${currency}/MWh`
