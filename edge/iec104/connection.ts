/** A connection of a control centre: its octets, its procedures, and what waits to be sent. */
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import { encodeApdu, splitApdus } from './apci.ts'
import type { BufferedEvents, EventBuffer } from './event-buffer.ts'
import type { Point } from './point-list.ts'
import { type Reaction, Session, type StationView } from './session.ts'
import {
  dueAt,
  maySend,
  newTransfer,
  step,
  type Transfer,
  type TransferEvent,
  type TransferParameters,
} from './transfer.ts'

export interface Wire {
  write(bytes: Uint8Array): void
  /** Octets that the other side has not taken yet. */
  readonly unsent_bytes: number
  /** Reads no more until `resume`. */
  pause(): void
  resume(): void
  close(reason: string): void
}

/** The control centre that a connection belongs to. */
export interface ConnectedCentre {
  buffer: Pick<EventBuffer, 'take' | 'acknowledge' | 'clear'>
  /** This connection carries data from now on; whether it is the first since the start. */
  activate(connection: Connection): boolean
  deactivate(connection: Connection): void
  /** Resolves when the order is durable. */
  execute(point: Point, value: number): Promise<void>
  /** Unix ms: its clock says so; null: it says nothing. */
  onClock(at: number | null): void
}

interface ConnectionNeeds {
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  parameters: TransferParameters
  centre: ConnectedCentre
  view: StationView
  wire: Wire
  onError(error: Error): void
}

interface Outgoing {
  asdu: Uint8Array
  is_interrogation: boolean
}

/** Answers that wait; with more, nothing is read. */
const waiting_max = 256
const waiting_few = 64
/** Commands that are being carried out at a time. */
const executing_max = 16
const unsent_bytes_max = 2 ** 20

export class Connection {
  readonly #needs: ConnectionNeeds
  readonly #session: Session
  #transfer: Transfer
  #rest: Uint8Array = new Uint8Array()
  #waiting: Outgoing[] = []
  #events: BufferedEvents[] = []
  /** The events in each I frame without acknowledgement, oldest first; null: an answer. */
  #sent: (number | null)[] = []
  #executing = 0
  #is_paused = false
  #is_closed = false
  #is_taking = false
  #cancelTimer = () => {}
  #due_ms = Number.POSITIVE_INFINITY

  constructor(needs: ConnectionNeeds) {
    this.#needs = needs
    this.#session = new Session(needs.view)
    this.#transfer = newTransfer(needs.stopwatch.elapsedMs())
    this.#plan()
  }

