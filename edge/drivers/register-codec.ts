/** Converts words of registers to numbers and texts, and back. */
import type { NumberRegister, NumberType } from './profile.ts'

export type WordOrder = 'high_first' | 'low_first'

/** Values that mean "no value": unsigned all ones; signed the lowest, or the highest. */
const absent: Readonly<Record<NumberType, readonly number[]>> = {
  u16: [0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
  u64: [2 ** 64],
}

const ranges: Readonly<Record<NumberType, readonly [min: number, max: number]>> = {
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
  u64: [0, Number.MAX_SAFE_INTEGER],
}

export function rawNumber(type: NumberType, words: Uint16Array, order: WordOrder): number {
  const high_first = order === 'high_first' ? [...words] : [...words].reverse()
  const value = high_first.reduce((sum, word) => sum * 0x1_0000 + word, 0)
  const bits = 16 * words.length
  const is_signed = type === 'i16' || type === 'i32'
  return is_signed && value >= 2 ** (bits - 1) ? value - 2 ** bits : value
}

export const isAbsent = (type: NumberType, raw: number): boolean => absent[type].includes(raw)

/** @throws RangeError for a number that the register cannot hold */
export function wordsOfNumber(
  { name, type }: Pick<NumberRegister, 'name' | 'type'>,
  raw: number,
  order: WordOrder,
): Uint16Array {
  const [min, max] = ranges[type]
  if (!Number.isInteger(raw) || raw < min || raw > max || isAbsent(type, raw)) {
    throw new RangeError(`${name} cannot hold ${raw}`)
  }
  const count = { u16: 1, i16: 1, u32: 2, i32: 2, u64: 4 }[type]
  let rest = raw < 0 ? raw + 2 ** (16 * count) : raw
  const low_first = Array.from({ length: count }, () => {
    const word = rest % 0x1_0000
    rest = Math.floor(rest / 0x1_0000)
    return word
  })
  return Uint16Array.from(order === 'low_first' ? low_first : low_first.reverse())
}

/** Text with two characters per word, up to the first zero; `null` if empty. */
export function textIn(words: Uint16Array): string | null {
  const bytes = [...words].flatMap((word) => [word >> 8, word & 0xff])
  const end = bytes.indexOf(0)
  const used = Uint8Array.from(end < 0 ? bytes : bytes.slice(0, end))
  const text = new TextDecoder('latin1').decode(used).trim()
  return text === '' || [...used].every((byte) => byte === 0xff) ? null : text
}
