/**
 * Columns of numbers as bytes that compress well: integers at the resolution of the column, delta
 * coded and split into byte planes. Every number comes back exactly, `-0` too.
 */
import type { ByteReader, ByteWriter } from './bytes.ts'

export type MaybeNumber = number | null

/** Decimals of a column at most; finer values are exceptions. */
const decimals_max = 12
export const powers = Array.from({ length: decimals_max + 1 }, (_, nth) => 10 ** nth)
/** The zigzag code of the difference of two such integers is exact in a double. */
const integer_max = 2 ** 51
/** Bytes of an exception: its place and its value. */
const exception_bytes = 12

const presence = { none: 0, all: 1, some: 2 } as const

/** The fewest decimals, from `from` on, with which the value is an exact integer; -1 for none. */
export function decimalsOf(value: number, from: number): number {
  if (Object.is(value, -0)) return -1
  for (let decimals = from; decimals <= decimals_max; decimals += 1) {
    const scaled = Math.round(value * powers[decimals]!)
    if (!(Math.abs(scaled) < integer_max)) return -1
    if (scaled / powers[decimals]! === value) return decimals
  }
  return -1
}

/**
 * The decimals at which a column takes the least space: coarser makes all values shorter, and those
 * between two steps exceptions.
 */
function bestDecimals(values: Float64Array): number {
  let most = 0
  for (const value of values) most = Math.max(most, decimalsOf(value, most))
  if (most <= 3) return most
  const counts = new Uint32Array(decimals_max + 1)
  for (const value of values) counts[Math.max(0, decimalsOf(value, 0))]! += 1
  let finer = 0
  let [best, best_bytes] = [most, Number.POSITIVE_INFINITY]
  for (let decimals = most; decimals >= 0; decimals -= 1) {
    const digit_bytes = Math.log2(10) / 8
    const bytes = finer * exception_bytes + values.length * decimals * digit_bytes
    if (bytes < best_bytes) [best, best_bytes] = [decimals, bytes]
    finer += counts[decimals]!
  }
  return best
}

function greatestDivisor(numbers: Float64Array): number {
  let divisor = 0
  for (const number of numbers) {
    let rest = Math.abs(number)
    while (rest > 0) [divisor, rest] = [rest, divisor % rest]
    if (divisor === 1) return 1
  }
  return divisor
}

export function writeNumbers(to: ByteWriter, values: readonly MaybeNumber[]): void {
  const numbers = new Float64Array(values.length)
  let count = 0
  for (const value of values) if (value !== null) numbers[count++] = value
  if (count === 0) {
    to.u8(presence.none)
    return
  }
  if (count === values.length) to.u8(presence.all)
  else {
    to.u8(presence.some)
    const bits = to.zeros((values.length + 7) >> 3)
    values.forEach((value, nth) => {
      if (value !== null) bits[nth >> 3]! |= 1 << (nth & 7)
    })
  }
  writePresent(to, numbers.subarray(0, count))
}

function writePresent(to: ByteWriter, values: Float64Array): void {
  const decimals = bestDecimals(values)
  const power = powers[decimals]!
  const exceptions: number[] = []
  const deltas = new Float64Array(values.length)
  let before = 0
  for (let nth = 0; nth < values.length; nth += 1) {
    const value = values[nth]!
    const scaled = Math.round(value * power)
    const is_exact = Math.abs(scaled) < integer_max && scaled / power === value
    if (!is_exact || Object.is(value, -0)) {
      exceptions.push(nth)
      continue
    }
    deltas[nth] = scaled - before
    before = scaled
  }
  const first = deltas[0]!
  deltas[0] = 0
  const step = greatestDivisor(deltas)
  to.u8(decimals)
  to.count(zigzag(first))
  to.count(step)
  to.count(exceptions.length)
  for (const nth of exceptions) {
    to.count(nth)
    to.f64(values[nth]!)
  }
  writePlanes(to, deltas, step || 1)
}

/** 0, -1, 1, -2 … as 0, 1, 2, 3 … */
export const zigzag = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value)
export const unzigzag = (code: number) => (code % 2 === 0 ? code / 2 : -(code + 1) / 2)

/** Zigzag codes of the deltas in steps, a plane of each byte, the lowest first. */
function writePlanes(to: ByteWriter, deltas: Float64Array, step: number): void {
  let largest = 0
  for (let nth = 0; nth < deltas.length; nth += 1) {
    const code = zigzag(deltas[nth]! / step)
    deltas[nth] = code
    if (code > largest) largest = code
  }
  let count = 0
  for (let rest = largest; rest >= 1; rest /= 256) count += 1
  to.u8(count)
  for (let plane = 0; plane < count; plane += 1) {
    const bytes = to.zeros(deltas.length)
    if (largest < 2 ** 32) {
      for (let nth = 0; nth < deltas.length; nth += 1) bytes[nth] = deltas[nth]! >>> (8 * plane)
    } else {
      const power = 256 ** plane
      for (let nth = 0; nth < deltas.length; nth += 1) {
        bytes[nth] = Math.floor(deltas[nth]! / power) % 256
      }
    }
  }
}

/** `count` numbers as `writeNumbers` got them. */
export function readNumbers(from: ByteReader, count: number): MaybeNumber[] {
  const kind = from.u8()
  if (kind === presence.none) return new Array<MaybeNumber>(count).fill(null)
  if (kind === presence.all) return readPresent(from, count)
  const bits = from.slice((count + 7) >> 3)
  const isPresent = (nth: number) => ((bits[nth >> 3]! >> (nth & 7)) & 1) === 1
  let present = 0
  for (let nth = 0; nth < count; nth += 1) if (isPresent(nth)) present += 1
  const numbers = readPresent(from, present)
  let taken = 0
  return Array.from({ length: count }, (_, nth) => (isPresent(nth) ? numbers[taken++]! : null))
}

function readPresent(from: ByteReader, count: number): number[] {
  const power = powers[from.u8()]!
  const first = unzigzag(from.count())
  const step = from.count()
  const exceptions = Array.from({ length: from.count() }, () => [from.count(), from.f64()] as const)
  const codes = readPlanes(from, count)
  const is_short = codes instanceof Uint32Array
  const values = new Array<number>(count)
  let sum = first
  for (let nth = 0; nth < count; nth += 1) {
    const code = codes[nth]!
    // The remainder of a double takes several times as long.
    const delta = is_short ? (code >>> 1) ^ -(code & 1) : unzigzag(code)
    sum += delta * step
    values[nth] = sum / power
  }
  for (const [nth, value] of exceptions) values[nth] = value
  return values
}

function readPlanes(from: ByteReader, count: number): Float64Array | Uint32Array {
  const plane_count = from.u8()
  const codes = plane_count <= 4 ? new Uint32Array(count) : new Float64Array(count)
  for (let plane = 0; plane < plane_count; plane += 1) {
    const bytes = from.slice(count)
    const power = 256 ** plane
    for (let nth = 0; nth < count; nth += 1) codes[nth]! += bytes[nth]! * power
  }
  return codes
}
