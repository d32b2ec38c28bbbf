/**
 * What the agent sends: frames out of its journal, in two lanes. A frame that becomes durable
 * while the link is up goes live at once; all others, and those that the live window had no room
 * for, follow through the backlog, oldest first and no faster than they are let. What is
 * acknowledged leaves the journal.
 */
import {
  type DeviceStatus,
  frame_length_max,
  frames_per_batch_max,
  type StatusReport,
} from '@heliograph/domain/link'
import type { Static } from 'typebox'
import type { Journal } from './journal.ts'
import type { JournalRecord } from './journal-record.ts'
import { batchText, LinkClient, type LinkClientNeeds, type LinkSession } from './link-client.ts'

export interface LinkNeeds
  extends Omit<LinkClientNeeds, 'hello' | 'onSession' | 'onAck' | 'onLost'> {
  site_id: string
  agent_version: string
  journal: Journal
  /** So much of the backlog is sent per second at most, on average. */
  backlog_bytes_per_s: number
  devices(): DeviceStatus[]
  /** Frames that the server has committed, after they left the journal. */
  onAcked?(seqs: readonly number[]): void
  onWelcome?(welcome: LinkSession['welcome']): void
  /** Called as the server is asked for its time; what it returns, with the answer in Unix ms. */
  askTime(): (server_time: number) => void
}

interface Batch {
  lane: 'live' | 'backlog'
  sent_at: number
  unacked: number
}

/**
 * Of a backlog, so much is under way at a time that a live frame behind it still arrives within
 * about a second: the size of its batches follows how fast they are acknowledged.
 */
const backlog_batches_max = 2
const batch_bytes = { first: 64 * 1024, min: 16 * 1024, max: frame_length_max }
const ack_ms = { fast: 500, slow: 1500 }
const status_ms = { every: 10_000, after_change: 200 }
const retry_read_ms = 1000
/** The backlog goes in bits of so much time's worth, so that no more lies before a live frame. */
const backlog_beat_s = 0.25

export class Link {
  readonly #needs: LinkNeeds
  readonly #client: LinkClient
  #session: LinkSession | null = null
  #in_flight = new Map<number, Batch>()
  #live_frames = 0
  #backlog_frames = 0
  #backlog_batches = 0
  #backlog_bytes = batch_bytes.first
  /** The backlog waits until what was sent of it is worth its time. */
  #cancelRest: (() => void) | null = null
  #timeTold: (server_time: number) => void = () => {}
  /** The backlog was sent up to here in this session. */
  #cursor = 0
  #pumping = false
  #pump_again = false
  #cancelStatus: () => void = () => {}
  #status_is_near = false
  /** Since the start. */
  readonly counts = { frames_sent: 0, frames_acked: 0, sessions: 0 }

