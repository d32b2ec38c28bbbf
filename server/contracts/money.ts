/**
 * Exact money in whole millionths of a currency (micro). The amount of a plant's hour is a safe
 * integer; sums, and products beyond the safe integers, are BigInt. Every amount is rounded once,
 * half away from zero. Amounts that accumulate over time or energy are rounded cumulatively, and a
 * part is the difference of two rounded sums, so that parts add up to the whole.
 */

export type Micro = bigint

const micro_decimals = 6
const million = 1_000_000
/** Exchange rates are safe integers in units of 1 / rate_unit. */
const rate_unit = 10 ** 11

/**
 * a b / divisor, rounded half away from zero, for safe integers and divisor > 0.
 *
 * @throws RangeError when the result is not a safe integer, far beyond the value of any hour
 */
export function productOver(a: number, b: number, divisor: number): number {
  const product = a * b
  if (!Number.isSafeInteger(product)) {
    const exact = Number(divided(BigInt(a) * BigInt(b), BigInt(divisor)))
    if (Number.isSafeInteger(exact)) return exact
    throw new RangeError(`${a} * ${b} / ${divisor} is out of range`)
  }
  // The quotient of safe integers never rounds up to the next whole number.
  const whole = Math.trunc(product / divisor)
  const rest = product - whole * divisor
  return 2 * Math.abs(rest) < divisor ? whole + 0 : whole + Math.sign(rest)
}

/** a / b, rounded half away from zero; b > 0. */
export function divided(a: bigint, b: bigint): bigint {
  const twice = a < 0n ? -2n * a : 2n * a
  const whole = (twice + b) / (2n * b)
  return a < 0n ? -whole : whole
}

/** Value of energy in Wh at a price in micro per MWh. */
export const worth = (energy_wh: number, price_micro: number): number =>
  energy_wh === 0 ? 0 : productOver(energy_wh, price_micro, million)

/** A percentage of an amount, in micro-percent: 2 % is 2 000 000. */
export const percentOf = (amount: number, micro_percent: number): number =>
  productOver(amount, micro_percent, 100 * million)

/** Share of an amount after `elapsed` of `length`, both whole numbers. */
export const elapsedShare = (amount: number, elapsed: number, length: number): number =>
  productOver(amount, elapsed, length)

/** An exchange rate as a whole number, for `converted`. */
export const exactRate = (rate: number): number => Math.round(rate * rate_unit)

export const sameCurrency = rate_unit

export const converted = (amount: number, rate: number): number =>
  rate === rate_unit ? amount : productOver(amount, rate, rate_unit)

/** `-0.015` as -15 000; null for anything but a decimal of at most six places within range. */
export function microOf(text: string): number | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return null
  const [, sign, whole, fraction = ''] = match
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > micro_decimals) return null
  const micro = Number(`${whole}${digits.padEnd(micro_decimals, '0')}`)
  if (!Number.isSafeInteger(micro)) return null
  return sign === '-' ? 0 - micro : micro
}

/** The amount in major units, as the double nearest to it. */
export function majorUnits(amount: Micro | number): number {
  const micro = Number(amount)
  if (Number.isSafeInteger(micro)) return micro / million
  const digits = String(amount).replace('-', '')
  const text = `${digits.slice(0, -micro_decimals)}.${digits.slice(-micro_decimals)}`
  return micro < 0 ? -Number(text) : Number(text)
}
