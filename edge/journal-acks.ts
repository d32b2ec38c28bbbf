/** Which frames the server has acknowledged: written down now and then, without fsync. */
import type { Timers } from '@heliograph/domain/clock'
import type { Background } from './journal-background.ts'
import { readRanges, type SeqRanges, seqRanges, writeRanges } from './seq-ranges.ts'

export interface Acks extends Pick<SeqRanges, 'add' | 'has' | 'dropBelow'> {
  /** Reads what was written down last. */
  load(): Promise<void>
  /** The highest number of all; 0 when there is none. */
  highest(): number
  /** Writes them down within seconds, in the background. */
  saveSoon(): void
  /** Writes them down now, in the background, and no more after that. */
  saveLast(): void
}

const saved_ms = 5000

export function acksAt(
  path: string,
  {
    timers,
    background,
    saved_after_ms = saved_ms,
  }: { timers: Timers; background: Background; saved_after_ms: number | undefined },
): Acks {
  let acked = seqRanges()
  let cancel: (() => void) | null = null
  const save = () => background.run(path, () => writeRanges(path, acked))
  return {
    add: (seq) => acked.add(seq),
    has: (seq) => acked.has(seq),
    dropBelow: (seq) => acked.dropBelow(seq),
    async load() {
      acked = await readRanges(path)
    },
    highest: () => acked.list().at(-1)?.[1] ?? 0,
    saveSoon() {
      cancel ??= timers.after(saved_after_ms, () => {
        cancel = null
        save()
      })
    },
    saveLast() {
      cancel?.()
      cancel = null
      save()
    },
  }
}
