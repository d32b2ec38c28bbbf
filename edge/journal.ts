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
import { message_bytes_max } from '@heliograph/domain/link'
import { syncDirectory } from './durable-file.ts'
import { type Background, inBackground } from './journal-background.ts'
import type { JournalNotice } from './journal-notice.ts'
import { encodeRecord, type JournalRecord, record_bytes_min } from './journal-record.ts'
import {
  addRecord,
  cutSegment,
  firstSeqOf,
  indexFrom,
  lengthAt,
  loadSegment,
  readRecords,
  removeSegment,
  type Segment,
  segmentAt,
  spanOf,
  writeFully,
} from './journal-segment.ts'
import { readRanges, type SeqRanges, seqRanges, writeRanges } from './seq-ranges.ts'

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
  segment_bytes?: number
  clock: Clock
  timers: Timers
  /** Names a new journal, 1 to 64 of a-z, 0-9 and -; never the same twice. */
  newEpoch(): string
  onNotice(notice: JournalNotice): void
  /** Each record that was found at the start, oldest first. */
  onRecovered?(record: JournalRecord): void
  /** Opens a segment for writing; tests give a disk that is full. */
  openFile?(path: string, flags: string): Promise<FileHandle>
}

export interface JournalStatus {
  depth_frames: number
  depth_bytes: number
  oldest_at: number | null
  /** Why nothing can be written at present. */
  failing: string | null
}

interface Group {
  entries: readonly Entry[]
  resolve(records: JournalRecord[]): void
  reject(error: unknown): void
}

