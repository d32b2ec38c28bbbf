/** Number in a field, also while it is typed: `1.` is 1. Empty without a number. */
export function numberIn(text: string | number | bigint): number | '' {
  const value = Number(text)
  return text === '' || Number.isNaN(value) ? '' : value
}

/**
 * Number in a pasted text, with a decimal point or comma. Null without a number, or when it is
 * ambiguous: `1,234` may be 1234 or 1.234.
 */
export function pastedNumber(text: string): number | null {
  const plain = text.trim().replace('\u2212', '-')
  if (/^-?\d+(\.\d+)?$/.test(plain)) return Number(plain)
  return /^-?\d+,(\d{1,2}|\d{4,})$/.test(plain) ? Number(plain.replace(',', '.')) : null
}
