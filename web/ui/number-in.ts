/** What stands in a field for numbers, also half typed: `1.` is 1; '' where there is none. */
export function numberIn(text: string | number | bigint): number | '' {
  const value = Number(text)
  return text === '' || Number.isNaN(value) ? '' : value
}

/**
 * A number as people copy it, with a decimal comma, too. Null: it is none, or nobody knows which:
 * `1,234` may be a thousand or a bit more than one.
 */
export function pastedNumber(text: string): number | null {
  const plain = text.trim().replace('\u2212', '-')
  if (/^-?\d+(\.\d+)?$/.test(plain)) return Number(plain)
  return /^-?\d+,(\d{1,2}|\d{4,})$/.test(plain) ? Number(plain.replace(',', '.')) : null
}
