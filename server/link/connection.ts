import type { Clock, Timers } from '@heliograph/domain/clock'
import { type DownMessage, type Lane, lanes, silence_ms_max } from '@heliograph/domain/link'
import type { RawData, WebSocket } from 'ws'
import type { DesiredMessage, DesiredRows } from '../control/desired.ts'
import type { Database, Log } from '../storage/database.ts'
import { Refused } from '../telemetry/refused.ts'
import type { Brake } from './brake.ts'
import type { Commits } from './commits.ts'
import type { PreparedBatch, Source } from './ingest.ts'
import { type Committed, type LaneQueue, openLane, window_frames } from './lane.ts'
import {
  type BatchMessage,
  type HelloMessage,
  type Message,
  readMessage,
  type StatusMessage,
} from './messages.ts'
import type { LinkMetrics } from './metrics.ts'
import {
  type EdgeIdentity,
  type EdgeStatus,
  forgetFrames,
  frameRanges,
  inventoryFrame,
  lastSeen,
  recordHello,
  recordOffline,
} from './presence.ts'

/** Sent bytes that an edge may leave unread. */
const unread_bytes_max = 4 * 1024 * 1024
const closing_ms_max = 5000
/** Refused frames of one commit that are logged. */
const logged_max = 10
const beat_ms = silence_ms_max / 3
/** Acknowledged numbers are deleted at the first status, then after so many or so long. */
const forgetting_frames = 100
const forgetting_ms = 60_000

interface ConnectionNeeds {
  db: Database
  commit: Commits
  clock: Clock
  timers: Timers
  log: Log
  metrics: LinkMetrics
  desired: DesiredRows
  brake: Brake
  /** Stores a status together with those of other edges. */
  storeStatus(status: EdgeStatus): Promise<boolean>
  /** Does work on the database when few others do. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
  /** The edge accepts `refused` messages. */
  accepts_refused: boolean
  /** Ends an earlier agent connection of the edge and resolves when its work has finished. */
  takeOver(edge: EdgeIdentity, connection: Connection): Promise<void>
}

type RefusalCode = Extract<DownMessage, { type: 'refusal' }>['code']

const closeCodes: Record<RefusalCode, number> = {
  unknown_edge: 1008,
  wrong_site: 1008,
  replaced: 1008,
  bad_message: 1008,
  shutting_down: 1001,
  internal_error: 1011,
}

interface Greeted {
  source: Source
  role: HelloMessage['role']
  lanes: Record<Lane, LaneQueue>
}

/**
 * One WebSocket of an authenticated edge, from hello to close. Each lane has its own queue, so that
 * live data never waits for a backlog. After a database failure frames are not acknowledged: the
 * connection ends, and the edge sends the frames of its journal again.
 */
export class Connection {
  /** Resolves when the socket is closed and all work of the connection has finished. */
  readonly closed: Promise<void>

  readonly #socket: WebSocket
  readonly edge: EdgeIdentity
  readonly #needs: ConnectionNeeds
  readonly #running = new Set<Promise<void>>()
  #phase: 'new' | 'greeting' | 'serving' | 'ending' = 'new'
  #greeted: Greeted | undefined
  #mark: string | undefined
  #lastSeenBefore: Date | null = null
  #waitingStatus: StatusMessage | undefined
  #isStoringStatus = false
  #storedDevices = new Map<string, string>()
  #forgot: { below_seq: number; at: Date } | undefined
  #missedBeats = 0
  #end: Promise<void> | undefined
  #endedBy: RefusalCode | undefined
  #cancelBeat: () => void
  #unwatch: () => void = () => {}

