/** Data of an edge is not acceptable; the message names the place and the reason. */
export class Refused extends Error {}

/** A short text of any value, for messages. */
export function shown(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? 'an object or array' : String(value)
  return storableText(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** Replaces NUL and unpaired surrogates, which PostgreSQL cannot store, by U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Whether `jsonb` refuses this valid JSON text. */
export function isUnstorableJson(json: string): boolean {
  return /\\u(0000|d[89a-f])/i.test(json)
}
