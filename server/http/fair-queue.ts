/**
 * Runs a few tasks at a time. Waiting tasks are served round-robin: among clients, and among the
 * keys of a client. A client with many tasks delays only itself.
 */
import { unavailable } from './errors.ts'

export interface QueueBounds {
  /** Concurrent tasks. */
  running: number
  running_per_client: number
  /** Waiting tasks. Above these bounds a request is rejected with 503. */
  waiting: number
  waiting_per_client: number
  waiting_per_key: number
  /** A client with this many unsent bytes of results must wait. */
  held_bytes_per_client: number
}

interface Asker {
  client: string
  key: string
  /** Aborts when the result is no longer needed: a waiting task is then dropped. */
  signal?: AbortSignal | undefined
}

interface Client {
  running: number
  waiting: number
  held_bytes: number
  /** Start functions of the waiting tasks by key, in the order of their turns. */
  keys: Map<string, (() => void)[]>
}

const retry_after_s_max = 60
/** Weight of the newest duration in the mean. */
const newest_weight = 0.2

export class FairQueue {
  readonly #bounds: QueueBounds
  readonly #now_ms: () => number
  /** In the order of their turns. */
  readonly #clients = new Map<string, Client>()
  #running = 0
  #waiting = 0
  #mean_ms = 0

  constructor(bounds: QueueBounds, now_ms = () => performance.now()) {
    this.#bounds = bounds
    this.#now_ms = now_ms
  }

  /** Throws 503 with an estimated `Retry-After` when too many tasks wait. */
  async run<Result>(asker: Asker, work: () => Promise<Result>): Promise<Result> {
    asker.signal?.throwIfAborted()
    const client = this.#clientOf(asker.client)
    try {
      const granted = this.#turn(client, asker)
      this.#beginNext()
      await granted
    } finally {
      this.#forgetIdle(asker.client)
    }
    const began_ms = this.#now_ms()
    try {
      return await work()
    } finally {
      const took_ms = this.#now_ms() - began_ms
      this.#mean_ms += (this.#mean_ms === 0 ? 1 : newest_weight) * (took_ms - this.#mean_ms)
      client.running -= 1
      this.#running -= 1
      this.#forgetIdle(asker.client)
      this.#beginNext()
    }
  }

  /** Counts the bytes of a result that is being sent; returns a function that releases them. */
  hold(name: string, bytes: number): () => void {
    const client = this.#clientOf(name)
    client.held_bytes += bytes
    let is_held = true
    return () => {
      if (!is_held) return
      is_held = false
      client.held_bytes -= bytes
      this.#forgetIdle(name)
      this.#beginNext()
    }
  }

  #clientOf(name: string): Client {
    const known = this.#clients.get(name)
    if (known) return known
    const client = { running: 0, waiting: 0, held_bytes: 0, keys: new Map() }
    this.#clients.set(name, client)
    return client
  }

  #forgetIdle(name: string): void {
    const client = this.#clients.get(name)
    if (client && client.running + client.waiting + client.held_bytes === 0) {
      this.#clients.delete(name)
    }
  }

  #beginNext(): void {
    const { running, running_per_client, held_bytes_per_client } = this.#bounds
    for (const [name, client] of this.#clients) {
      if (this.#running >= running) return
      const may_run =
        client.running < running_per_client && client.held_bytes < held_bytes_per_client
      if (client.waiting === 0 || !may_run) continue
      // A served client moves to the end of the map, where the loop reaches it again.
      this.#clients.delete(name)
      this.#clients.set(name, client)
      const [key, works] = client.keys.entries().next().value!
      const begin = works.shift()!
      client.keys.delete(key)
      if (works.length > 0) client.keys.set(key, works)
      client.running += 1
      this.#running += 1
      begin()
    }
  }

  /** Resolves when the task may start. It then counts as running. */
  #turn(client: Client, { key, signal }: Asker): Promise<void> {
    const works = client.keys.get(key) ?? []
    this.#refuseBeyond(client, works.length)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      client.waiting -= 1
      this.#waiting -= 1
      signal?.removeEventListener('abort', abort)
    }
    const begin = () => {
      leave()
      resolve()
    }
    const abort = () => {
      works.splice(works.indexOf(begin), 1)
      if (works.length === 0) client.keys.delete(key)
      leave()
      reject(signal!.reason)
    }
    works.push(begin)
    client.keys.set(key, works)
    client.waiting += 1
    this.#waiting += 1
    signal?.addEventListener('abort', abort)
    return promise
  }

  #refuseBeyond(client: Client, of_key: number): void {
    const { running, running_per_client, waiting, waiting_per_client, waiting_per_key } =
      this.#bounds
    const waitBehind = (works: number, at_once: number) => ((works + 1) * this.#mean_ms) / at_once
    const waits_ms: number[] = []
    if (this.#waiting >= waiting) waits_ms.push(waitBehind(this.#waiting, running))
    if (client.waiting >= waiting_per_client || of_key >= waiting_per_key) {
      waits_ms.push(waitBehind(client.waiting, running_per_client))
    }
    if (waits_ms.length === 0) return
    const wait_s = Math.ceil(Math.max(...waits_ms) / 1000)
    throw unavailable(Math.min(retry_after_s_max, Math.max(1, wait_s)))
  }
}