  constructor(socket: WebSocket, edge: EdgeIdentity, needs: ConnectionNeeds) {
    this.#socket = socket
    this.edge = edge
    this.#needs = needs
    this.#cancelBeat = needs.timers.after(beat_ms, () => this.#beat())
    socket.on('message', (data, is_binary) => this.#receive(data, is_binary))
    socket.on('pong', () => this.#markAlive())
    socket.on('error', (error) =>
      needs.log.warn({ err: error, ...edge }, 'an edge connection failed'),
    )
    this.closed = new Promise((resolve) => {
      socket.once('close', () => void this.#finish().then(resolve))
    })
  }

  /** The mark of the agent's hello; importers have none. */
  get mark(): string | undefined {
    return this.#mark
  }

  /**
   * Stops reading, finishes and acknowledges the running transactions, sends the refusal and
   * closes. Resolves when all work of the connection has finished.
   */
  end(code: RefusalCode, message: string): Promise<void> {
    this.#endedBy ??= code
    this.#end ??= this.#endOnce(code, message)
    return this.#end
  }

  #receive(data: RawData, is_binary: boolean): void {
    this.#markAlive()
    if (this.#phase === 'ending') return
    try {
      if (is_binary) throw new Refused('a binary message')
      const text = data.toString()
      this.#take(readMessage(text), text)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { edge_id, site_id } = this.edge
      this.#needs.log.warn(
        { site_id, edge_id, reason: error.message },
        'a message of an edge is refused',
      )
      void this.end('bad_message', error.message)
    }
  }

  #take(message: Message, text: string): void {
    if (message.type === 'hello') {
      if (this.#phase !== 'new') throw new Refused('a second hello')
      this.#phase = 'greeting'
      this.#run(() => this.#greet(message))
      return
    }
    const greeted = this.#greeted
    if (!greeted) throw new Refused('nothing may be sent before the welcome')
    if (message.type === 'batch') {
      this.#takeBatch(greeted, message, text)
      return
    }
    if (greeted.role === 'importer') throw new Refused('an importer has no status')
    this.#waitingStatus = message
    this.#run(() => this.#storeStatus(greeted.source))
  }

  async #greet(hello: HelloMessage): Promise<void> {
    const { clock, takeOver, log, metrics, commit, desired, inTurn } = this.#needs
    if (hello.site_id !== this.edge.site_id) {
      void this.end('wrong_site', 'this token belongs to another site')
      return
    }
    const source = { ...this.edge, epoch: hello.epoch }
    const received_at = clock.now().getTime()
    if (hello.role === 'agent') await takeOver(this.edge, this)
    const { have, inventory } = await inTurn(() => this.#admit(hello, source, received_at))
    if (this.#phase !== 'greeting') return
    this.#phase = 'serving'
    const queues = lanes.map((lane) => {
      const store = async (batch: PreparedBatch) => {
        const stop = metrics.commit_seconds.startTimer({ lane })
        const done = await commit(lane, batch)
        stop()
        return done
      }
      return [lane, openLane(source, lane, store, (of, done) => this.#acknowledge(of, done))]
    })
    this.#greeted = { source, role: hello.role, lanes: Object.fromEntries(queues) }
    metrics.connections.inc({ role: hello.role })
    const { role, agent_version } = hello
    log.info({ ...source, role, agent_version }, 'an edge is connected')
    this.#send({ type: 'welcome', server_time: received_at, window_frames, have, inventory })
    if (role === 'agent') {
      this.#unwatch = desired.watch(source.site_id, (message) => this.#send(message))
    }
  }

  async #admit(hello: HelloMessage, source: Source, received_at: number) {
    const { db } = this.#needs
    if (hello.role === 'agent') {
      this.#lastSeenBefore = await lastSeen(db, this.edge)
      this.#mark = await recordHello(db, this.edge, { ...hello, received_at })
      await this.#forget(source, hello.lowest_unacked_seq, new Date(received_at))
    }
    const have = hello.role === 'importer' ? await frameRanges(db, source) : []
    return { have, inventory: await inventoryFrame(db, source) }
  }

  #takeBatch({ role, lanes }: Greeted, { lane, frames }: BatchMessage, text: string): void {
    if (role === 'importer' && lane !== 'backfill') throw new Refused('an importer only back-fills')
    if (lanes[lane].under_way + frames.length > window_frames) {
      throw new Refused(`more than ${window_frames} frames under way in lane ${lane}`)
    }
    this.#needs.brake.received(this.#socket, text.length)
    this.#run(() => lanes[lane].take(frames, text, this.#needs.clock.now().getTime()))
  }

  #acknowledge(lane: Lane, done: Committed): void {
    const { metrics } = this.#needs
    metrics.frames.inc({ lane }, done.new_frames)
    metrics.rows.inc({ lane }, done.stored_rows)
    metrics.repeated_rows.inc(done.repeated_rows)
    metrics.refused_frames.inc(done.refused_frames)
    if (done.refused.length > 0) this.#reportRefused(done.refused)
    this.#send({ type: 'ack', seqs: done.seqs })
    this.#needs.brake.stored(this.#socket, done.bytes)
  }

  #reportRefused(frames: Committed['refused']): void {
    const { log, accepts_refused } = this.#needs
    log.warn({ ...this.edge, frames: frames.slice(0, logged_max) }, 'frames are refused')
    if (accepts_refused) this.#send({ type: 'refused', frames: [...frames] })
  }

  /** Of several waiting reports only the last one is stored. */
  async #storeStatus(source: Source): Promise<void> {
    if (this.#isStoringStatus) return
    this.#isStoringStatus = true
    const { clock, storeStatus, inTurn } = this.#needs
    while (this.#waitingStatus) {
      const report = this.#waitingStatus
      this.#waitingStatus = undefined
      const received_at = clock.now()
      const storedDevices = this.#storedDevices
      if (!(await storeStatus({ ...this.edge, report, received_at, storedDevices }))) {
        void this.end('unknown_edge', 'the token was revoked')
        return
      }
      if (!this.#isForgettingDue(report.lowest_unacked_seq, received_at)) continue
      await inTurn(() => this.#forget(source, report.lowest_unacked_seq, received_at))
      this.#forgot = { below_seq: report.lowest_unacked_seq, at: received_at }
    }
    this.#isStoringStatus = false
  }

  #isForgettingDue(lowest_unacked_seq: number, now: Date): boolean {
    if (!this.#forgot) return true
    const { below_seq, at } = this.#forgot
    return (
      lowest_unacked_seq - below_seq >= forgetting_frames ||
      now.getTime() - at.getTime() >= forgetting_ms
    )
  }

  #forget(source: Source, lowest_unacked_seq: number, at: Date): Promise<void> {
    const seen = { last_seen_at: this.#lastSeenBefore, at }
    return forgetFrames(this.#needs.db, source, lowest_unacked_seq, seen)
  }

  /** Runs work of this connection; a failure ends the connection. */
  #run(work: () => Promise<void>): void {
    const task = work().catch((error: unknown) => {
      this.#needs.log.error({ err: error, ...this.edge }, 'an edge connection failed and ends')
      void this.end('internal_error', 'not stored; send it again')
    })
    this.#running.add(task)
    void task.then(() => this.#running.delete(task))
  }

  #send(message: DownMessage | DesiredMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(JSON.stringify(message))
    if (this.#socket.bufferedAmount > unread_bytes_max) this.#socket.terminate()
  }

  /** Pongs do not keep a connection without a hello open. */
  #markAlive(): void {
    if (this.#phase !== 'new') this.#missedBeats = 0
  }

  /** Runs three times within `silence_ms_max`. A paused socket receives no pongs. */
  #beat(): void {
    this.#missedBeats = this.#socket.isPaused ? 0 : this.#missedBeats + 1
    if (this.#missedBeats > 3) {
      this.#socket.terminate()
      return
    }
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
    this.#cancelBeat = this.#needs.timers.after(beat_ms, () => this.#beat())
  }

  async #endOnce(code: RefusalCode, message: string): Promise<void> {
    this.#stopTaking()
    await this.#settled()
    this.#send({ type: 'refusal', code, message: message.slice(0, 500) })
    this.#socket.close(closeCodes[code], code)
    // The close reply of the peer is queued behind unread messages.
    this.#needs.brake.release(this.#socket)
    const cancel = this.#needs.timers.after(closing_ms_max, () => this.#socket.terminate())
    this.#socket.once('close', cancel)
  }

  async #finish(): Promise<void> {
    const reason = this.#endedBy ?? 'connection_lost'
    this.#cancelBeat()
    this.#needs.brake.forget(this.#socket)
    if (this.#greeted) this.#needs.metrics.connections.dec({ role: this.#greeted.role })
    this.#stopTaking()
    await this.#settled()
    await this.#reportOffline(reason)
  }

  /** Not when another connection takes over or the server shuts down. */
  async #reportOffline(reason: RefusalCode | 'connection_lost'): Promise<void> {
    const mark = this.#mark
    if (mark === undefined || reason === 'replaced' || reason === 'shutting_down') return
    const { db, clock, log, inTurn } = this.#needs
    const lost = { mark, reason, at: clock.now() }
    try {
      await inTurn(() => recordOffline(db, this.edge, lost))
    } catch (error) {
      log.error({ err: error, ...this.edge }, 'the offline event of an edge could not be recorded')
    }
  }

  #stopTaking(): void {
    this.#phase = 'ending'
    this.#unwatch()
    this.#waitingStatus = undefined
    for (const queue of Object.values(this.#greeted?.lanes ?? {})) queue.stop()
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
