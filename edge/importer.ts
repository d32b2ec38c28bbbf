/**
 * Brings history to the server over the edge link: frames of an epoch of their own, in a lane
 * behind everything else. After any interruption it goes on with what the server does not have.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import { frames_per_batch_max } from '@heliograph/domain/link'
import { batchesOf } from './link.ts'
import { batchText, LinkClient, type LinkDelays, type LinkSession } from './link-client.ts'
import type { Log } from './log.ts'

export interface HistoryFrame {
  /** From 1, ascending; the same frame has the same number each time the history is made. */
  seq: number
  kind: string
  payload: unknown
}

interface ImportProgress {
  /** Frames that the server has, those of earlier attempts among them. */
  frames_done: number
}

interface ImportNeeds {
  url: string
  token: string
  site_id: string
  /** Names this history for good: 1 to 64 of a-z, 0-9 and -. */
  epoch: string
  agent_version: string
  frames: AsyncIterable<HistoryFrame>
  onProgress?(progress: ImportProgress): void
  clock: Clock
  timers: Timers
  random(): number
  log: Log
  /** Stops the import; the promise then rejects with the signal's reason. */
  signal?: AbortSignal
  delays_ms?: Partial<LinkDelays>
}

interface Prepared {
  seq: number
  kind: string
  payload: string
  /** In which it was sent last. */
  session: LinkSession | null
}

/** Made ready and not acknowledged: what an import may hold in memory. */
const pending_length_max = 8 * 1024 * 1024

/**
 * Resolves when the server has committed every frame. Reconnects by itself, for as long as it
 * takes; rejects when the frames cannot be made, or when it is aborted.
 */
export async function importHistory(needs: ImportNeeds): Promise<ImportProgress> {
  const run = new ImportRun(needs)
  try {
    return await run.done()
  } finally {
    await run.close()
  }
}

class ImportRun {
  readonly #needs: ImportNeeds
  readonly #client: LinkClient
  readonly #frames: AsyncIterator<HistoryFrame>
  readonly #pending = new Map<number, Prepared>()
  #pending_length = 0
  #session: LinkSession | null = null
  #have: readonly (readonly [number, number])[] = []
  #exhausted = false
  #pulling = false
  #frames_done = 0
  readonly #settled = Promise.withResolvers<ImportProgress>()

  constructor(needs: ImportNeeds) {
    this.#needs = needs
    this.#frames = needs.frames[Symbol.asyncIterator]()
    const { site_id, epoch, agent_version } = needs
    this.#client = new LinkClient({
      ...needs,
      // The history is made from its first frame again, so no number is ever done with.
      hello: () => ({ role: 'importer', site_id, epoch, agent_version, lowest_unacked_seq: 1 }),
      onSession: (session) => this.#begin(session),
      onAck: (seqs) => this.#acknowledge(seqs),
      onLost: () => {
        this.#session = null
      },
    })
  }

  done(): Promise<ImportProgress> {
    const { signal } = this.#needs
    const abort = () => this.#settled.reject(signal?.reason)
    if (signal?.aborted) abort()
    else {
      signal?.addEventListener('abort', abort, { once: true })
      this.#client.start()
    }
    return this.#settled.promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  async close(): Promise<void> {
    this.#exhausted = true
    await this.#client.close()
    await this.#frames.return?.()
  }

  #begin(session: LinkSession): void {
    this.#session = session
    this.#have = session.welcome.have
    this.#settle([...this.#pending.keys()].filter((seq) => this.#isThere(seq)))
    this.#send([...this.#pending.values()])
    this.#pull()
  }

  #isThere(seq: number): boolean {
    return this.#have.some(([first, last]) => seq >= first && seq <= last)
  }

  #acknowledge(seqs: readonly number[]): void {
    this.#settle(seqs)
    this.#pull()
  }

  #settle(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const frame = this.#pending.get(seq)
      if (!frame) continue
      this.#pending.delete(seq)
      this.#pending_length -= frame.payload.length
      this.#frames_done += 1
    }
    this.#needs.onProgress?.({ frames_done: this.#frames_done })
  }

  #send(frames: readonly Prepared[]): void {
    for (const frame of frames) frame.session = this.#session
    for (const batch of batchesOf(frames)) this.#session?.send(batchText('backfill', batch))
  }

  #pull(): void {
    if (this.#pulling) return
    this.#pulling = true
    this.#fill()
      .catch(this.#settled.reject)
      .finally(() => {
        this.#pulling = false
        if (this.#exhausted && this.#pending.size === 0) {
          this.#settled.resolve({ frames_done: this.#frames_done })
        }
      })
  }

  /** Makes and sends frames while the window has room. */
  async #fill(): Promise<void> {
    while (this.#session && !this.#exhausted) {
      const session = this.#session
      const room = Math.min(session.window_frames - this.#pending.size, frames_per_batch_max)
      if (room <= 0 || this.#pending_length >= pending_length_max) return
      const made = await this.#make(room)
      // A session that began meanwhile was sent those that were ready.
      this.#send(made.filter((frame) => frame.session !== this.#session))
    }
  }

  async #make(frames_max: number): Promise<Prepared[]> {
    const made: Prepared[] = []
    let length = 0
    while (made.length < frames_max && length < pending_length_max / 8) {
      const next = await this.#frames.next()
      if (next.done) {
        this.#exhausted = true
        break
      }
      const { seq, kind, payload } = next.value
      if (this.#isThere(seq)) {
        this.#frames_done += 1
        continue
      }
      const frame = { seq, kind, payload: JSON.stringify(payload), session: null }
      this.#pending.set(seq, frame)
      this.#pending_length += frame.payload.length
      length += frame.payload.length
      made.push(frame)
    }
    return made
  }
}
