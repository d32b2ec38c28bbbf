/** Builds large ASCII texts in a buffer: JSON of megabytes that is mostly numbers. */

export interface AsciiText {
  /** Adds bytes made by `ascii`; the fastest way for short texts. */
  add(bytes: Uint8Array): void
  addText(text: string): void
  /** Adds a number in the form of `JSON.stringify`. */
  addNumber(value: number | null): void
  /** Returns the text. Nothing may be added afterwards. */
  take(): Buffer
}

export const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const zero = 48
const minus = 45
const point = 46
/** Of the longest text of a double, and some. */
const number_bytes_max = 32
const unknown = ascii('null')

/**
 * The buffer of the last text, for reuse. A new buffer of megabytes for each text is promoted to
 * the old generation: it caused a full garbage collection at every tenth text.
 */
let spare: Buffer<ArrayBuffer> | null = null
/** 10,000 rows of an inverter take 12 MB. */
const spare_bytes_max = 20 * 2 ** 20

export function asciiText(): AsciiText {
  let bytes = spare ?? Buffer.allocUnsafeSlow(number_bytes_max)
  let end = 0
  spare = null

  function reserve(more: number): void {
    if (end + more <= bytes.length) return
    const wider = Buffer.allocUnsafeSlow(Math.ceil(1.5 * (end + more)))
    bytes.copy(wider, 0, 0, end)
    bytes = wider
  }
  function add(more: Uint8Array): void {
    reserve(more.length)
    const into = bytes
    const start = end
    // For short texts a loop is faster than a call of `set`.
    if (more.length > 24) into.set(more, start)
    else for (let nth = 0; nth < more.length; nth += 1) into[start + nth] = more[nth]!
    end = start + more.length
  }
  function addText(more: string): void {
    reserve(more.length)
    end += bytes.write(more, end, 'latin1')
  }
  function addNumber(value: number | null): void {
    reserve(number_bytes_max)
    end = writeNumber(bytes, end, value)
  }
  function take(): Buffer {
    if (bytes.length > spare_bytes_max) return bytes.subarray(0, end)
    const text = Buffer.from(bytes.subarray(0, end))
    spare = bytes
    return text
  }
  return { add, addText, addNumber, take }
}

/**
 * Writes a number in the form of `JSON.stringify` into bytes with room for `number_bytes_max`;
 * returns the end position.
 */
function writeNumber(bytes: Buffer, start: number, value: number | null): number {
  if (value === null) {
    for (let nth = 0; nth < unknown.length; nth += 1) bytes[start + nth] = unknown[nth]!
    return start + unknown.length
  }
  let at = start
  const size = Math.abs(value)
  const thousandths = Math.round(size * 1000)
  // A whole number of thousandths is written exactly with at most three decimals.
  if (thousandths / 1000 === size && thousandths < 2 ** 31) {
    if (value < 0) bytes[at++] = minus
    const whole = (thousandths / 1000) | 0
    return writeDecimal(bytes, at, whole, thousandths - 1000 * whole, 100)
  }
  const millionths = Math.round(size * 1e6)
  // Doubles tell all numbers of 15 digits apart.
  if (millionths / 1e6 === size && millionths < 1e15) {
    if (value < 0) bytes[at++] = minus
    const whole = Math.floor(millionths / 1e6)
    return writeDecimal(bytes, at, whole, millionths - 1e6 * whole, 100_000)
  }
  return at + bytes.write(JSON.stringify(value), at, 'latin1')
}

/** Writes a number with `part` of ten times `unit` behind the point; returns the end position. */
function writeDecimal(
  bytes: Uint8Array,
  start: number,
  whole: number,
  part: number,
  unit: number,
): number {
  let at = start
  let length = 1
  for (let power = 10; power <= whole; power *= 10) length += 1
  let digits = whole
  for (let place = at + length - 1; place >= at; place -= 1) {
    const tenth = (digits / 10) | 0
    bytes[place] = zero + digits - 10 * tenth
    digits = tenth
  }
  at += length
  if (part === 0) return at
  bytes[at++] = point
  let rest = part | 0
  for (let of = unit; rest > 0; of = (of / 10) | 0) {
    const digit = (rest / of) | 0
    bytes[at++] = zero + digit
    rest -= digit * of
  }
  return at
}
