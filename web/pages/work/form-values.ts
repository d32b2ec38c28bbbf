import { clockAt, instantOf } from '../../ui/site-clock.ts'

/**
 * How a field is edited. `text` is null when empty, `id` is a text in the form, `clock` is the
 * local time of the site. `same` and `title` are the same in both, a `title` without outer spaces.
 */
type Kind = 'text' | 'number' | 'id' | 'clock' | 'title' | 'same'

type Fields = Readonly<Record<string, Kind>>

interface InForm {
  text: string
  number: number | ''
  id: string | null
  clock: string
}

interface InBody {
  text: string | null
  number: number | null
  id: number | null
  clock: string | null
}

export type ValuesOf<Of extends Fields, Resource> = {
  -readonly [Name in keyof Of]: Of[Name] extends keyof InForm
    ? InForm[Of[Name]]
    : Name extends keyof Resource
      ? Resource[Name]
      : never
}

type BodyOf<Of extends Fields, Values> = {
  -readonly [Name in keyof Of]: Of[Name] extends keyof InBody
    ? InBody[Of[Name]]
    : Name extends keyof Values
      ? Values[Name]
      : never
}

export const idText = (id: number | null) => (id === null ? null : String(id))

function inForm(kind: Kind, value: unknown, timezone: string): unknown {
  if (kind === 'id') return idText((value ?? null) as number | null)
  if (kind === 'clock') return value ? clockAt(Date.parse(value as string), timezone) : ''
  return kind === 'same' ? value : (value ?? '')
}

/** Fields that a new resource does not have are empty. */
export const valuesOf = <Of extends Fields, Resource extends object>(
  fields: Of,
  resource: Resource,
  timezone: string,
) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => [
      name,
      inForm(kind, resource[name as keyof Resource], timezone),
    ]),
  ) as ValuesOf<Of, Resource>

function inBody(kind: Kind, value: unknown, timezone: string): unknown {
  if (kind === 'same') return value
  if (kind === 'title') return (value as string).trim()
  if (kind === 'text') return (value as string).trim() || null
  if (value === '' || value === null) return null
  if (kind !== 'clock') return Number(value)
  const at_ms = instantOf(value as string, timezone)
  return at_ms === null ? null : new Date(at_ms).toISOString()
}

export const bodyOf = <Of extends Fields, Values extends object>(
  fields: Of,
  values: Values,
  timezone: string,
) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => [
      name,
      inBody(kind, values[name as keyof Values], timezone),
    ]),
  ) as BodyOf<Of, Values>

/** Omits empty fields, for which the server derives defaults. */
export function givenOnly<Body extends object>(body: Body): Partial<Body> {
  const given = Object.entries(body).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(given) as Partial<Body>
}

export const titleProblem = (title: string) => (title.trim() ? null : 'Enter a title.')

export const clockProblem = (clock: string, timezone: string) =>
  clock !== '' && instantOf(clock, timezone) === null ? 'This local time does not exist.' : null
