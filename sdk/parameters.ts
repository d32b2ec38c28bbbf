import { timestampNames } from './generated/facts.gen.ts'

const naive = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?$/

/**
 * Converts dates in a query or body to the format of the API. Throws a TypeError for an ambiguous
 * timestamp, such as one without an offset.
 */
export function withInstants<Values>(values: Values): Values {
  if (typeof values !== 'object' || values === null) return values
  const entries = Object.entries(values).map(([name, value]) => [name, instant(name, value)])
  return Object.fromEntries(entries)
}

function instant(name: string, value: unknown): unknown {
  if (!timestampNames.includes(name)) return value
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError(`${name} is a Date that is no instant`)
    return value.toISOString()
  }
  if (typeof value === 'string' && naive.test(value)) {
    throw new TypeError(
      `${name} is ${value}, which has no offset: end it with Z or such as +02:00, or give a Date`,
    )
  }
  return value
}
