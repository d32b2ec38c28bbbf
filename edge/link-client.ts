/**
 * One end of the edge link that stays connected: it presents the token, says hello, waits for the
 * welcome, keeps the connection under watch and comes back after a loss, later each time. What is
 * sent over it is the business of the agent (link.ts) or of the importer (importer.ts).
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import type { DispatchHour } from '@heliograph/domain/dispatch'
import {
  DownMessage,
  down_bytes_max,
  type Hello,
  linkHeader,
  linkPath,
  linkProtocol,
  silence_ms_max,
  type Welcome,
} from '@heliograph/domain/link'
import type { Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { WebSocket } from 'ws'
import type { Log } from './log.ts'

export interface LinkSession {
  window_frames: number
  welcome: Static<typeof Welcome>
  /** Sends a message. After the end of the session it goes nowhere, like what was under way. */
  send(text: string): void
}

export interface LinkClientNeeds {
  /** `ws://` or `wss://`, with or without a path before that of the link. */
  url: string
  token: string
  clock: Clock
  timers: Timers
  /** From 0 to below 1. */
  random(): number
  log: Log
  /** What to say of oneself, asked anew at each connection. */
  hello(): Omit<Static<typeof Hello>, 'type' | 'sent_at'>
  onSession(session: LinkSession): void
  onAck(seqs: readonly number[]): void
  /** The rows of curtailment, and hours of approved dispatch, that the server knows of. */
  onDesired?(rows: readonly CurtailmentRow[], hours: readonly DispatchHour[]): void
  /** A session that had begun is over. */
  onLost(): void
  delays_ms?: Partial<LinkDelays>
}

export interface LinkDelays {
  /** Before the first attempt to come back; it doubles each time. */
  first: number
  max: number
  /** After a refusal that will not pass by itself. */
  refused: number
  silence: number
}

const delays_default: LinkDelays = {
  first: 1000,
  max: 15_000,
  refused: 60_000,
  silence: silence_ms_max,
}
const pings_per_silence = 3
const passing = ['shutting_down', 'internal_error']
const checkDown = Compile(DownMessage)

export class LinkClient {
  readonly #needs: LinkClientNeeds
  readonly #delays: LinkDelays
  #socket: WebSocket | null = null
  #session: LinkSession | null = null
  #cancelTimer: () => void = () => {}
  #failures = 0
  #refused = false
  #closed = false

  constructor(needs: LinkClientNeeds) {
    this.#needs = needs
    this.#delays = { ...delays_default, ...needs.delays_ms }
  }

  get connected(): boolean {
    return this.#session !== null
  }

  start(): void {
    const { url, token, log } = this.#needs
    const socket = new WebSocket(url.replace(/\/$/, '') + linkPath, [linkProtocol], {
      headers: { authorization: `Bearer ${token}`, [linkHeader]: 'refused' },
      handshakeTimeout: this.#delays.silence,
      maxPayload: down_bytes_max,
      perMessageDeflate: false,
    })
    this.#socket = socket
    this.#refused = false
    let quiet = 0
    const heard = () => {
      quiet = 0
    }
    const watch = () => {
      quiet += 1
      if (quiet > pings_per_silence) return socket.terminate()
      if (socket.readyState === WebSocket.OPEN) socket.ping()
      this.#cancelTimer = this.#needs.timers.after(this.#delays.silence / pings_per_silence, watch)
    }
    socket.on('open', () => {
      const hello: Static<typeof Hello> = {
        type: 'hello',
        ...this.#needs.hello(),
        sent_at: this.#needs.clock.now().getTime(),
      }
      socket.send(JSON.stringify(hello))
      watch()
    })
    socket.on('ping', heard)
    socket.on('pong', heard)
    socket.on('message', (data, isBinary) => {
      heard()
      if (socket === this.#socket) this.#receive(socket, isBinary ? '' : data.toString())
    })
    socket.on('unexpected-response', (request, response) => {
      this.#refused = [401, 403, 404].includes(response.statusCode ?? 0)
      log.error({ status: response.statusCode }, 'the server refused the connection')
      request.destroy()
      this.#lost(socket)
    })
    socket.on('error', (error) => log.warn({ reason: error.message }, 'link error'))
    socket.on('close', (code) => {
      log.debug({ code }, 'link closed')
      this.#lost(socket)
    })
  }

  /** Ends the connection for good. What was not acknowledged will be sent by the next one. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    const socket = this.#socket
    if (!socket || socket.readyState === WebSocket.CLOSED) return
    await new Promise<void>((resolve) => {
      const cancel = this.#needs.timers.after(1000, () => socket.terminate())
      socket.once('close', () => {
        cancel()
        resolve()
      })
      socket.close(1000)
    })
  }

  #receive(socket: WebSocket, text: string): void {
    const { log } = this.#needs
    const message = parse(text)
    if (message === null) {
      log.error({ text: text.slice(0, 200) }, 'the server sent what is no message of the link')
      socket.terminate()
      return
    }
    if (message.type === 'refusal') {
      this.#refused = !passing.includes(message.code)
      const { code, message: reason } = message
      log[this.#refused ? 'error' : 'info']({ code, reason }, 'the server refused the link')
      socket.close(1000)
      return
    }
    if (message.type === 'ack') {
      this.#needs.onAck(message.seqs)
      return
    }
    if (message.type === 'refused') {
      for (const { seq, kind, reason } of message.frames) {
        log.error({ seq, kind, reason }, 'the server refused a frame')
      }
      return
    }
    if (message.type === 'desired') {
      this.#needs.onDesired?.(message.rows, message.dispatch ?? [])
      return
    }
    this.#failures = 0
    this.#session = {
      welcome: message,
      window_frames: message.window_frames,
      send: (out) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(out)
      },
    }
    const clock_ahead_ms = this.#needs.clock.now().getTime() - message.server_time
    log.info({ window_frames: message.window_frames, clock_ahead_ms }, 'link connected')
    this.#needs.onSession(this.#session)
  }

  #lost(socket: WebSocket): void {
    if (socket !== this.#socket) return
    this.#socket = null
    this.#cancelTimer()
    if (this.#session) {
      this.#session = null
      this.#needs.onLost()
    }
    if (this.#closed) return
    const { first, max, refused } = this.#delays
    const delay_ms = this.#refused ? refused : Math.min(first * 2 ** this.#failures, max)
    this.#failures += 1
    const jittered_ms = delay_ms * (0.5 + this.#needs.random() / 2)
    this.#needs.log.info({ delay_ms: Math.round(jittered_ms) }, 'link down, coming back')
    this.#cancelTimer = this.#needs.timers.after(jittered_ms, () => this.start())
  }
}

/** A batch as it goes over the wire; payloads are JSON text already. */
export function batchText(
  lane: 'live' | 'backlog' | 'backfill',
  frames: readonly { seq: number; kind: string; payload: string }[],
): string {
  const texts = frames.map(
    ({ seq, kind, payload }) =>
      `{"seq":${seq},"kind":${JSON.stringify(kind)},"payload":${payload}}`,
  )
  return `{"type":"batch","lane":"${lane}","frames":[${texts.join(',')}]}`
}

function parse(text: string): DownMessage | null {
  try {
    const message: unknown = JSON.parse(text)
    return checkDown.Check(message) ? message : null
  } catch {
    return null
  }
}
