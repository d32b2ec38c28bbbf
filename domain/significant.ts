/**
 * A computed quantity without the digits that nobody measured: sums and products of binary
 * fractions end in noise (0.1 + 0.2), nine significant digits outlast every instrument.
 */
export const significant = (value: number): number => Number(value.toPrecision(9))

/** To `decimals` places, half up, never -0; null stays null. */
export function rounded(value: number, decimals: number): number
export function rounded(value: number | null, decimals: number): number | null
export function rounded(value: number | null, decimals: number): number | null {
  if (value === null) return null
  const steps = 10 ** decimals
  return Math.round(value * steps) / steps + 0
}
