import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from './log.ts'

export interface Listener {
  notified(payload: string): void
  /** Called after a reconnect: read again, as notifications may have been missed. */
  resumed(): void
}

export interface Subscription {
  stop(): Promise<void>
}

const ping_interval_ms = 15_000
const ping_timeout_ms = 5_000
const retry_ms_min = 50
const retry_ms_max = 5_000

/**
 * The shared connection of all LISTENs of a process. It opens with the first listener, reconnects
 * with back-off, and detects a dead peer by a query every 15 s.
 */
export class ListenConnection {
  readonly #config: pg.ClientConfig
  readonly #log: Log
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #closing = new AbortController()
  #current: Promise<pg.Client> | undefined
  /** The last statement of `#run`. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(config: pg.ClientConfig, log: Log) {
    this.#config = config
    this.#log = log
  }

  async listen(channel: string, listener: Listener): Promise<Subscription> {
    const set = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, set.add(listener))
    this.#current ??= this.#connect().catch((error) => {
      this.#current = undefined
      throw error
    })
    try {
      await this.#run(await this.#current, `LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      set.delete(listener)
      if (set.size === 0) this.#listeners.delete(channel)
      throw error
    }
    // The session listens on: notifications without a listener are ignored.
    return { stop: async () => void set.delete(listener) }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the database is being closed'))
    await this.#current?.then(
      (client) => client.end(),
      () => {},
    )
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, query_timeout: ping_timeout_ms })
    client.on('error', () => {}) // 'end' follows, which handles the loss
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener.notified(payload ?? '')
    })
    try {
      await client.connect()
      for (const channel of this.#listeners.keys()) {
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      }
    } catch (error) {
      void client.end()
      throw error
    }
    this.#keepWatch(client)
    return client
  }

  /** Runs statements one after the other, as the driver requires. */
  #run(client: pg.Client, statement: string): Promise<unknown> {
    const result = this.#last.then(() => client.query(statement))
    this.#last = result.catch(() => {})
    return result
  }

  #keepWatch(client: pg.Client) {
    const ping = setInterval(() => {
      this.#run(client, 'SELECT 1').catch((error) => client.connection?.stream.destroy(error))
    }, ping_interval_ms)
    ping.unref()
    client.once('end', () => {
      clearInterval(ping)
      if (this.#closing.signal.aborted) return
      this.#log.warn({}, 'the listening database connection was lost')
      this.#current = this.#reconnect()
      // A rejection is handled by the next `listen`.
      this.#current.then(
        () => this.#resume(),
        () => {},
      )
    })
  }

  async #reconnect(): Promise<pg.Client> {
    const { signal } = this.#closing
    for (let wait_ms = retry_ms_min; ; wait_ms = Math.min(wait_ms * 2, retry_ms_max)) {
      signal.throwIfAborted()
      try {
        return await this.#connect()
      } catch (error) {
        const { message } = error as Error
        this.#log.warn({ message, wait_ms }, 'the listening database connection is not back yet')
        await delay(wait_ms, undefined, { signal })
      }
    }
  }

  #resume() {
    this.#log.info({}, 'the listening database connection is back')
    for (const set of this.#listeners.values()) for (const listener of set) listener.resumed()
  }
}
