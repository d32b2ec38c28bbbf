/** Rows of tables as records of the API, and their types. */

/** A record as its table has it: instants are dates. */
export type Stored<Of> = {
  [Name in keyof Of]: Name extends `${string}_at` ? Date | Extract<Of[Name], null> : Of[Name]
}

/** As it is served: these fields, instants as text. */
export function served(names: readonly string[], row: object): Record<string, unknown> {
  const values = row as Record<string, unknown>
  return Object.fromEntries(
    names.map((name) => {
      const value = values[name]
      return [name, value instanceof Date ? value.toISOString() : value]
    }),
  )
}
