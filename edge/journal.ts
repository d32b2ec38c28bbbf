/**
 * The journal: everything the edge measured or noticed, on disk before it is sent, until the
 * server has acknowledged it. Records lie in segment files named after their first sequence
 * number, in a directory named after the journal's epoch. What is appended at the same time is
 * written and fsynced as one group.
 *
 * Acknowledgements are written down now and then, without fsync: a frame that is sent again is
 * counted once.
 */
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Timers } from '@heliograph/domain/clock'
import { up_bytes_max } from '@heliograph/domain/link'
import { syncDirectory } from './durable-file.ts'
import { type Acks, acksAt } from './journal-acks.ts'
import { type Background, inBackground } from './journal-background.ts'
import type { JournalNotice } from './journal-notice.ts'
import { type WriteQueue, writeQueue } from './journal-queue.ts'
import { encodeRecord, type JournalRecord, record_bytes_min } from './journal-record.ts'
import {
  type MakingRoom,
  makingRoom,
  type Reserve,
  reserveAt,
  segmentBytes,
} from './journal-room.ts'
import {
  addRecord,
  cutSegment,
  firstSeqOf,
  indexFrom,
  lengthAt,
  loadSegment,
  lostOf,
  readRecords,
  removeSegment,
  type Segment,
  segmentAt,
  spanOf,
  writeFully,
} from './journal-segment.ts'

/** In the data directory. */
export const journal_dir = 'journal'

export interface Entry {
  kind: string
  /** JSON text. */
  payload: string
  /** How many readings it holds. */
  readings: number
}

export interface JournalNeeds {
  dir: string
  /** Of the files on disk: beyond it the oldest segment goes, acknowledged or not. */
  bytes_max: number
  /** Smaller where the disk has little room. */
  segment_bytes?: number
  clock: Clock
  timers: Timers
  /** Names a new journal, 1 to 64 of a-z, 0-9 and -; never the same twice. */
  newEpoch(): string
  onNotice(notice: JournalNotice): void
  /** Each record that was found at the start, oldest first. */
  onRecovered?(record: JournalRecord): void
  /** Acknowledgements are written down after so long; defaults to 5 s. */
  acks_saved_after_ms?: number
  /** Opens a segment for writing; tests give a disk that is full. */
  openFile?(path: string, flags: string): Promise<FileHandle>
}

interface JournalStatus {
  depth_frames: number
  depth_bytes: number
  oldest_at: number | null
  /** Why nothing can be written at present. */
  failing: string | null
}

/** What fits into a message as its only frame. */
const payload_bytes_max = up_bytes_max - 1024

/** Opens the journal of a directory, or begins one. */
export async function openJournal(needs: JournalNeeds): Promise<Journal> {
  await mkdir(needs.dir, { recursive: true, mode: 0o700 })
  const entries = await readdir(needs.dir, { withFileTypes: true })
  const epochs = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  if (epochs.length > 1) {
    throw new Error(`${needs.dir} holds ${epochs.length} journals (${epochs}); leave one there`)
  }
  const epoch = epochs[0] ?? needs.newEpoch()
  const dir = join(needs.dir, epoch)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await syncDirectory(needs.dir)
  const journal = new Journal(needs, { epoch, dir })
  await journal.recover()
  return journal
}

export class Journal {
  readonly epoch: string
  readonly #needs: JournalNeeds
  readonly #dir: string
  readonly #segment_bytes_max: number
  #segment_bytes: number
  readonly #reserve: Reserve
  readonly #makingRoom: MakingRoom
  #segments: Segment[] = []
  readonly #acked: Acks
  #next_seq = 1
  #file: FileHandle | null = null
  readonly #queue: WriteQueue<Entry, JournalRecord>
  #failing: string | null = null
  readonly #background: Background
  readonly #listeners: ((records: readonly JournalRecord[]) => void)[] = []

