/** Builds large ASCII texts in a buffer: JSON of megabytes that is mostly numbers. */

export interface AsciiText {
  /** Adds bytes made by `ascii`; the fastest way for short texts. */
  add(bytes: Uint8Array): void
  addText(text: string): void
  /** Adds a number in the form of `JSON.stringify`. */
  addNumber(value: number | null): void
  /** Returns a copy of the text. Nothing may be added afterwards. */
  take(): Buffer
}

export const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const zero = 48
const minus = 45
const point = 46
const thousandths_bytes_max = 12
const unknown = ascii('null')

/**
 * The buffer of the last text, for reuse. A new buffer of megabytes for each text is promoted to
 * the old generation: it caused a full garbage collection at every tenth text.
 */
let spare: Buffer<ArrayBuffer> | null = null
const spare_bytes_max = 16 * 2 ** 20

export function asciiText(): AsciiText {
  let bytes = spare ?? Buffer.allocUnsafeSlow(thousandths_bytes_max)
  let end = 0
  spare = null

  function reserve(more: number): void {
    if (end + more <= bytes.length) return
    const wider = Buffer.allocUnsafeSlow(2 * (end + more))
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
    if (value === null) {
      add(unknown)
      return
    }
    const thousandths = Math.round(value * 1000)
    // A whole number of thousandths is written exactly with at most three decimals.
    if (thousandths / 1000 === value && Math.abs(thousandths) < 2 ** 31) {
      reserve(thousandths_bytes_max)
      end = writeThousandths(bytes, end, thousandths)
    } else {
      add(ascii(JSON.stringify(value)))
    }
  }
  function take(): Buffer {
    const text = Buffer.from(bytes.subarray(0, end))
    if (bytes.length <= spare_bytes_max) spare = bytes
    return text
  }
  return { add, addText, addNumber, take }
}

/** Returns the end position. */
function writeThousandths(bytes: Uint8Array, start: number, thousandths: number): number {
  let at = start
  if (thousandths < 0) bytes[at++] = minus
  const rest = Math.abs(thousandths) | 0
  const whole = (rest / 1000) | 0
  let length = 1
  for (let power = 10; power <= whole; power *= 10) length += 1
  let digits = whole
  for (let place = at + length - 1; place >= at; place -= 1) {
    const tenth = (digits / 10) | 0
    bytes[place] = zero + digits - 10 * tenth
    digits = tenth
  }
  at += length
  let part = rest - 1000 * whole
  if (part === 0) return at
  bytes[at++] = point
  for (let unit = 100; part > 0; unit /= 10) {
    const digit = (part / unit) | 0
    bytes[at++] = zero + digit
    part -= digit * unit
  }
  return at
}
