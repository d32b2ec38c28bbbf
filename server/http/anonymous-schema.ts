import type { TSchema } from 'typebox'

/**
 * A copy of a schema without `$id`, at all levels. Ours name components of the reference; a
 * validator would resolve them as URIs and reject duplicates.
 */
export function anonymous(schema: TSchema): TSchema {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name === '$id' ? undefined : value)),
  ) as TSchema
}
