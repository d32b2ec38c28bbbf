/**
 * The form of a record: a group of measurements as it lies in a segment of the journal.
 *
 *     length u32 | crc32 u32 | seq f64 | at f64 | readings u32 | kind length u8 | kind | payload
 *
 * Numbers are little-endian; `length` counts what follows the checksum, which covers the same.
 */
import { crc32 } from 'node:zlib'

export interface JournalRecord {
  seq: number
  kind: string
  /** Unix ms: when it was journaled. */
  at: number
  /** How many readings the payload holds, so that a loss can be told in them. */
  readings: number
  /** JSON text. */
  payload: string
}

/** Where a record lies in its segment. */
export interface RecordPlace {
  seq: number
  at: number
  offset: number
  length: number
}

const checked_from = 8
const body_from = checked_from + 8 + 8 + 4 + 1
/** No record is shorter: zeros, as a file system leaves them behind, are no record. */
export const record_bytes_min = body_from

export function encodeRecord({ seq, kind, at, readings, payload }: JournalRecord): Buffer {
  const kind_bytes = Buffer.byteLength(kind)
  const length = body_from + kind_bytes + Buffer.byteLength(payload)
  const record = Buffer.allocUnsafe(length)
  record.writeUInt32LE(length - checked_from, 0)
  record.writeDoubleLE(seq, 8)
  record.writeDoubleLE(at, 16)
  record.writeUInt32LE(readings, 24)
  record.writeUInt8(kind_bytes, 28)
  record.write(kind, body_from)
  record.write(payload, body_from + kind_bytes)
  record.writeUInt32LE(crc32(record.subarray(checked_from)), 4)
  return record
}

/** The bytes of the whole record at the offset; null where no whole and undamaged one lies. */
export function recordLengthAt(bytes: Buffer, offset: number): number | null {
  if (offset + record_bytes_min > bytes.length) return null
  const length = bytes.readUInt32LE(offset) + checked_from
  if (length < record_bytes_min || offset + length > bytes.length) return null
  const sum = crc32(bytes.subarray(offset + checked_from, offset + length))
  return sum === bytes.readUInt32LE(offset + 4) ? length : null
}

/** The record at an offset where `recordLengthAt` found one of this length. */
export function decodeRecord(bytes: Buffer, offset: number, length: number): JournalRecord {
  const payload_from = offset + body_from + bytes.readUInt8(offset + 28)
  return {
    seq: bytes.readDoubleLE(offset + 8),
    at: bytes.readDoubleLE(offset + 16),
    readings: bytes.readUInt32LE(offset + 24),
    kind: bytes.toString('utf8', offset + body_from, payload_from),
    payload: bytes.toString('utf8', payload_from, offset + length),
  }
}

/** The records of a segment up to the first damaged byte. */
export function* recordsOf(bytes: Buffer): Generator<JournalRecord & RecordPlace> {
  let offset = 0
  for (;;) {
    const length = recordLengthAt(bytes, offset)
    if (length === null) return
    yield { ...decodeRecord(bytes, offset, length), offset, length }
    offset += length
  }
}
