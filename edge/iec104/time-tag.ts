/** The time tag CP56Time2a (IEC 60870-5-4, 6.8), in UTC. */

export const time_tag_bytes = 7

/** Unix ms; null for a tag that is marked invalid or names no instant. */
export function readTimeTag(bytes: Uint8Array, offset: number): number | null {
  const byte = (nth: number) => bytes[offset + nth]!
  const milliseconds = byte(0) | (byte(1) << 8)
  const minute = byte(2) & 0x3f
  const is_invalid = (byte(2) & 0x80) !== 0
  const hour = byte(3) & 0x1f
  const is_summer_time = (byte(3) & 0x80) !== 0
  const day = byte(4) & 0x1f
  const month = byte(5) & 0x0f
  const year = byte(6) & 0x7f
  if (is_invalid || milliseconds > 59_999 || minute > 59 || hour > 23) return null
  if (day < 1 || month < 1 || month > 12 || year > 99) return null
  const at = new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, 0, milliseconds))
  // 31 June names no day.
  if (at.getUTCDate() !== day) return null
  return is_summer_time ? at.getTime() - 3_600_000 : at.getTime()
}

/** @param at Unix ms in the years 2000 to 2099; null marks the tag as invalid */
export function writeTimeTag(bytes: Uint8Array, offset: number, at: number | null): void {
  const time = new Date(at ?? Date.UTC(2000, 0, 1))
  const milliseconds = time.getUTCSeconds() * 1000 + time.getUTCMilliseconds()
  // Monday is 1 and Sunday 7.
  const weekday = time.getUTCDay() || 7
  bytes[offset] = milliseconds & 0xff
  bytes[offset + 1] = milliseconds >> 8
  bytes[offset + 2] = time.getUTCMinutes() | (at === null ? 0x80 : 0)
  bytes[offset + 3] = time.getUTCHours()
  bytes[offset + 4] = time.getUTCDate() | (weekday << 5)
  bytes[offset + 5] = time.getUTCMonth() + 1
  bytes[offset + 6] = time.getUTCFullYear() - 2000
}
