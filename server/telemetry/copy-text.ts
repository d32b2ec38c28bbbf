/**
 * The text of `COPY`, written as ASCII bytes without a string for each value: at tens of thousands
 * of rows a second those strings would dominate the cost.
 */
export interface CopyText {
  bytes: Buffer
  length: number
}

const zero = 0x30
const minus = 0x2d
const point = 0x2e
/** No value is longer, except arrays, which call `makeRoom` themselves. */
const value_bytes_max = 40

export function copyText(bytes_expected: number): CopyText {
  return { bytes: Buffer.allocUnsafe(Math.max(bytes_expected, value_bytes_max)), length: 0 }
}

export function written(text: CopyText): Buffer {
  return text.bytes.subarray(0, text.length)
}

/** Makes room for one value; the writers below do not check. */
export function makeRoom(text: CopyText): void {
  if (text.length + value_bytes_max <= text.bytes.length) return
  const larger = Buffer.allocUnsafe(text.bytes.length * 2)
  text.bytes.copy(larger, 0, 0, text.length)
  text.bytes = larger
}

export function writeByte(text: CopyText, byte: number): void {
  text.bytes[text.length] = byte
  text.length += 1
}

/** A word of at most 40 ASCII characters. */
export function writeWord(text: CopyText, word: string): void {
  for (let at = 0; at < word.length; at += 1) text.bytes[text.length + at] = word.charCodeAt(at)
  text.length += word.length
}

/**
 * Writes the shortest decimal that reads back as the same double. Measurements have few decimals:
 * if n / 10^k equals the value, its digits are written directly, since IEEE 754 division rounds
 * like parsing.
 */
export function writeNumber(text: CopyText, value: number): void {
  const magnitude = value < 0 ? -value : value
  if (magnitude < 1e6) {
    for (let scale = 1, decimals = 0; decimals <= 3; scale *= 10, decimals += 1) {
      const digits = Math.round(magnitude * scale)
      if (digits / scale !== magnitude) continue
      if (value < 0) writeByte(text, minus)
      writeDecimal(text, digits, decimals)
      return
    }
  }
  writeWord(text, `${value}`)
}

/** `digits` below 2^31 with the point before the last `decimals` of them. */
function writeDecimal(text: CopyText, digits: number, decimals: number): void {
  let width = decimals + 1
  for (let limit = 10 ** width; digits >= limit; limit *= 10) width += 1
  let at = text.length + width + (decimals > 0 ? 1 : 0)
  text.length = at
  let rest = digits | 0
  for (let nth = 0; nth < width; nth += 1) {
    if (nth === decimals && decimals > 0) text.bytes[--at] = point
    const next = (rest / 10) | 0
    text.bytes[--at] = zero + rest - next * 10
    rest = next
  }
}