  constructor(needs: LinkNeeds) {
    this.#needs = needs
    const { journal, site_id, agent_version } = needs
    this.#client = new LinkClient({
      ...needs,
      hello: () => {
        this.#timeTold = needs.askTime()
        return {
          role: 'agent',
          site_id,
          epoch: journal.epoch,
          lowest_unacked_seq: journal.lowest_unacked_seq,
          agent_version,
        }
      },
      onSession: (session) => this.#begin(session),
      onAck: (seqs) => this.#acknowledge(seqs),
      onLost: () => this.#end(),
    })
    journal.onDurable((records) => this.#offer(records))
  }

  get connected(): boolean {
    return this.#client.connected
  }

  start(): void {
    this.#client.start()
  }

  async close(): Promise<void> {
    this.#cancelStatus()
    this.#cancelRest?.()
    await this.#client.close()
  }

  /** Something in the status is other than what was last reported: it is sent within moments. */
  statusChanged(): void {
    if (this.#session && !this.#status_is_near) this.#planStatus(status_ms.after_change)
  }

  #begin(session: LinkSession): void {
    this.#session = session
    this.#timeTold(session.welcome.server_time)
    this.counts.sessions += 1
    this.#needs.onWelcome?.(session.welcome)
    this.#sendStatus()
    this.#pump()
  }

  #end(): void {
    this.#session = null
    this.#cancelStatus()
    this.#reset()
  }

  #reset(): void {
    this.#in_flight = new Map()
    this.#live_frames = 0
    this.#backlog_frames = 0
    this.#backlog_batches = 0
    this.#backlog_bytes = batch_bytes.first
    this.#cursor = 0
  }

  #offer(records: readonly JournalRecord[]): void {
    if (!this.#session) return
    const room = this.#session.window_frames - this.#live_frames
    const now = records.slice(0, Math.max(room, 0))
    for (const batch of batchesOf(now)) this.#send('live', batch)
    if (now.length < records.length) this.#pump()
  }

  #send(lane: Batch['lane'], records: readonly JournalRecord[]): void {
    const sent_at = this.#needs.clock.now().getTime()
    const batch: Batch = { lane, sent_at, unacked: records.length }
    for (const { seq } of records) this.#in_flight.set(seq, batch)
    if (lane === 'live') this.#live_frames += records.length
    else {
      this.#backlog_frames += records.length
      this.#backlog_batches += 1
    }
    this.counts.frames_sent += records.length
    this.#session?.send(batchText(lane, records))
  }

  #acknowledge(seqs: readonly number[]): void {
    this.#needs.journal.ack(seqs)
    this.counts.frames_acked += seqs.length
    for (const seq of seqs) {
      const batch = this.#in_flight.get(seq)
      if (!batch) continue
      this.#in_flight.delete(seq)
      batch.unacked -= 1
      if (batch.lane === 'live') this.#live_frames -= 1
      else {
        this.#backlog_frames -= 1
        if (batch.unacked === 0) this.#finishBacklog(batch)
      }
    }
    this.#needs.onAcked?.(seqs)
    this.#pump()
  }

  #finishBacklog({ sent_at }: Batch): void {
    this.#backlog_batches -= 1
    const took_ms = this.#needs.clock.now().getTime() - sent_at
    const factor = took_ms < ack_ms.fast ? 2 : took_ms > ack_ms.slow ? 0.5 : 1
    const { min, max } = batch_bytes
    this.#backlog_bytes = Math.min(Math.max(this.#backlog_bytes * factor, min), max)
  }

  #pump(): void {
    this.#pump_again = true
    if (this.#pumping) return
    this.#pumping = true
    this.#sendBacklog()
      .catch((error: unknown) => {
        this.#pump_again = false
        this.#needs.log.error({ err: error }, 'the journal cannot be read')
        this.#needs.timers.after(retry_read_ms, () => this.#pump())
      })
      .finally(() => {
        this.#pumping = false
        if (this.#pump_again) this.#pump()
      })
  }

  async #sendBacklog(): Promise<void> {
    const { backlog_bytes_per_s } = this.#needs
    while (this.#pump_again) {
      this.#pump_again = false
      const session = this.#session
      const is_full = this.#backlog_batches >= backlog_batches_max
      if (!session || is_full || this.#cancelRest) continue
      const room = session.window_frames - this.#backlog_frames
      if (room <= 0) continue
      const records = await this.#needs.journal.read(this.#cursor, {
        frames: Math.min(room, frames_per_batch_max),
        bytes: Math.min(this.#backlog_bytes, backlog_bytes_per_s * backlog_beat_s),
      })
      const last = records.at(-1)
      if (session !== this.#session || !last) {
        this.#pump_again ||= session !== this.#session
        continue
      }
      this.#cursor = last.seq
      const unsent = records.filter(
        ({ seq }) => !this.#in_flight.has(seq) && !this.#needs.journal.isDone(seq),
      )
      if (unsent.length > 0) {
        this.#send('backlog', unsent)
        this.#rest(unsent)
      }
      this.#pump_again = true
    }
  }

  /** Over the end of a session too: a link that breaks again and again sends no faster. */
  #rest(sent: readonly JournalRecord[]): void {
    const bytes = sent.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0)
    const rest_ms = (bytes * 1000) / this.#needs.backlog_bytes_per_s
    this.#cancelRest = this.#needs.timers.after(rest_ms, () => {
      this.#cancelRest = null
      this.#pump()
    })
  }

  #planStatus(delay_ms: number): void {
    this.#cancelStatus()
    this.#status_is_near = delay_ms < status_ms.every
    this.#cancelStatus = this.#needs.timers.after(delay_ms, () => this.#sendStatus())
  }

  #sendStatus(): void {
    const { journal, clock, devices } = this.#needs
    const { depth_frames, depth_bytes, oldest_at } = journal.status()
    const report: Static<typeof StatusReport> = {
      type: 'status',
      at: clock.now().getTime(),
      lowest_unacked_seq: journal.lowest_unacked_seq,
      journal: { depth_frames, depth_bytes, oldest_at },
      devices: devices(),
    }
    this.#session?.send(JSON.stringify(report))
    this.#planStatus(status_ms.every)
  }
}

/** Records in batches that keep the link's bounds. */
export function* batchesOf<Of extends { payload: string }>(
  records: readonly Of[],
): Generator<Of[]> {
  let batch: Of[] = []
  let length = 0
  for (const record of records) {
    const full = length + record.payload.length > batch_bytes.max
    if (batch.length > 0 && (full || batch.length >= frames_per_batch_max)) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(record)
    length += record.payload.length
  }
  if (batch.length > 0) yield batch
}
