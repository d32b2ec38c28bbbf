/** Columns of numbers, in money too. */
import type { Column, Section } from '../document.ts'

export const numberColumn = (
  key: string,
  label: string,
  digits: number,
  unit?: string,
): Column => ({
  key,
  label,
  digits,
  kind: 'number',
  ...(unit ? { unit } : {}),
})

/** For a reader who may not read some columns of a table. */
export const withoutColumns = (section: Section, keys: readonly string[]): Section =>
  section.kind === 'table'
    ? { ...section, columns: section.columns.filter(({ key }) => !keys.includes(key)) }
    : section

/** The unit of a price; none where the currency is not known. */
export const perMwh = (currency: string | null) =>
  currency === null ? undefined : `${currency}/MWh`
