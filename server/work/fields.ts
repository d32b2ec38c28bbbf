/** Field schemas shared by work orders and defects. */

import { type TOptional, type TSchema, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { id_max, Nullable } from '../http/params.ts'
import { textForms } from '../http/text-forms.ts'

const linked_max = 200

export const Id = (description: string, example: number) =>
  field.Count(description, { maximum: id_max, examples: [example] })
export const Text = (maxLength: number, example: string, description?: string) =>
  Type.String({ maxLength, ...(description && { description }), examples: [example] })

/** A single line with at least one visible character. */
export const Line = (maxLength: number, example?: string, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: textForms.visible_line.pattern,
    ...(description && { description }),
    ...(example && { examples: [example] }),
  })
export const Name = (example: string, description?: string) => Line(200, example, description)
export const Amount = (maximum: number, example: number, description?: string) =>
  Type.Number({ minimum: 0, maximum, ...(description && { description }), examples: [example] })
export const Time = (description: string, example: string) => field.At(description, example)
export const Ids = (description: string) =>
  Type.Array(Type.Integer({ minimum: 0, maximum: id_max }), {
    maxItems: linked_max,
    uniqueItems: true,
    description,
  })
export const Title = (example: string) =>
  Line(200, example, 'A single line with at least one visible character.')
export const Currency = field.Text(
  'ISO 4217. Defaults to the currency of the site when an amount is given.',
  { pattern: '^[A-Z]{3}$', examples: ['EUR'] },
)
export const Tags = Type.Array(Line(50, 'flight 2026-06'), {
  maxItems: 50,
  uniqueItems: true,
})

export const Flag = (description: string, example = false) => field.Flag(description, example)
export const Version = field.Int('Increments with every change.', { minimum: 1 })

export const devices = {
  location_id: Id('A location of the site. Defaults to the location of the device.', 2),
  logger_id: Id('The plant. Defaults to the plant of the inverter.', 1),
  inverter_id: Id('An inverter, of the given plant if any.', 1),
  string_index: Id('A string of the inverter, counted from 0.', 3),
  bess_id: Id('A battery unit.', 1),
} as const

export const placeFilters = (items: string) => ({
  location_id: Type.Optional(
    Id(`Returns only ${items} at this location, without the locations below.`, 2),
  ),
  logger_id: Type.Optional(Id(`Returns only ${items} of this plant.`, 1)),
})

type Fields = Record<string, TSchema>
type NullableFields<Of extends Fields> = {
  [Name in keyof Of]: ReturnType<typeof Nullable<Of[Name]>>
}
type OptionalFields<Of extends Fields> = { [Name in keyof Of]: TOptional<Of[Name]> }

const each = (of: Fields, change: (schema: TSchema) => TSchema) =>
  Object.fromEntries(Object.entries(of).map(([name, schema]) => [name, change(schema)]))

export const nulls = <Of extends Fields>(of: Of) =>
  Object.fromEntries(Object.keys(of).map((name) => [name, null])) as Record<keyof Of, null>
export const nullable = <Of extends Fields>(of: Of) => each(of, Nullable) as NullableFields<Of>
export const optional = <Of extends Fields>(of: Of) => each(of, Type.Optional) as OptionalFields<Of>
