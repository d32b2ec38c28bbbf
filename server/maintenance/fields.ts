/** Fields of work orders and defects, as clients may give them. */
import { type TOptional, type TSchema, Type } from 'typebox'
import { id_max, Nullable } from '../http/params.ts'

const linked_max = 200

export const Id = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: id_max, description, examples: [example] })
export const Text = (maxLength: number, example: string, description?: string) =>
  Type.String({ maxLength, ...(description && { description }), examples: [example] })

/**
 * One line with something to see: more than spaces, joiners and marks of direction. Written out, as
 * not every validator of a schema knows the classes of Unicode.
 */
const unseen =
  '\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const visible_line = `^(?=.*[^${unseen}])[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$`

export const Name = (example: string, description?: string) =>
  Type.String({
    ...{ minLength: 1, maxLength: 200, pattern: visible_line },
    ...(description && { description }),
    examples: [example],
  })
export const Amount = (maximum: number, example: number, description?: string) =>
  Type.Number({ minimum: 0, maximum, ...(description && { description }), examples: [example] })
export const Time = (description: string, example: string) =>
  Type.String({ format: 'date-time', description, examples: [example] })
export const Ids = (description: string) =>
  Type.Array(Type.Integer({ minimum: 0, maximum: id_max }), {
    ...{ maxItems: linked_max, uniqueItems: true, description },
  })
export const Title = (example: string) =>
  Type.String({
    ...{ minLength: 1, maxLength: 200, pattern: visible_line },
    description: 'In one line, with something to see.',
    examples: [example],
  })
export const Currency = Type.String({
  pattern: '^[A-Z]{3}$',
  description: 'ISO 4217. Where an amount is given without one, that of the site.',
  examples: ['EUR'],
})
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
  ...{ maxItems: 50, uniqueItems: true },
})

type Fields = Record<string, TSchema>
type NullableFields<Of extends Fields> = {
  [Name in keyof Of]: ReturnType<typeof Nullable<Of[Name]>>
}
type OptionalFields<Of extends Fields> = { [Name in keyof Of]: TOptional<Of[Name]> }

const each = (of: Fields, change: (schema: TSchema) => TSchema) =>
  Object.fromEntries(Object.entries(of).map(([name, schema]) => [name, change(schema)]))

export const nullable = <Of extends Fields>(of: Of) => each(of, Nullable) as NullableFields<Of>
export const optional = <Of extends Fields>(of: Of) => each(of, Type.Optional) as OptionalFields<Of>
