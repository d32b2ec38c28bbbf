/** Schemas that the parts of `site.yaml` and the messages of the edge link share. */
import { type TProperties, type TSchema, Type } from 'typebox'

export const Closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
export const Name = Type.String({ minLength: 1, maxLength: 120 })
export const Day = Type.String({ format: 'date' })
export const Positive = Type.Number({ exclusiveMinimum: 0 })
export const Percent = Type.Number({ minimum: 0, maximum: 100 })
export const Instant = Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' })
export const InstantOrNull = Nullable(Instant)

/** Name of a driver, or the path of a profile's file from the folder of `site.yaml`. */
export const DriverName = Type.String({
  pattern: '^([a-z0-9_]+|\\.{1,2}/.+\\.yaml)$',
  maxLength: 80,
})
export const isProfilePath = (driver: string): boolean => driver.startsWith('.')