  receive(bytes: Uint8Array): void {
    if (this.#is_closed) return
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    const { apdus, rest, fault } = splitApdus(all)
    this.#rest = Uint8Array.from(rest)
    for (const apdu of apdus) this.#step({ is: 'received', apdu })
    if (fault !== null) this.close(fault)
    this.pump()
  }

  /** Sends what may be sent now. */
  pump(): void {
    const { parameters } = this.#needs
    while (!this.#is_closed && maySend(this.#transfer, parameters)) {
      const answer = this.#waiting.shift()
      if (answer) {
        this.#send(answer.asdu, null)
        if (answer.is_interrogation && !this.#waiting.some((one) => one.is_interrogation)) {
          this.#session.is_interrogated = false
        }
        continue
      }
      const event = this.#events.shift()
      if (!event) break
      this.#send(event.asdu, event.seq)
    }
    if (this.#is_paused && this.#waiting.length <= waiting_few) {
      this.#is_paused = false
      this.#needs.wire.resume()
    }
    if (this.#events.length === 0 && this.#transfer.data === 'started') this.#takeEvents()
  }

  /** Measured values, changed or not; left out while others wait. */
  sendBackground(): void {
    if (this.#transfer.data !== 'started' || this.#waiting.length > 0) return
    this.#answer(this.#session.background())
    this.pump()
  }

  close(reason: string): void {
    if (this.#is_closed) return
    this.#is_closed = true
    this.#cancelTimer()
    this.#session.end()
    this.#needs.centre.deactivate(this)
    this.#needs.wire.close(reason)
  }

  #step(event: TransferEvent): void {
    if (this.#is_closed) return
    const { parameters, stopwatch, wire, centre } = this.#needs
    const { transfer, actions } = step(this.#transfer, event, stopwatch.elapsedMs(), parameters)
    this.#transfer = transfer
    for (const action of actions) {
      if (action.do === 'write') wire.write(encodeApdu(action.apdu))
      else if (action.do === 'deliver') this.#deliver(action.asdu)
      else if (action.do === 'acknowledged') this.#acknowledged(action.count)
      else if (action.do === 'start') {
        if (centre.activate(this)) this.#answer([this.#session.initialized()])
      } else if (action.do === 'stop') {
        this.#events = []
        centre.deactivate(this)
      } else if (action.do === 'close') this.close(action.reason)
    }
    if (wire.unsent_bytes > unsent_bytes_max) this.close('the other side reads nothing')
    this.#plan()
  }

  #send(asdu: Uint8Array, seq: number | null): void {
    this.#sent.push(seq)
    this.#step({ is: 'send', asdu })
  }

  #acknowledged(count: number): void {
    const seqs = this.#sent.splice(0, count).filter((seq) => seq !== null)
    if (seqs.length > 0) this.#needs.centre.buffer.acknowledge(seqs)
  }

  #deliver(asdu: Uint8Array): void {
    const { clock, stopwatch } = this.#needs
    const moment = { now: clock.now().getTime(), now_ms: stopwatch.elapsedMs() }
    const reaction = this.#session.receive(asdu, moment)
    if (reaction.fault !== undefined) this.close(reaction.fault)
    else this.#react(reaction)
  }

  #react(reaction: Reaction): void {
    const { centre, onError } = this.#needs
    const { answers = [], command, is_interrogation } = reaction
    if (reaction.ends_interrogation) {
      this.#waiting = this.#waiting.filter((one) => !one.is_interrogation)
    }
    this.#answer(answers, is_interrogation)
    if (reaction.clears_events) {
      this.#events = []
      centre.buffer.clear().catch(onError)
    }
    if (reaction.clock_at !== undefined) centre.onClock(reaction.clock_at)
    if (command) this.#execute(command)
  }

  #execute({ point, value, asdu }: NonNullable<Reaction['command']>): void {
    if (this.#executing >= executing_max) {
      this.#answer(this.#session.executed(asdu, false))
      return
    }
    this.#executing += 1
    const answer = (is_done: boolean) => {
      this.#executing -= 1
      this.#answer(this.#session.executed(asdu, is_done))
      this.pump()
    }
    this.#needs.centre.execute(point, value).then(
      () => answer(true),
      (error: Error) => {
        this.#needs.onError(error)
        answer(false)
      },
    )
  }

  #answer(asdus: readonly Uint8Array[], is_interrogation = false): void {
    if (this.#is_closed) return
    for (const asdu of asdus) this.#waiting.push({ asdu, is_interrogation })
    if (this.#waiting.length <= waiting_max || this.#is_paused) return
    this.#is_paused = true
    this.#needs.wire.pause()
  }

  #takeEvents(): void {
    if (this.#is_taking || this.#is_closed) return
    this.#is_taking = true
    this.#needs.centre.buffer
      .take()
      .then((events) => {
        this.#is_taking = false
        if (this.#is_closed || this.#transfer.data !== 'started') return
        // A start that follows a stop at once finds what is still under way.
        this.#events = events.filter(({ seq }) => !this.#sent.includes(seq))
        if (events.length > 0) this.pump()
      })
      .catch((error: Error) => {
        this.#is_taking = false
        this.#needs.onError(error)
      })
  }

  /** One timer: it may come early, and then is set anew. */
  #plan(): void {
    const { stopwatch, timers, parameters } = this.#needs
    const due_ms = dueAt(this.#transfer, parameters)
    if (this.#is_closed || due_ms >= this.#due_ms) return
    this.#cancelTimer()
    this.#due_ms = due_ms
    this.#cancelTimer = timers.after(due_ms - stopwatch.elapsedMs(), () => {
      this.#due_ms = Number.POSITIVE_INFINITY
      this.#step({ is: 'time' })
      this.#plan()
    })
  }
}
