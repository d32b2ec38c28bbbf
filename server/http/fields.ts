/** The schemas of most fields of the API. */
import { type TSchema, Type } from 'typebox'
import { Nullable } from './params.ts'

type Rules = Readonly<Record<string, unknown>>

/** Further keywords of a field, such as `maximum`, or only its example. */
type Given = Rules | string | number | boolean | readonly unknown[]

const rulesOf = (given: Given = {}): Rules =>
  typeof given === 'object' && !Array.isArray(given) ? (given as Rules) : { examples: [given] }

export const Num = (description: string, given?: Given) =>
  Type.Number({ ...rulesOf(given), description })
export const Int = (description: string, given?: Given) =>
  Type.Integer({ ...rulesOf(given), description })
export const Text = (description: string, given?: Given) =>
  Type.String({ ...rulesOf(given), description })
export const Flag = (description: string, given?: Given) =>
  Type.Boolean({ ...rulesOf(given), description })

/** A number of 0 or more. */
export const FromZero = (description: string, given?: Given) =>
  Num(description, { minimum: 0, ...rulesOf(given) })

export const Percent = (description: string, given?: Given) =>
  FromZero(description, { maximum: 100, ...rulesOf(given) })

export const Count = (description: string, given?: Given) =>
  Int(description, { minimum: 0, ...rulesOf(given) })

export const At = (description: string, given?: Given) =>
  Text(description, { format: 'date-time', ...rulesOf(given) })

export const Day = (description: string, given?: Given) =>
  Text(description, { format: 'date', ...rulesOf(given) })

/** A UTC day of a query. */
export const UtcDay = Type.Optional(Day('UTC day. Defaults to today.', '2026-06-21'))

export const OneOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
  given?: Given,
) => Type.Enum([...words], { ...rulesOf(given), description })

const orNull =
  <Args extends readonly unknown[], Of extends TSchema>(field: (...args: Args) => Of) =>
  (...args: Args) =>
    Nullable(field(...args))

export const NumOrNull = orNull(Num)
export const IntOrNull = orNull(Int)
export const TextOrNull = orNull(Text)
export const FlagOrNull = orNull(Flag)
export const FromZeroOrNull = orNull(FromZero)
export const PercentOrNull = orNull(Percent)
export const CountOrNull = orNull(Count)
export const AtOrNull = orNull(At)
export const DayOrNull = orNull(Day)

export const OneOfOrNull = <const Word extends string>(
  words: readonly Word[],
  description: string,
  given?: Given,
) => Nullable(OneOf(words, description, given))
