/** The register types of SunSpec: storage, range, and "not implemented" value. */
import type { PointType } from './point.ts'

export type IntegerType = Exclude<PointType, 'float32' | 'pad' | `string${number}`>

interface Integer {
  get(view: DataView, at: number): number
  set(view: DataView, at: number, value: number): void
  min: number
  max: number
  /** Raw values that mean "not implemented"; the first is the one to write. */
  absent: readonly number[]
}

const int16 = {
  get: (view: DataView, at: number) => view.getInt16(at),
  set: (view: DataView, at: number, value: number) => view.setInt16(at, value),
}
const uint16 = {
  get: (view: DataView, at: number) => view.getUint16(at),
  set: (view: DataView, at: number, value: number) => view.setUint16(at, value),
}
const int32 = {
  get: (view: DataView, at: number) => view.getInt32(at),
  set: (view: DataView, at: number, value: number) => view.setInt32(at, value),
}
const uint32 = {
  get: (view: DataView, at: number) => view.getUint32(at),
  set: (view: DataView, at: number, value: number) => view.setUint32(at, value),
}
/** All bits set reads as 2^64, which 64 bits do not hold. */
const uint64 = {
  get: (view: DataView, at: number) => Number(view.getBigUint64(at)),
  set: (view: DataView, at: number, value: number) =>
    view.setBigUint64(at, value < 2 ** 64 ? BigInt(value) : 2n ** 64n - 1n),
}

/**
 * A bit field with its highest bit set is not valid as a whole, so its range ends below that bit.
 * The standard writes a counter at 0 as "not implemented". A counter with all bits set may mean the
 * same and is refused. 64-bit counters are accepted up to the largest exact number.
 */
export const integers: Readonly<Record<IntegerType, Integer>> = {
  int16: { ...int16, min: -0x7fff, max: 0x7fff, absent: [-0x8000] },
  uint16: { ...uint16, min: 0, max: 0xfffe, absent: [0xffff] },
  count: { ...uint16, min: 0, max: 0xfffe, absent: [0xffff] },
  enum16: { ...uint16, min: 0, max: 0xfffe, absent: [0xffff] },
  bitfield16: { ...uint16, min: 0, max: 0x7fff, absent: [0xffff, 0x8000] },
  sunssf: { ...int16, min: -10, max: 10, absent: [-0x8000] },
  int32: { ...int32, min: -0x7fff_ffff, max: 0x7fff_ffff, absent: [-0x8000_0000] },
  uint32: { ...uint32, min: 0, max: 0xffff_fffe, absent: [0xffff_ffff] },
  bitfield32: { ...uint32, min: 0, max: 0x7fff_ffff, absent: [0xffff_ffff, 0x8000_0000] },
  acc32: { ...uint32, min: 0, max: 0xffff_fffe, absent: [0] },
  uint64: { ...uint64, min: 0, max: Number.MAX_SAFE_INTEGER, absent: [2 ** 64] },
  acc64: { ...uint64, min: 0, max: Number.MAX_SAFE_INTEGER, absent: [0] },
}

export function isIntegerType(type: PointType): type is IntegerType {
  return Object.hasOwn(integers, type)
}

/** No quantity of these models comes near this value in its unit. */
export const magnitude_max = 1e15

/**
 * Text up to the first NUL, trimmed; `null` if empty, `undefined` if the bytes are not text (UTF-8
 * without control characters).
 */
export function readText(
  view: DataView,
  at: number,
  byte_count: number,
): string | null | undefined {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at, byte_count)
  const end = bytes.indexOf(0)
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const text = decoder.decode(end < 0 ? bytes : bytes.subarray(0, end)).trim()
    if (/\p{Cc}/u.test(text)) return undefined
    return text === '' ? null : text
  } catch {
    return undefined
  }
}

/** Writes text padded with NULs. Returns false if it does not fit. */
export function writeText(view: DataView, at: number, byte_count: number, text: string): boolean {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > byte_count) return false
  new Uint8Array(view.buffer, view.byteOffset + at, byte_count).set(bytes)
  return true
}
