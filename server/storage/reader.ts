/**
 * Ties reads to the connection of their client. When the client is gone, running statements are
 * aborted and further ones reject: no read outlives its connection.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

const reader = new AsyncLocalStorage<AbortSignal>()

/** Runs a read whose statements reject with the reason of the signal when it aborts. */
export const runForReader = <Result>(gone: AbortSignal, read: () => Result): Result =>
  reader.run(gone, read)

/** Runs shared work, which does not end with the reader that started it. */
export const runForAll = <Result>(work: () => Result): Result => reader.exit(work)

/** The signal of the current read; undefined outside of reads. */
export const readerGone = (): AbortSignal | undefined => reader.getStore()

/** Yields to other requests in a long computation; throws when the reader is gone. */
export async function giveTurn(): Promise<void> {
  await setImmediate()
  readerGone()?.throwIfAborted()
}
