/** Converts words of registers to numbers and texts, and back. */
import type { NumberRegister, NumberType, WordOrder } from '@heliograph/domain/profile'

/** Values that mean "no value": unsigned all ones; signed the lowest, or the highest. */
const absent: Readonly<Record<NumberType, readonly number[]>> = {
  u16: [0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
  u64: [2 ** 64],
  i64: [-(2 ** 63), 2 ** 63],
  f32: [],
  f64: [],
  bcd16: [],
  bcd32: [],
}

type Coded = Pick<NumberRegister, 'type' | 'word_order' | 'swap_bytes'>

/** NaN for words that are no number of the type: the "not implemented" of floats and BCD. */
export function rawNumber(
  { type, word_order, swap_bytes = false }: Coded,
  words: Uint16Array,
  order: WordOrder,
): number {
  const high_first = (word_order ?? order) === 'high_first' ? [...words] : [...words].reverse()
  const view = new DataView(new ArrayBuffer(2 * words.length))
  for (const [nth, word] of high_first.entries()) view.setUint16(2 * nth, word, swap_bytes)
  switch (type) {
    case 'u16':
      return view.getUint16(0)
    case 'i16':
      return view.getInt16(0)
    case 'u32':
      return view.getUint32(0)
    case 'i32':
      return view.getInt32(0)
    case 'u64':
      return Number(view.getBigUint64(0))
    case 'i64':
      return Number(view.getBigInt64(0))
    case 'f32':
      return view.getFloat32(0)
    case 'f64':
      return view.getFloat64(0)
    case 'bcd16':
      return decimalOf(view.getUint16(0))
    case 'bcd32':
      return decimalOf(view.getUint32(0))
  }
}

/** The decimal digits of a BCD number; NaN with a digit above 9. */
function decimalOf(bcd: number): number {
  const digits = bcd.toString(16)
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN
}

export const isAbsent = (type: NumberType, raw: number): boolean =>
  !Number.isFinite(raw) || absent[type].includes(raw)

/** @throws RangeError for a number that the register cannot hold */
export function wordsOfNumber(
  { name, type, word_order, swap_bytes = false }: Coded & { name: string },
  raw: number,
  order: WordOrder,
): Uint16Array {
  const view = viewOf(type, raw)
  const words = Uint16Array.from({ length: view.byteLength / 2 }, (_, nth) =>
    view.getUint16(2 * nth, swap_bytes),
  )
  if ((word_order ?? order) === 'low_first') words.reverse()
  const is_held = rawNumber({ type, swap_bytes }, words, word_order ?? order) === raw
  if (!is_held || isAbsent(type, raw)) throw new RangeError(`${name} cannot hold ${raw}`)
  return words
}

function viewOf(type: NumberType, raw: number): DataView {
  const view = new DataView(new ArrayBuffer(8))
  const whole = Number.isSafeInteger(raw) ? raw : 0
  switch (type) {
    case 'u16':
    case 'i16':
      view.setInt16(0, whole)
      return new DataView(view.buffer, 0, 2)
    case 'u32':
    case 'i32':
      view.setInt32(0, whole)
      return new DataView(view.buffer, 0, 4)
    case 'u64':
    case 'i64':
      view.setBigInt64(0, BigInt(whole))
      return view
    case 'f32':
      view.setFloat32(0, raw)
      return new DataView(view.buffer, 0, 4)
    case 'f64':
      view.setFloat64(0, raw)
      return view
    case 'bcd16':
      view.setUint16(0, Number.parseInt(String(whole), 16))
      return new DataView(view.buffer, 0, 2)
    case 'bcd32':
      view.setUint32(0, Number.parseInt(String(whole), 16))
      return new DataView(view.buffer, 0, 4)
  }
}

/** Text with two characters per word, up to the first zero; `null` if empty. */
export function textIn(words: Uint16Array): string | null {
  const bytes = [...words].flatMap((word) => [word >> 8, word & 0xff])
  const end = bytes.indexOf(0)
  const used = Uint8Array.from(end < 0 ? bytes : bytes.slice(0, end))
  const text = new TextDecoder('latin1').decode(used).trim()
  return text === '' || [...used].every((byte) => byte === 0xff) ? null : text
}