  constructor(needs: JournalNeeds, { epoch, dir }: { epoch: string; dir: string }) {
    this.epoch = epoch
    this.#needs = needs
    this.#dir = dir
    this.#background = inBackground((file, error) => {
      needs.onNotice({ type: 'not_removed', file, error })
    })
    const { timers, acks_saved_after_ms: saved_after_ms } = needs
    const background = this.#background
    this.#acked = acksAt(join(dir, 'acked.json'), { timers, background, saved_after_ms })
    this.#segment_bytes_max = Math.min(needs.segment_bytes ?? 4 * 2 ** 20, needs.bytes_max / 4)
    this.#segment_bytes = this.#segment_bytes_max
    this.#reserve = reserveAt(join(dir, 'reserve'), (path, flags) => this.#open(path, flags))
    this.#makingRoom = makingRoom(() => this.#giveUpOldest())
    this.#queue = writeQueue((entries) => this.#append(entries))
  }

  /** The newest sequence number that was given; 0 in a new journal. */
  get last_seq(): number {
    return this.#next_seq - 1
  }

  /** Unix ms: when the newest record was journaled; null when there is none any more. */
  get newest_at(): number | null {
    return this.#segments.findLast(({ ats }) => ats.length > 0)?.ats.at(-1) ?? null
  }

  get lowest_unacked_seq(): number {
    return this.#oldest()?.seq ?? this.#next_seq
  }

  status(): JournalStatus {
    return {
      depth_frames: this.#segments.reduce((sum, segment) => sum + segment.unacked_frames, 0),
      depth_bytes: this.#segments.reduce((sum, segment) => sum + segment.unacked_bytes, 0),
      oldest_at: this.#oldest()?.at ?? null,
      failing: this.#failing,
    }
  }

  /** Calls back with every group as soon as it is durable, before `append` resolves. */
  onDurable(listener: (records: readonly JournalRecord[]) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Resolves when the entries are on disk, on a full one in the place of the oldest segments.
   * Rejects when they cannot be written, as where these made no room; they are then lost, and later
   * ones are tried anew.
   */
  async append(entries: readonly Entry[]): Promise<JournalRecord[]> {
    if (entries.some(({ payload }) => Buffer.byteLength(payload) > payload_bytes_max)) {
      throw new RangeError(`A frame of more than ${payload_bytes_max} bytes`)
    }
    return this.#queue.append(entries)
  }

  readonly #isAcked = (seq: number) => this.#acked.has(seq)

  /** Unacknowledged records above a sequence number, oldest first: at least one if there is any. */
  async read(
    after_seq: number,
    { frames, bytes }: { frames: number; bytes: number },
  ): Promise<JournalRecord[]> {
    for (const segment of [...this.#segments]) {
      const indexes: number[] = []
      let size = 0
      for (let i = indexFrom(segment, after_seq + 1); i < segment.seqs.length; i += 1) {
        const length = lengthAt(segment, i)
        if (this.#acked.has(segment.seqs[i] ?? 0)) continue
        if (indexes.length >= frames || (indexes.length > 0 && size + length > bytes)) break
        indexes.push(i)
        size += length
      }
      const records = await this.#readRecords(segment, indexes)
      if (records.length > 0) return records
    }
    return []
  }

  /** Whether nobody needs to send it any more. */
  isDone(seq: number): boolean {
    return seq < (this.#segments[0]?.first_seq ?? 1) || this.#acked.has(seq)
  }

  /** Frees what the server has; a number that is not in the journal means nothing. */
  ack(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const segment = this.#segments.findLast(({ first_seq }) => first_seq <= seq)
      const index = segment ? indexFrom(segment, seq) : -1
      if (segment?.seqs[index] !== seq || !this.#acked.add(seq)) continue
      segment.unacked_frames -= 1
      segment.unacked_bytes -= lengthAt(segment, index)
    }
    this.#removeAcked()
    this.#acked.saveSoon()
  }

  /** Waits for what was appended, and closes the files. */
  async close(): Promise<void> {
    await this.#queue.drained()
    this.#acked.saveLast()
    await this.#background.settled()
    await this.#file?.close()
    this.#file = null
  }

  async recover(): Promise<void> {
    await this.#acked.load()
    const first_seqs = (await readdir(this.#dir))
      .map(firstSeqOf)
      .filter((seq) => seq !== null)
      .sort((a, b) => a - b)
    for (const [index, first_seq] of first_seqs.entries()) {
      await this.#recoverSegment(segmentAt(this.#dir, first_seq), first_seqs[index + 1] ?? null)
    }
    this.#next_seq = Math.max(this.#next_seq, this.#acked.highest() + 1)
    this.#removeAcked()
    await this.#background.settled()
    const active = this.#segments.at(-1)
    if (active) {
      await this.#sizeSegments()
      this.#file = await this.#open(active.path, 'r+')
    } else await this.#beginSegment()
    await this.#keepReserve()
  }

  async #recoverSegment(segment: Segment, next_first_seq: number | null): Promise<void> {
    const beyond = await loadSegment(segment, this.#isAcked, this.#needs.onRecovered)
    this.#segments.push(segment)
    const last_good_seq = segment.seqs.at(-1) ?? segment.first_seq - 1
    // The server may have some of what is cut off, under numbers that must not be used again.
    this.#next_seq = last_good_seq + 1 + Math.ceil(beyond / record_bytes_min)
    if (beyond === 0) return
    await cutSegment(segment)
    const frames = next_first_seq === null ? null : next_first_seq - 1 - last_good_seq
    this.#needs.onNotice({ type: 'cut', file: segment.path, bytes: beyond, last_good_seq, frames })
  }

  async #append(entries: readonly Entry[]): Promise<JournalRecord[]> {
    try {
      const bytes = entries.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0)
      const records = await this.#makingRoom(bytes, () => this.#write(entries))
      await this.#keepReserve()
      this.#failing = null
      for (const listener of this.#listeners) listener(records)
      return records
    } catch (error) {
      this.#failing = (error as Error).message
      throw error
    }
  }

  async #write(entries: readonly Entry[]): Promise<JournalRecord[]> {
    const at = this.#needs.clock.now().getTime()
    const active = await this.#writable()
    const records = entries.map((entry, index) => ({ ...entry, at, seq: this.#next_seq + index }))
    const encoded = records.map(encodeRecord)
    const bytes = Buffer.concat(encoded)
    await this.#keepWithinBound(bytes.length)
    try {
      await writeFully(this.#file!, bytes, active.bytes)
      await this.#file!.datasync()
    } catch (error) {
      // What the failed write left behind is cut off before the next one.
      await this.#file?.close().catch(() => {})
      this.#file = null
      throw error
    }
    for (const [index, { seq }] of records.entries()) {
      const length = encoded[index]!.length
      addRecord(active, { seq, at, offset: active.bytes, length })
    }
    this.#next_seq += records.length
    return records
  }

  /** The segment to write to: sound, and with room. */
  async #writable(): Promise<Segment> {
    const active = this.#segments.at(-1)
    if (active && active.bytes < this.#segment_bytes) {
      if (!this.#file) {
        await cutSegment(active)
        this.#file = await this.#open(active.path, 'r+')
      }
      return active
    }
    return this.#beginSegment()
  }

  async #beginSegment(): Promise<Segment> {
    const before = this.#segments.at(-1)
    if (before && !this.#file) await cutSegment(before)
    const segment = segmentAt(this.#dir, this.#next_seq)
    await this.#sizeSegments()
    const file = await this.#open(segment.path, 'w')
    await syncDirectory(this.#dir).catch(async (error) => {
      await file.close()
      throw error
    })
    const file_before = this.#file
    this.#file = file
    this.#segments.push(segment)
    this.#removeAcked()
    await file_before?.close()
    return segment
  }

  async #sizeSegments(): Promise<void> {
    const [held_bytes, bytes_max] = [this.#heldBytes(), this.#segment_bytes_max]
    this.#segment_bytes = await segmentBytes(this.#dir, { held_bytes, bytes_max })
  }

  #heldBytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0)
  }

  /** Drops the oldest segments until so many bytes more keep within the bound. */
  async #keepWithinBound(bytes: number): Promise<void> {
    const is_over = () => this.#heldBytes() + bytes > this.#needs.bytes_max
    while (this.#segments.length > 1 && is_over()) await this.#dropOldest()
  }

  /** On a full disk, of which others may take the most: how many bytes that made free, if any. */
  async #giveUpOldest(): Promise<number> {
    const [oldest, next] = this.#segments
    if (!oldest || (!next && oldest.bytes === 0)) return 0
    if (!next) {
      await this.#reserve.release()
      await this.#beginSegment()
    }
    if (this.#segments[0] === oldest) await this.#dropOldest()
    await this.#background.settled()
    return Math.max(oldest.bytes, 1)
  }

  async #dropOldest(): Promise<void> {
    const oldest = this.#segments[0]!
    const lost = await lostOf(oldest, this.#isAcked)
    this.#segments.shift()
    this.#acked.dropBelow(this.#segments[0]?.first_seq ?? this.#next_seq)
    this.#background.run(oldest.path, () => removeSegment(oldest))
    if (lost.frames > 0) this.#needs.onNotice({ type: 'dropped', ...lost })
  }

  /** Told once where there is no room for it, and tried again with the next write. */
  async #keepReserve(): Promise<void> {
    if (this.#reserve.is_kept) return
    this.#background.run(this.#reserve.path, () => this.#reserve.keep())
    await this.#background.settled()
  }

  async #readRecords(segment: Segment, indexes: readonly number[]): Promise<JournalRecord[]> {
    let records: (JournalRecord | null)[]
    try {
      records = await readRecords(segment, indexes)
    } catch (error) {
      if (this.#segments.includes(segment)) throw error
      return []
    }
    for (const [nth, record] of records.entries()) {
      if (record) continue
      const lost = spanOf(segment, [indexes[nth] ?? 0])
      this.#needs.onNotice({ type: 'damaged', ...lost, frames: 1, readings: null })
      this.ack([lost.first_seq])
    }
    return records.filter((record) => record !== null)
  }

  /** All but the newest segment may go: its name keeps the sequence going. */
  #removeAcked(): void {
    const active = this.#segments.at(-1)
    const done = this.#segments.filter((s) => s !== active && s.unacked_frames === 0)
    if (done.length === 0) return
    this.#segments = this.#segments.filter((segment) => !done.includes(segment))
    this.#acked.dropBelow(this.#segments[0]?.first_seq ?? this.#next_seq)
    for (const segment of done) this.#background.run(segment.path, () => removeSegment(segment))
  }

  #oldest(): { seq: number; at: number } | null {
    const segment = this.#segments.find(({ unacked_frames }) => unacked_frames > 0)
    const index = segment?.seqs.findIndex((seq) => !this.#acked.has(seq)) ?? -1
    return segment && index >= 0 ? { seq: segment.seqs[index]!, at: segment.ats[index]! } : null
  }

  #open(path: string, flags: string): Promise<FileHandle> {
    return this.#needs.openFile?.(path, flags) ?? open(path, flags, 0o600)
  }
}
