/** Columns of numbers, in money too. */
import type { Column } from '../document.ts'

export const numberColumn = (
  key: string,
  label: string,
  digits: number,
  unit?: string,
): Column => ({
  ...{ key, label, digits },
  kind: 'number',
  ...(unit ? { unit } : {}),
})

/** The unit of a price; none where the currency is not known. */
export const perMwh = (currency: string | null) =>
  currency === null ? undefined : `${currency}/MWh`
