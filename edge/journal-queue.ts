/** What is appended at the same time is written as one group, in the order of the calls. */
export interface WriteQueue<Entry, Written> {
  /** Resolves with what was written of each entry; rejects when its group could not be written. */
  append(entries: readonly Entry[]): Promise<Written[]>
  /** Resolves when nothing waits to be written. */
  drained(): Promise<void>
}

interface Group<Entry, Written> {
  entries: readonly Entry[]
  resolve(written: Written[]): void
  reject(error: unknown): void
}

/** `write` is called for one group after the other; a group that fails holds up none behind it. */
export function writeQueue<Entry, Written>(
  write: (entries: readonly Entry[]) => Promise<Written[]>,
): WriteQueue<Entry, Written> {
  let waiting: Group<Entry, Written>[] = []
  let draining: Promise<void> | null = null

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const groups = waiting
      waiting = []
      try {
        const written = await write(groups.flatMap(({ entries }) => entries))
        for (const { entries, resolve } of groups) resolve(written.splice(0, entries.length))
      } catch (error) {
        for (const { reject } of groups) reject(error)
      }
    }
    draining = null
  }

  return {
    append: (entries) =>
      new Promise((resolve, reject) => {
        waiting.push({ entries, resolve, reject })
        draining ??= drain()
      }),
    async drained() {
      await draining
    },
  }
}
