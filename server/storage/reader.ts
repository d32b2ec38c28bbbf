/**
 * The client that a read works for. Once it is gone, every statement that runs for it is cut off,
 * and the next one rejects: no read outlives its connection.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

const reader = new AsyncLocalStorage<AbortSignal>()

/** Runs a read. What it still does when the signal aborts rejects with the reason of the signal. */
export const runForReader = <Result>(gone: AbortSignal, read: () => Result): Result =>
  reader.run(gone, read)

/** Runs what others wait for, too: it goes on without the reader who asked first. */
export const runForAll = <Result>(work: () => Result): Result => reader.exit(work)

/** Of the read that runs; undefined for all else. */
export const readerGone = (): AbortSignal | undefined => reader.getStore()

/** In long computations: other requests have a turn, and a reader that is gone ends this one. */
export async function giveTurn(): Promise<void> {
  await setImmediate()
  readerGone()?.throwIfAborted()
}
