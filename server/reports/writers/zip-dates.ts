const end_signature = 0x06054b50
const entry_signature = 0x02014b50
const end_bytes = 22

/**
 * Sets the date of all entries of a ZIP archive, in place, so that equal contents have equal bytes.
 * Only for archives without a comment and below 4 GB. PKWARE APPNOTE 4.3.7 and 4.3.12.
 *
 * @throws Error for other archives
 */
export function dateEntries<Bytes extends Uint8Array>(bytes: Bytes, at: Date): Bytes {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.byteLength - end_bytes
  if (end < 0 || view.getUint32(end, true) !== end_signature) throw new Error('not a ZIP archive')
  const stamp = dosDate(at)
  let entry = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    if (view.getUint32(entry, true) !== entry_signature) throw new Error('a broken ZIP archive')
    view.setUint32(entry + 12, stamp, true)
    view.setUint32(view.getUint32(entry + 42, true) + 10, stamp, true)
    const lengths = [28, 30, 32].map((offset) => view.getUint16(entry + offset, true))
    entry += 46 + lengths.reduce((sum, length) => sum + length, 0)
  }
  return bytes
}

/** MS-DOS date and time in UTC, from 1980 on, to two seconds. */
function dosDate(at: Date): number {
  const year = Math.min(Math.max(at.getUTCFullYear() - 1980, 0), 127)
  const date = (year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return ((date << 16) | time) >>> 0
}
