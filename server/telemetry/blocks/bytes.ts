/** Reads and writes the little-endian bytes of a block. */

export function byteWriter() {
  let bytes = Buffer.allocUnsafe(4096)
  let length = 0
  /** Makes room and returns the offset of `count` new bytes. */
  function reserve(count: number): number {
    if (length + count > bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (length + count))
      bytes.copy(larger, 0, 0, length)
      bytes = larger
    }
    length += count
    return length - count
  }
  function u8(value: number) {
    const at = reserve(1)
    bytes[at] = value
  }
  return {
    u8,
    /** An integer from 0 to 2^53, seven bits a byte. */
    count(value: number) {
      let rest = value
      for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) u8((rest % 128) + 128)
      for (; rest >= 128; rest >>>= 7) u8((rest & 127) | 128)
      u8(rest)
    },
    f64(value: number) {
      const at = reserve(8)
      bytes.writeDoubleLE(value, at)
    },
    text(value: string) {
      const count = Buffer.byteLength(value)
      this.count(count)
      const at = reserve(count)
      bytes.write(value, at)
    },
    /** `count` bytes, zero until they are set. */
    zeros(count: number): Uint8Array {
      const at = reserve(count)
      return bytes.subarray(at, at + count).fill(0)
    },
    /** Writes with `work` and puts the number of written bytes before them. */
    measured(work: () => void) {
      const at = reserve(4)
      work()
      bytes.writeUInt32LE(length - at - 4, at)
    },
    taken: () => bytes.subarray(0, length),
    clear() {
      length = 0
    },
  }
}
export type ByteWriter = ReturnType<typeof byteWriter>

/** @throws RangeError behind the end of the bytes */
export function byteReader(bytes: Buffer) {
  let at = 0
  const pass = (count: number) => {
    at += count
    if (at > bytes.length) throw new RangeError('the block is too short')
    return at - count
  }
  function readCount(): number {
    let value = 0
    for (let power = 1; ; power *= 128) {
      const byte = bytes[pass(1)]!
      value += (byte & 127) * power
      if (byte < 128) return value
    }
  }
  return {
    u8: () => bytes[pass(1)]!,
    count: readCount,
    /** What `measured` put before the bytes that it measured. */
    size: () => bytes.readUInt32LE(pass(4)),
    f64: () => bytes.readDoubleLE(pass(8)),
    text() {
      const count = readCount()
      const from = pass(count)
      return bytes.toString('utf8', from, at)
    },
    slice(count: number): Uint8Array {
      const from = pass(count)
      return bytes.subarray(from, at)
    },
    skip: (count: number) => void pass(count),
    isAtEnd: () => at === bytes.length,
  }
}
export type ByteReader = ReturnType<typeof byteReader>
