import type { Log } from '../storage/database.ts'

interface Undertaking {
  log: Log
  signal: AbortSignal
  /** What is said of one that fails. */
  failure: string
}

/**
 * Does the same for each, one after the other. One that fails is logged with what names it, holds
 * up no other, and is thrown at the end.
 */
export async function eachOf<Item extends Readonly<Record<string, string>>>(
  items: readonly Item[],
  { log, signal, failure }: Undertaking,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failed: Item[] = []
  for (const item of items) {
    signal.throwIfAborted()
    try {
      await work(item)
    } catch (error) {
      signal.throwIfAborted()
      const facts: Record<string, unknown> = { err: error, ...item }
      log.error(facts, failure)
      failed.push(item)
    }
  }
  if (failed.length === 0) return
  const names = failed.map((item) => Object.values(item).join(' '))
  throw new Error(`${failure}: ${names.join(', ')}`)
}
