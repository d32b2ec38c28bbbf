/** A file of the journal: records one after the other, and where each of them lies. */
import { type FileHandle, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { firstIndex } from '@heliograph/domain/first-index'
import type { Lost } from './journal-notice.ts'
import {
  decodeRecord,
  type JournalRecord,
  type RecordPlace,
  recordLengthAt,
  recordsOf,
} from './journal-record.ts'

export interface Segment {
  path: string
  first_seq: number
  /** Bytes of whole records; what lies beyond is the rest of a write that failed. */
  bytes: number
  /** Parallel and ascending by seq: a year of outage must fit into memory. */
  seqs: number[]
  offsets: number[]
  ats: number[]
  unacked_frames: number
  unacked_bytes: number
}

const name_pattern = /^(\d{16})\.journal$/

export function segmentAt(dir: string, first_seq: number): Segment {
  const path = join(dir, `${String(first_seq).padStart(16, '0')}.journal`)
  const empty = { bytes: 0, seqs: [], offsets: [], ats: [], unacked_frames: 0, unacked_bytes: 0 }
  return { path, first_seq, ...empty }
}

/** The first sequence number of the segment in a file of this name; null for another file. */
export function firstSeqOf(name: string): number | null {
  const digits = name_pattern.exec(name)?.[1]
  return digits === undefined ? null : Number(digits)
}

export function addRecord(
  segment: Segment,
  { seq, at, offset, length }: RecordPlace,
  is_acked = false,
): void {
  segment.seqs.push(seq)
  segment.offsets.push(offset)
  segment.ats.push(at)
  segment.bytes = offset + length
  if (is_acked) return
  segment.unacked_frames += 1
  segment.unacked_bytes += length
}

export function lengthAt(segment: Segment, index: number): number {
  return (segment.offsets[index + 1] ?? segment.bytes) - (segment.offsets[index] ?? 0)
}

/** The index of the first record at or above the sequence number; the count when there is none. */
export const indexFrom = ({ seqs }: Segment, seq: number): number =>
  firstIndex(seqs.length, (index) => seqs[index]! >= seq)

/** The numbers and instants of the first and the last of these records. */
export function spanOf({ first_seq, seqs, ats }: Segment, indexes: readonly number[]) {
  const [first, last] = [indexes[0] ?? 0, indexes.at(-1) ?? 0]
  return {
    first_seq: seqs[first] ?? first_seq,
    last_seq: seqs[last] ?? first_seq,
    from_at: ats[first] ?? 0,
    to_at: ats[last] ?? 0,
  }
}

/** Reads a segment file up to its first damaged byte, and gives how many bytes lie beyond. */
export async function loadSegment(
  segment: Segment,
  isAcked: (seq: number) => boolean,
  onRecord: ((record: JournalRecord) => void) | undefined,
): Promise<number> {
  const bytes = await readFile(segment.path)
  for (const record of recordsOf(bytes)) {
    addRecord(segment, record, isAcked(record.seq))
    onRecord?.(record)
  }
  return bytes.length - segment.bytes
}

export async function cutSegment(segment: Segment): Promise<void> {
  const file = await open(segment.path, 'r+')
  try {
    await file.truncate(segment.bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The records at the given indexes; null for one that is damaged by now. */
export async function readRecords(
  segment: Segment,
  indexes: readonly number[],
): Promise<(JournalRecord | null)[]> {
  const first = indexes[0]
  const last = indexes.at(-1)
  if (first === undefined || last === undefined) return []
  const from = segment.offsets[first] ?? 0
  const bytes = Buffer.alloc((segment.offsets[last] ?? 0) + lengthAt(segment, last) - from)
  const file = await open(segment.path, 'r')
  try {
    await file.read(bytes, 0, bytes.length, from)
  } finally {
    await file.close()
  }
  return indexes.map((index) => {
    const offset = (segment.offsets[index] ?? 0) - from
    const length = recordLengthAt(bytes, offset)
    return length === lengthAt(segment, index) ? decodeRecord(bytes, offset, length) : null
  })
}

/** What goes with a segment that the server does not have all of. */
export async function lostOf(segment: Segment, isAcked: (seq: number) => boolean): Promise<Lost> {
  const indexes = [...segment.seqs.keys()]
  const records = await readRecords(segment, indexes).catch(() => null)
  const open = indexes.filter((index) => !isAcked(segment.seqs[index] ?? 0))
  return {
    ...spanOf(segment, open),
    frames: open.length,
    readings: records && open.reduce((sum, index) => sum + (records[index]?.readings ?? 0), 0),
  }
}

/** Removes the file of a segment; one that is gone already is as good. */
export async function removeSegment({ path }: Segment): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

export async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
