/**
 * The control log on disk: never rewritten, a file a day, kept for 400 days. What announces a write
 * to a device is on disk before that write; the rest follows each second. When the disk takes
 * nothing, entries wait in memory, as many as that bears, and orders are told so at once.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Timers } from '@heliograph/domain/clock'
import { syncDirectory } from '../durable-file.ts'
import type { ControlEntry, ControlLog } from './control-entry.ts'
import {
  type ChainEnd,
  dayOf,
  type LogFile,
  lineOf,
  logFiles,
  nameOf,
  no_chain,
  readLine,
  readLog,
} from './control-log-file.ts'
import { ControlState } from './control-state.ts'

interface DiskLogNeeds {
  dir: string
  timers: Timers
  /** null: it is written again. Once for each change. */
  onFailing(error: Error | null): void
}

export interface DiskLog extends ControlLog {
  close(): Promise<void>
}

export const kept_days = 400
const flush_ms = 1000
/** About 20 MB: hours of a large site that is held, minutes of one that is switched often. */
const waiting_max = 100_000

/** Who writes one of these waits until it is on disk. */
const awaited = new Set<ControlEntry['is']>([
  ...(['row', 'order', 'pcs_order'] as const),
  ...(['forgotten', 'disconnected', 'pcs_disconnected'] as const),
])

/** A file that goes on: what is in it, and where its next line begins. */
interface Tail {
  file: LogFile
  bytes: number
}

interface Waiting {
  entry: ControlEntry
  /** Who waits until it is on disk. */
  settle?: PromiseWithResolvers<void>
}

/**
 * What cannot be read of it is left as it lies, for the proof to name, and a new file begins.
 *
 * @throws {Error} where the directory cannot be read or made
 */
export async function openControlLog(needs: DiskLogNeeds): Promise<DiskLog> {
  await mkdir(needs.dir, { recursive: true, mode: 0o700 })
  const state = new ControlState()
  const files = await logFiles(needs.dir)
  const newest = files.at(-1)
  if (!newest) return new Writer(needs, { tail: null, end: no_chain, state })
  const { end, bytes } = await readTail(needs.dir, newest, state)
  const is_finished = bytes === null || newest.name.endsWith('.gz')
  const from = { tail: { file: newest, bytes: bytes ?? 0 }, is_finished }
  if (end.nth > 0) return new Writer(needs, { ...from, end, state })
  // A power cut may leave a file without any line: then what counts stands in those before.
  for (const file of files.slice(0, -1).reverse()) {
    const before = await readTail(needs.dir, file, state)
    if (before.end.nth > 0) return new Writer(needs, { ...from, end: before.end, state })
  }
  return new Writer(needs, { ...from, end, state })
}

/** `bytes` of whole lines; null where the file cannot be read. */
async function readTail(
  dir: string,
  file: LogFile,
  state: ControlState,
): Promise<{ end: ChainEnd; bytes: number | null }> {
  let end = no_chain
  let bytes = 0
  try {
    const text = await readLog(dir, file)
    for (const line of text.split('\n').slice(0, -1)) {
      const read = readLine(line, null)
      if (read.entry) state.take(read.entry)
      end = read.end ?? end
      bytes += Buffer.byteLength(line) + 1
    }
  } catch {
    return { end: no_chain, bytes: null }
  }
  return { end, bytes }
}

class Writer implements DiskLog {
  readonly #needs: DiskLogNeeds
  readonly #state: ControlState
  #tail: Tail | null
  #end: ChainEnd
  /** Open at `#tail`. */
  #file: FileHandle | null = null
  /** The tail takes no more lines. */
  #is_finished: boolean
  #waiting: Waiting[] = []
  #lost = 0
  #flushing: Promise<void> | null = null
  #finishing: Promise<void> = Promise.resolve()
  #is_failing = false
  #is_closed = false
  #cancel = () => {}

  constructor(
    needs: DiskLogNeeds,
    from: { tail: Tail | null; end: ChainEnd; state: ControlState; is_finished?: boolean },
  ) {
    this.#needs = needs
    this.#tail = from.tail
    this.#end = from.end
    this.#state = from.state
    this.#is_finished = from.is_finished ?? false
    this.#plan()
  }

  /**
   * Of an order, and of what an operator asked for: rejects when it is not on disk, and keeps it to
   * be written later all the same. What an operator asked for may be given again until it resolves.
   */
  write(entry: ControlEntry): void | Promise<void> {
    if (this.#waiting.length >= waiting_max) {
      this.#waiting.shift()?.settle?.reject(new Error('the control log cannot be written'))
      this.#lost += 1
    }
    if (!awaited.has(entry.is)) {
      this.#waiting.push({ entry })
      return
    }
    let one = this.#waiting.find((other) => isSameRequest(other.entry, entry))
    if (!one) {
      one = { entry }
      this.#waiting.push(one)
    }
    one.settle ??= Promise.withResolvers()
    void this.#flush()
    return one.settle.promise
  }

