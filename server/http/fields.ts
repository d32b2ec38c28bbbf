/** The schemas of most fields of the API. Rules are further keywords, such as `maximum`. */
import { type TSchema, Type } from 'typebox'
import { Nullable } from './params.ts'

type Rules = Readonly<Record<string, unknown>>

export const Num = (description: string, rules?: Rules) => Type.Number({ ...rules, description })
export const Int = (description: string, rules?: Rules) => Type.Integer({ ...rules, description })
export const Text = (description: string, rules?: Rules) => Type.String({ ...rules, description })
export const Flag = (description: string, rules?: Rules) => Type.Boolean({ ...rules, description })

/** A number of 0 or more. */
export const FromZero = (description: string, rules?: Rules) =>
  Num(description, { minimum: 0, ...rules })

export const Percent = (description: string, rules?: Rules) =>
  Num(description, { minimum: 0, maximum: 100, ...rules })

export const Count = (description: string, rules?: Rules) =>
  Int(description, { minimum: 0, ...rules })

export const OneOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
  rules?: Rules,
) => Type.Enum([...words], { ...rules, description })

const orNull =
  <Given extends readonly unknown[], Of extends TSchema>(field: (...given: Given) => Of) =>
  (...given: Given) =>
    Nullable(field(...given))

export const NumOrNull = orNull(Num)
export const IntOrNull = orNull(Int)
export const TextOrNull = orNull(Text)
export const FlagOrNull = orNull(Flag)
export const FromZeroOrNull = orNull(FromZero)
export const PercentOrNull = orNull(Percent)
export const CountOrNull = orNull(Count)
export const AtOrNull = orNull((description: string) =>
  Type.String({ format: 'date-time', description }),
)

export const OneOfOrNull = <const Word extends string>(
  words: readonly Word[],
  description: string,
  rules?: Rules,
) => Nullable(OneOf(words, description, rules))
