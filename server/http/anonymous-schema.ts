import type { TSchema } from 'typebox'

/**
 * A schema without the names (`$id`) of itself and its parts. They name components of the
 * reference; a validator would take them for addresses, and refuse one that stands twice.
 */
export function anonymous(schema: TSchema): TSchema {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name === '$id' ? undefined : value)),
  ) as TSchema
}