const acks_written_ms = 5000
/** What fits into a message as its only frame. */
const payload_bytes_max = message_bytes_max - 1024

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
  readonly #segment_bytes: number
  #segments: Segment[] = []
  #acked: SeqRanges = seqRanges()
  #next_seq = 1
  #file: FileHandle | null = null
  #queue: Group[] = []
  #drained: Promise<void> | null = null
  #failing: string | null = null
  #unacked_frames = 0
  #unacked_bytes = 0
  #cancelAckWrite: (() => void) | null = null
  readonly #background: Background
  readonly #listeners: ((records: readonly JournalRecord[]) => void)[] = []

  constructor(needs: JournalNeeds, { epoch, dir }: { epoch: string; dir: string }) {
    this.epoch = epoch
    this.#needs = needs
    this.#dir = dir
    this.#background = inBackground((file, error) => {
      needs.onNotice({ type: 'not_removed', file, error })
    })
    this.#segment_bytes = Math.min(needs.segment_bytes ?? 4 * 2 ** 20, needs.bytes_max / 4)
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
      depth_frames: this.#unacked_frames,
      depth_bytes: this.#unacked_bytes,
      oldest_at: this.#oldest()?.at ?? null,
      failing: this.#failing,
    }
  }

  /** Calls back with every group as soon as it is durable, before `append` resolves. */
  onDurable(listener: (records: readonly JournalRecord[]) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Resolves when the entries are on disk. Rejects when they cannot be written, as on a full disk;
   * they are then lost, and later ones are tried anew.
   */
  append(entries: readonly Entry[]): Promise<JournalRecord[]> {
    return new Promise((resolve, reject) => {
      if (entries.some(({ payload }) => Buffer.byteLength(payload) > payload_bytes_max)) {
        return reject(new RangeError(`A frame of more than ${payload_bytes_max} bytes`))
      }
      this.#queue.push({ entries, resolve, reject })
      this.#drained ??= this.#drain()
    })
  }

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
      segment.unacked -= 1
      this.#unacked_frames -= 1
      this.#unacked_bytes -= lengthAt(segment, index)
    }
    this.#removeAcked()
    this.#cancelAckWrite ??= this.#needs.timers.after(acks_written_ms, () => {
      this.#cancelAckWrite = null
      this.#saveAcks()
    })
  }

  /** Waits for what was appended, and closes the files. */
  async close(): Promise<void> {
    await this.#drained
    this.#cancelAckWrite?.()
    this.#cancelAckWrite = null
    this.#saveAcks()
    await this.#background.settled()
    await this.#file?.close()
    this.#file = null
  }

  async recover(): Promise<void> {
    this.#acked = await readRanges(this.#ackFile)
    const first_seqs = (await readdir(this.#dir))
      .map(firstSeqOf)
      .filter((seq) => seq !== null)
      .sort((a, b) => a - b)
    for (const [index, first_seq] of first_seqs.entries()) {
      await this.#recoverSegment(segmentAt(this.#dir, first_seq), first_seqs[index + 1] ?? null)
    }
    this.#next_seq = Math.max(this.#next_seq, (this.#acked.list().at(-1)?.[1] ?? 0) + 1)
    this.#removeAcked()
    await this.#background.settled()
    const active = this.#segments.at(-1)
    if (active) this.#file = await this.#open(active.path, 'r+')
    else await this.#beginSegment()
  }

  async #recoverSegment(segment: Segment, next_first_seq: number | null): Promise<void> {
    const beyond = await loadSegment(segment, (record) => {
      this.#needs.onRecovered?.(record)
      if (this.#acked.has(record.seq)) return
      segment.unacked += 1
      this.#unacked_frames += 1
      this.#unacked_bytes += record.length
    })
    this.#segments.push(segment)
    const last_good_seq = segment.seqs.at(-1) ?? segment.first_seq - 1
    // The server may have some of what is cut off, under numbers that must not be used again.
    this.#next_seq = last_good_seq + 1 + Math.ceil(beyond / record_bytes_min)
    if (beyond === 0) return
    await cutSegment(segment)
    const frames = next_first_seq === null ? null : next_first_seq - 1 - last_good_seq
    this.#needs.onNotice({ type: 'cut', file: segment.path, bytes: beyond, last_good_seq, frames })
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const groups = this.#queue
      this.#queue = []
      try {
        const records = await this.#write(groups.flatMap(({ entries }) => entries))
        for (const listener of this.#listeners) listener(records)
        for (const { entries, resolve } of groups) resolve(records.splice(0, entries.length))
      } catch (error) {
        this.#failing = (error as Error).message
        for (const { reject } of groups) reject(error)
      }
    }
    this.#drained = null
  }

  async #write(entries: readonly Entry[]): Promise<JournalRecord[]> {
    const at = this.#needs.clock.now().getTime()
    const active = await this.#writable()
    const records = entries.map((entry, index) => ({ ...entry, at, seq: this.#next_seq + index }))
    const encoded = records.map(encodeRecord)
    const bytes = Buffer.concat(encoded)
    await this.#makeRoom(bytes.length)
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
    active.unacked += records.length
    this.#unacked_frames += records.length
    this.#unacked_bytes += bytes.length
    this.#next_seq += records.length
    this.#failing = null
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
    if (active && !this.#file) await cutSegment(active)
    return this.#beginSegment()
  }

  async #beginSegment(): Promise<Segment> {
    const segment = segmentAt(this.#dir, this.#next_seq)
    const file = await this.#open(segment.path, 'w')
    // Kept at once: where the rest fails, the next attempt closes it.
    await this.#file?.close()
    this.#file = file
    await syncDirectory(this.#dir)
    this.#segments.push(segment)
    this.#removeAcked()
    return segment
  }

  /** Drops the oldest segments until so many bytes more keep within the bound. */
  async #makeRoom(bytes: number): Promise<void> {
    const size = () => this.#segments.reduce((sum, segment) => sum + segment.bytes, 0)
    while (this.#segments.length > 1 && size() + bytes > this.#needs.bytes_max) {
      const [oldest] = this.#segments as [Segment, ...Segment[]]
      const lost = await this.#unackedOf(oldest)
      this.#segments.shift()
      this.#unacked_frames -= lost.frames
      this.#unacked_bytes -= lost.bytes
      this.#acked.dropBelow(this.#segments[0]?.first_seq ?? this.#next_seq)
      this.#background.run(oldest.path, () => removeSegment(oldest))
      const { bytes: _, ...what } = lost
      if (what.frames > 0) this.#needs.onNotice({ type: 'dropped', ...what })
    }
  }

  async #unackedOf(segment: Segment) {
    const indexes = [...segment.seqs.keys()]
    const records = await readRecords(segment, indexes).catch(() => null)
    const open = indexes.filter((index) => !this.#acked.has(segment.seqs[index] ?? 0))
    return {
      ...spanOf(segment, open),
      frames: open.length,
      bytes: open.reduce((sum, index) => sum + lengthAt(segment, index), 0),
      readings: records && open.reduce((sum, index) => sum + (records[index]?.readings ?? 0), 0),
    }
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
    const done = this.#segments.filter((s) => s !== active && s.unacked === 0)
    if (done.length === 0) return
    this.#segments = this.#segments.filter((segment) => !done.includes(segment))
    this.#acked.dropBelow(this.#segments[0]?.first_seq ?? this.#next_seq)
    for (const segment of done) this.#background.run(segment.path, () => removeSegment(segment))
  }

  #oldest(): { seq: number; at: number } | null {
    const segment = this.#segments.find(({ unacked }) => unacked > 0)
    const index = segment?.seqs.findIndex((seq) => !this.#acked.has(seq)) ?? -1
    return segment && index >= 0 ? { seq: segment.seqs[index]!, at: segment.ats[index]! } : null
  }

  #open(path: string, flags: string): Promise<FileHandle> {
    return this.#needs.openFile?.(path, flags) ?? open(path, flags, 0o600)
  }

  #saveAcks(): void {
    this.#background.run(this.#ackFile, () => writeRanges(this.#ackFile, this.#acked))
  }

  get #ackFile(): string {
    return join(this.#dir, 'acked.json')
  }
}
