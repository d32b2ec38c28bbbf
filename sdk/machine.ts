/** What the SDK takes of the machine that it runs on. Tests put others in their place. */

/** Waiting: `after` calls back once after `delay_ms` and returns what cancels it. */
export interface Timers {
  after(delay_ms: number, callback: () => void): () => void
}

export interface Machine {
  fetch: typeof globalThis.fetch
  timers: Timers
  /** At random from 0 to just below 1. */
  chance(): number
  /** A value that no other logical write has. */
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
  // A browser has crypto.randomUUID only on pages that came by HTTPS, and a plant may have none.
  newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16))
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  },
  nowMs: () => Date.now(),
}
