/**
 * Costly results, cached by each server process. A read after `fresh_ms` returns the cached result
 * and refreshes it in the background; results older than `oldest_ms` are never returned.
 */
import type { Clock } from '@heliograph/domain/clock'
import type { Context } from '../http/context.ts'
import { runForAll } from '../storage/reader.ts'

interface Snapshots<Id, Of> {
  get(id: Id): Promise<Of>
  /** Reads now, or joins a read in progress. */
  readAgain(id: Id): Promise<Of>
}

interface Held<Of> {
  snapshot: { read_ms: number; of: Of } | null
  reading: Promise<Of> | null
}

/** Snapshots for each server, found by the context that it gives to handlers. */
export function snapshotsOf<Id, Of>(
  read: (id: Id, now: Date, context: Context) => Promise<Of>,
  limits: { fresh_ms: number; oldest_ms: number },
): (context: Context) => Snapshots<Id, Of> {
  const ofServer = new WeakMap<Context, Snapshots<Id, Of>>()
  return (context) => {
    const { clock } = context
    const snapshots =
      ofServer.get(context) ??
      createSnapshots<Id, Of>((id, now) => read(id, now, context), { clock, ...limits })
    ofServer.set(context, snapshots)
    return snapshots
  }
}

export function createSnapshots<Id, Of>(
  read: (id: Id, now: Date) => Promise<Of>,
  { clock, fresh_ms, oldest_ms }: { clock: Clock; fresh_ms: number; oldest_ms: number },
): Snapshots<Id, Of> {
  const all = new Map<Id, Held<Of>>()

  function heldOf(id: Id): Held<Of> {
    const held = all.get(id) ?? { snapshot: null, reading: null }
    all.set(id, held)
    return held
  }

  function readAgain(id: Id): Promise<Of> {
    const held = heldOf(id)
    const now = clock.now()
    held.reading ??= runForAll(() => read(id, now))
      .then((of) => {
        held.snapshot = { read_ms: now.getTime(), of }
        return of
      })
      .finally(() => {
        held.reading = null
      })
    return held.reading
  }

  return {
    readAgain,
    async get(id) {
      const { snapshot } = heldOf(id)
      const age_ms = snapshot ? clock.now().getTime() - snapshot.read_ms : Number.NaN
      // A clock that was set back makes the age negative: read again.
      if (!snapshot || !(age_ms >= 0 && age_ms <= oldest_ms)) return readAgain(id)
      // A failed refresh is reported once the snapshot is too old and a request waits for the read.
      if (age_ms > fresh_ms) readAgain(id).catch(() => {})
      return snapshot.of
    },
  }
}
