/**
 * Exact money: whole millionths of a currency (micro). An amount of a plant's hour is a safe
 * integer, sums are BigInt, and so is every product on the way that is beyond the safe integers.
 * What is rounded is rounded half away from zero, once; what grows with time or energy is rounded
 * as a whole and shared out by the differences of its rounded parts, so that any parts add up to
 * the whole.
 */

export type Micro = bigint

const micro_decimals = 6
const million = 1_000_000
/** Of conversion rates, which are safe integers of this unit. */
const rate_unit = 10 ** 11

/**
 * a b / divisor, half away from zero, for safe integers, divisor > 0.
 *
 * @throws RangeError for a result that is no safe integer: no hour of a plant is worth as much
 */
export function productOver(a: number, b: number, divisor: number): number {
  const product = a * b
  if (!Number.isSafeInteger(product)) {
    const exact = Number(divided(BigInt(a) * BigInt(b), BigInt(divisor)))
    if (Number.isSafeInteger(exact)) return exact
    throw new RangeError(`${a} times ${b} by ${divisor} is beyond all money`)
  }
  // Of safe integers the quotient is never rounded to a whole number that it does not reach.
  const whole = Math.trunc(product / divisor)
  const rest = product - whole * divisor
  return 2 * Math.abs(rest) < divisor ? whole + 0 : whole + Math.sign(rest)
}

/** a / b, half away from zero; b > 0. */
export function divided(a: bigint, b: bigint): bigint {
  const twice = a < 0n ? -2n * a : 2n * a
  const whole = (twice + b) / (2n * b)
  return a < 0n ? -whole : whole
}

/** What energy in Wh is worth at a price in micro per MWh. */
export const worth = (energy_wh: number, price_micro: number): number =>
  energy_wh === 0 ? 0 : productOver(energy_wh, price_micro, million)

/** A part of an amount, in micro-percent: 2 % is 2 000 000. */
export const percentOf = (amount: number, micro_percent: number): number =>
  productOver(amount, micro_percent, 100 * million)

/** Half of it when half of `length` has elapsed; both are whole. */
export const elapsedShare = (amount: number, elapsed: number, length: number): number =>
  productOver(amount, elapsed, length)

/** A conversion rate as a whole number; see `converted`. */
export const exactRate = (rate: number): number => Math.round(rate * rate_unit)

export const sameCurrency = rate_unit

export const converted = (amount: number, rate: number): number =>
  rate === rate_unit ? amount : productOver(amount, rate, rate_unit)

/** `-0.015` as -15 000; null for what is no decimal with up to six places, or beyond all money. */
export function microOf(text: string): number | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return null
  const [, sign, whole, fraction = ''] = match
  const kept = fraction.replace(/0+$/, '')
  if (kept.length > micro_decimals) return null
  const micro = Number(`${whole}${kept.padEnd(micro_decimals, '0')}`)
  if (!Number.isSafeInteger(micro)) return null
  return sign === '-' ? 0 - micro : micro
}

/** In major units, for JSON: the double that is nearest to the exact amount. */
export function majorUnits(amount: Micro | number): number {
  const micro = Number(amount)
  if (Number.isSafeInteger(micro)) return micro / million
  const digits = String(amount).replace('-', '')
  const text = `${digits.slice(0, -micro_decimals)}.${digits.slice(-micro_decimals)}`
  return micro < 0 ? -Number(text) : Number(text)
}
