/** What an edge sent is not acceptable; the message says what and where. */
export class Refused extends Error {}

/** A value for a message to people: short, whatever it is. */
export function shown(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? 'an object or array' : String(value)
  return storableText(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair: they become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** True when `jsonb` refuses this JSON text although it is valid JSON. */
export function isUnstorableJson(json: string): boolean {
  return /\\u(0000|d[89a-f])/i.test(json)
}