  async close(): Promise<void> {
    this.#is_closed = true
    this.#cancel()
    await this.#flushing
    await this.#flush()
    await this.#finishing
    await this.#file?.close()
    this.#file = null
  }

  #plan(): void {
    this.#cancel = this.#needs.timers.after(flush_ms, () => {
      void this.#flush().then(() => {
        if (!this.#is_closed) this.#plan()
      })
    })
  }

  /** All that waits when it begins, and what came meanwhile after it. Never rejects. */
  #flush(): Promise<void> {
    this.#flushing ??= Promise.resolve()
      .then(() => this.#drain())
      .finally(() => {
        this.#flushing = null
        // One that came when this had just found nothing more.
        if (this.#waiting.some(({ settle }) => settle)) void this.#flush()
      })
    return this.#flushing
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#writeDay()
      if (this.#is_failing) this.#needs.onFailing(null)
      this.#is_failing = false
    } catch (error) {
      await this.#file?.close().catch(() => {})
      this.#file = null
      for (const { settle } of this.#waiting) settle?.reject(error as Error)
      this.#waiting = this.#waiting.map(({ entry }) => ({ entry }))
      if (!this.#is_failing) this.#needs.onFailing(error as Error)
      this.#is_failing = true
    }
  }

  /** Writes what waits of one day, as a whole; throws where it cannot, and nothing is written. */
  async #writeDay(): Promise<void> {
    const day = dayOf(this.#waiting[0]!.entry.at)
    const until = this.#waiting.findIndex(({ entry }) => dayOf(entry.at) !== day)
    const batch = this.#waiting.slice(0, until === -1 ? undefined : until)
    const { at } = batch[0]!.entry
    const tail = await this.#tailFor(day)
    const before: ControlEntry[] = []
    if (tail.bytes === 0) before.push({ at, is: 'carried', entries: this.#state.carried(at) })
    const lost = this.#lost
    if (lost > 0) before.push({ at, is: 'lost', entries: lost })
    const entries = [...before, ...batch.map(({ entry }) => entry)]
    let end = this.#end
    const text = entries
      .map((entry) => {
        const next = lineOf(entry, end)
        end = next.end
        return next.line
      })
      .join('')
    await this.#append(tail, text)
    this.#end = end
    this.#lost -= lost
    this.#waiting.splice(0, batch.length)
    for (const entry of entries) this.#state.take(entry)
    for (const { settle } of batch) settle?.resolve()
  }

  /** The file that takes entries of this day: the newest, or one after it. */
  async #tailFor(day: string): Promise<Tail> {
    const last = this.#tail
    if (last && last.file.day === day && !this.#is_finished) {
      this.#file ??= await open(join(this.#needs.dir, last.file.name), 'a', 0o600)
      return last
    }
    const nth = (last?.file.nth ?? 0) + 1
    const file = { nth, day, name: nameOf({ nth, day }) }
    await this.#file?.close()
    this.#file = null
    this.#file = await open(join(this.#needs.dir, file.name), 'a', 0o600)
    await syncDirectory(this.#needs.dir)
    this.#tail = { file, bytes: 0 }
    if (last && !this.#is_finished) this.#finish(last.file)
    this.#is_finished = false
    return this.#tail
  }

  async #append(tail: Tail, text: string): Promise<void> {
    const file = this.#file!
    // What a power cut, or a write that failed, left of a line.
    if ((await file.stat()).size !== tail.bytes) await file.truncate(tail.bytes)
    await file.writeFile(text)
    await file.datasync()
    tail.bytes += Buffer.byteLength(text)
  }

  /** Compresses a file and forgets the oldest; beside everything else, and again at the next. */
  #finish(file: LogFile): void {
    this.#finishing = this.#finishing
      .then(() => compress(this.#needs.dir, file))
      .catch(() => {})
      .then(() => forget(this.#needs.dir))
      .catch(() => {})
  }
}

/** The same outcome of the same request. */
function isSameRequest(one: ControlEntry, other: ControlEntry): boolean {
  if (!('request_id' in one) || !('request_id' in other)) return false
  return one.request_id === other.request_id && one.refusal === other.refusal
}

async function compress(dir: string, { name }: LogFile): Promise<void> {
  const path = join(dir, name)
  const temporary = `${path}.new`
  await pipeline(
    createReadStream(path),
    createGzip(),
    createWriteStream(temporary, { mode: 0o600, flush: true }),
  )
  await rename(temporary, `${path}.gz`)
  await syncDirectory(dir)
  await rm(path)
}

/** Days are counted, not reckoned from today: a clock that jumps ahead must not empty the log. */
async function forget(dir: string): Promise<void> {
  const files = await logFiles(dir)
  const days = [...new Set(files.map(({ day }) => day))]
  const kept = new Set(days.slice(-kept_days))
  const first = files.findIndex(({ day }) => kept.has(day))
  for (const { name } of files.slice(0, Math.max(0, first))) await rm(join(dir, name))
}
