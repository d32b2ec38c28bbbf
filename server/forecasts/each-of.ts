import type { JobContext } from '../jobs/job.ts'

interface Batch extends Pick<JobContext, 'log' | 'signal'> {
  failure: string
}

/**
 * Runs `work` on each item in turn. An item that fails is logged and does not stop the others.
 *
 * @throws Error that names every failed item
 */
export async function eachOf<Item extends Readonly<Record<string, string>>>(
  items: readonly Item[],
  { log, signal, failure }: Batch,
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
