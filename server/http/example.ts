/** Example values generated from schemas, for the API document. */
import type { Static, TSchema } from 'typebox'

/** Values for some fields of an example. Arrays are replaced as a whole. */
type Overrides<Of> = Of extends readonly unknown[]
  ? Of
  : Of extends object
    ? { [Name in keyof Of]?: Overrides<Of[Name]> }
    : Of

/** The schema keywords that examples are made of. */
interface Facts {
  const?: unknown
  enum?: readonly unknown[]
  examples?: readonly unknown[]
  default?: unknown
  anyOf?: readonly TSchema[]
  type?: string
  format?: string
  minimum?: number
  items?: TSchema
  properties?: Record<string, TSchema>
  required?: readonly string[]
}

const texts: Readonly<Record<string, string>> = {
  'date-time': '2026-06-21T10:00:00.000Z',
  date: '2026-06-21',
}

/**
 * An example of a schema. Each field takes the first of its `examples`, else its constant, first
 * enumeration value or default, else the simplest value of its type. A nullable field without an
 * example is null, and an optional field is left out. `overrides` sets fields whose values must
 * agree with one another.
 */
export function exampleOf<Of extends TSchema>(
  schema: Of,
  overrides?: Overrides<Static<Of>>,
): Static<Of> {
  return merged(fieldExample(schema), overrides) as Static<Of>
}

function fieldExample(schema: TSchema): unknown {
  const facts = schema as Facts
  if (facts.examples) return facts.examples[0]
  if ('const' in facts) return facts.const
  if (facts.enum) return facts.enum[0]
  if (facts.default !== undefined) return facts.default
  if (facts.anyOf) return alternativeOf(facts.anyOf)
  switch (facts.type) {
    case 'object':
      return Object.fromEntries(
        (facts.required ?? []).map((name) => [name, fieldExample(facts.properties![name]!)]),
      )
    case 'array':
      return facts.items ? [fieldExample(facts.items)] : []
    case 'string':
      return texts[facts.format ?? ''] ?? ''
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return facts.minimum ?? 0
  }
}

function alternativeOf(alternatives: readonly TSchema[]): unknown {
  const is_nullable = alternatives.some((one) => (one as Facts).type === 'null')
  const illustrated = alternatives.find((one) => {
    const { examples, properties } = one as Facts
    return examples !== undefined || properties !== undefined
  })
  if (illustrated) return fieldExample(illustrated)
  return is_nullable ? null : fieldExample(alternatives[0]!)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function merged(example: unknown, overrides: unknown): unknown {
  if (overrides === undefined) return example
  if (!isRecord(example) || !isRecord(overrides)) return overrides
  const names = new Set([...Object.keys(example), ...Object.keys(overrides)])
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      name in overrides ? merged(example[name], overrides[name]) : example[name],
    ]),
  )
}
