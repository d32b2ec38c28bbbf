/** Conversion between table rows and records of the API. */

/** The row type of a record: `_at` fields are dates. */
export type Stored<Of> = {
  [Name in keyof Of]: Name extends `${string}_at` ? Date | Extract<Of[Name], null> : Of[Name]
}

/** The record of a row: the named fields, with dates as ISO text. */
export function served(names: readonly string[], row: object): Record<string, unknown> {
  const values = row as Record<string, unknown>
  return Object.fromEntries(
    names.map((name) => {
      const value = values[name]
      return [name, value instanceof Date ? value.toISOString() : value]
    }),
  )
}
