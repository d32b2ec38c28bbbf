/**
 * Rounds a computed quantity to nine significant digits, more than any instrument has. Removes the
 * noise of binary fractions (0.1 + 0.2); null stays null.
 */
export function significant(value: number): number
export function significant(value: number | null): number | null
export function significant(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(9))
}

/** Rounds half up to `decimals` places, never to -0; null stays null. */
export function rounded(value: number, decimals: number): number
export function rounded(value: number | null, decimals: number): number | null
export function rounded(value: number | null, decimals: number): number | null {
  if (value === null) return null
  const steps = 10 ** decimals
  return Math.round(value * steps) / steps + 0
}
