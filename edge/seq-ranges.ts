import { rename, writeFile } from 'node:fs/promises'
import { firstIndex } from '@heliograph/domain/first-index'
import { readIfThere } from './durable-file.ts'

/** A set of sequence numbers, kept as ranges: acknowledged frames form few of them. */
export interface SeqRanges {
  /** False when it was there already. */
  add(seq: number): boolean
  has(seq: number): boolean
  /** Forgets everything below. */
  dropBelow(seq: number): void
  /** `[first, last]`, ascending, neither touching nor overlapping. */
  list(): [number, number][]
}

export function seqRanges(initial: readonly (readonly [number, number])[] = []): SeqRanges {
  let ranges: [number, number][] = []
  for (const [first, last] of initial) ranges.push([first, last])
  ranges.sort((a, b) => a[0] - b[0])

  /** The last range that begins at or below the number, or -1. */
  const indexOf = (seq: number) => firstIndex(ranges.length, (nth) => ranges[nth]![0] > seq) - 1

  return {
    add(seq) {
      const index = indexOf(seq)
      const before = ranges[index]
      const after = ranges[index + 1]
      if (before && seq <= before[1]) return false
      const joins = before?.[1] === seq - 1
      if (after?.[0] === seq + 1) {
        if (joins) ranges.splice(index, 2, [before![0], after[1]])
        else after[0] = seq
      } else if (joins) before![1] = seq
      else ranges.splice(index + 1, 0, [seq, seq])
      return true
    },
    has(seq) {
      const range = ranges[indexOf(seq)]
      return range !== undefined && seq <= range[1]
    },
    dropBelow(seq) {
      ranges = ranges.filter(([, last]) => last >= seq)
      const lowest = ranges[0]
      if (lowest && lowest[0] < seq) lowest[0] = seq
    },
    list: () => ranges.map(([first, last]) => [first, last]),
  }
}

/** The set that was written to a file; empty when it is not there or cannot be understood. */
export async function readRanges(path: string): Promise<SeqRanges> {
  const text = await readIfThere(path)
  try {
    return seqRanges(JSON.parse(text ?? '[]'))
  } catch {
    return seqRanges()
  }
}

/** Replaces the file; a loss of power may take it back or empty it. */
export async function writeRanges(path: string, ranges: SeqRanges): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(ranges.list()), { mode: 0o600 })
  await rename(`${path}.new`, path)
}
