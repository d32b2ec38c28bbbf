/**
 * What is costly to read, as this process saw it within the last seconds. It is read anew in the
 * background once it is `fresh_ms` old, but only when somebody asks; nothing older than `oldest_ms`
 * is ever given out.
 */
import type { Clock } from '@heliograph/domain/clock'
import { runForAll } from '../storage/reader.ts'

export interface Snapshots<Id, Of> {
  get(id: Id): Promise<Of>
  /** Reads it now, or joins who does. */
  readAgain(id: Id): Promise<Of>
}

interface Held<Of> {
  snapshot: { read_ms: number; of: Of } | null
  reading: Promise<Of> | null
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
      // A clock that was set back makes a snapshot seem young: then it is read again.
      if (!snapshot || !(age_ms >= 0 && age_ms <= oldest_ms)) return readAgain(id)
      if (age_ms > fresh_ms) {
        // Should it fail, the snapshot ages until a request waits for the next one and hears why.
        readAgain(id).catch(() => {})
      }
      return snapshot.of
    },
  }
}
