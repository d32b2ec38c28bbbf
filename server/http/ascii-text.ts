/** Text that is written into a buffer as it comes: JSON of megabytes that is mostly numbers. */

export interface AsciiText {
  /** Bytes of `ascii`. */
  add(bytes: Uint8Array): void
  /** ASCII, of some length: what is short is faster as bytes that are there already. */
  addText(text: string): void
  /** As `JSON.stringify` writes it. */
  addNumber(value: number | null): void
  /** A copy of what was added; nothing may be added from then on. */
  take(): Buffer
}

export const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const zero = 48
const minus = 45
const point = 46
const thousandths_bytes_max = 12
const unknown = ascii('null')

/**
 * What the last text was written into, for the next one. A buffer of megabytes that is filled while
 * much else becomes garbage is taken for one that stays: a new one each time had the whole heap
 * collected at every tenth text.
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
    // By hand what is so short that to enter `set` takes longer than to copy it.
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
    // The shortest text of a number that is so many thousandths is that of the thousandths.
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

/** Returns where it ends. */
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
