/** Functions of the runtime that the SDK uses. Tests replace them. */

/** `after` calls back once after `delay_ms`, and returns a function that cancels it. */
export interface Timers {
  after(delay_ms: number, callback: () => void): () => void
}

export interface Machine {
  fetch: typeof globalThis.fetch
  timers: Timers
  /** Random number in [0, 1). */
  chance(): number
  /** Unique idempotency key. */
  newKey(): string
  nowMs(): number
}

export const thisMachine: Machine = {
  fetch: (input, init) => globalThis.fetch(input, init),
  timers: {
    after(delay_ms, callback) {
      const timer = setTimeout(callback, delay_ms)
      return () => clearTimeout(timer)
    },
  },
  chance: () => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32,
  // Browsers offer crypto.randomUUID only over HTTPS, which a plant may lack.
  newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16))
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  },
  nowMs: () => Date.now(),
}
