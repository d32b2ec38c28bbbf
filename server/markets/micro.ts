/** Prices as integer millionths, parsed from decimals without floating-point error. */

/** Bound of both signs: far above every price, and exact when multiplied by a million. */
const price_max = 1e9

/**
 * `-0.01` as -10 000. Rounds to six decimals, half away from zero. Null when the text is not a
 * plain decimal number, or is a billion or more.
 */
export function microOf(text: string): number | null {
  const match = /^([+-]?)(\d{1,12})(?:\.(\d{0,30}))?$/.exec(text.trim())
  if (!match) return null
  const [, sign, whole = '', fraction = ''] = match
  const round_up = Number(fraction[6] ?? 0) >= 5 ? 1 : 0
  const micro = Number(whole) * 1e6 + Number(fraction.slice(0, 6).padEnd(6, '0')) + round_up
  if (micro >= price_max * 1e6) return null
  return (sign === '-' ? -micro : micro) || 0
}

/** Micro-units of a number from JSON; null when it is not finite or too large. */
export function microOfNumber(value: number): number | null {
  return Number.isFinite(value) && Math.abs(value) < price_max ? Math.round(value * 1e6) || 0 : null
}

/** Price in major units, as the API returns it. */
export const priceOf = (micro: number): number => micro / 1e6

/** Exact decimal text for PostgreSQL. */
export function decimalOf(micro: number): string {
  const digits = String(Math.abs(micro)).padStart(7, '0')
  return `${micro < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}
