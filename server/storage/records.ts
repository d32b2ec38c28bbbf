/** Conversion between table rows and records of the API. */
import type { Static, TObject } from 'typebox'

/** The row type of a record: `_at` fields are dates. */
export type Stored<Of> = {
  [Name in keyof Of]: Name extends `${string}_at` ? Date | Extract<Of[Name], null> : Of[Name]
}

/** The row type of an object: null where it may lack a field. */
export type Row<Of> = {
  [Name in keyof Of]-?: Of[Name] | (undefined extends Of[Name] ? null : never)
}

/** The record of a row: the fields of the schema, with dates as ISO text. */
export function served<Of extends TObject>({ properties }: Of, row: object): Static<Of> {
  const values = row as Record<string, unknown>
  const entries = Object.keys(properties).map((name) => {
    const value = values[name]
    return [name, value instanceof Date ? value.toISOString() : value]
  })
  return Object.fromEntries(entries) as Static<Of>
}
