import { setImmediate as turn } from 'node:timers/promises'
import { type Frame, frames_per_batch_max, type Lane } from '@heliograph/domain/link'
import { type PreparedFrame, prepareInSteps } from './frames.ts'
import type { Ingested, PreparedBatch, Source } from './ingest.ts'
import { payloadIn } from './messages.ts'

/** Frames in each lane that may be sent and not yet acknowledged. */
export const window_frames = frames_per_batch_max

/** Waiting frames are committed together, up to this many. */
const frames_per_commit_max = frames_per_batch_max
/** Rows checked at a time, before other work of this process has a turn. */
const rows_per_turn = 500

interface Arrived {
  frames: PreparedFrame[]
  bytes: number
  received_at: number
}

export interface Committed extends Ingested {
  /** Sequence numbers of all frames, new or repeated, in the order of arrival. */
  seqs: number[]
  bytes: number
}

export interface LaneQueue {
  /** Frames taken and not yet committed. */
  readonly under_way: number
  /**
   * Takes a batch and the text of its message. Resolves when the batch is committed or left to a
   * running commit. Rejects when the database fails: only what `committed` reported is stored.
   */
  take(frames: readonly Frame[], text: string, received_at: number): Promise<void>
  /** Drops waiting batches and lets the running transaction finish. */
  stop(): void
}

/**
 * One lane of one connection. Batches are checked in the order of arrival, while an earlier batch
 * is stored. One transaction runs at a time.
 */
export function openLane(
  source: Source,
  lane: Lane,
  store: (batch: PreparedBatch) => Promise<Ingested>,
  committed: (lane: Lane, commit: Committed) => void,
): LaneQueue {
  const checked: Arrived[] = []
  let checking: Promise<void> = Promise.resolve()
  let under_way = 0
  let is_storing = false
  let is_stopped = false

  async function check(frames: readonly Frame[], text: string, received_at: number) {
    const origin = { site_id: source.site_id, lane, received_at }
    const prepared: PreparedFrame[] = []
    let rows = 0
    for (const [index, frame] of frames.entries()) {
      if (is_stopped) return
      const steps = prepareInSteps(frame, origin, () => payloadIn(text, index))
      let step = steps.next()
      while (!step.done) {
        await turn()
        if (is_stopped) return
        step = steps.next()
      }
      const one = step.value
      prepared.push(one)
      rows += rowsOf(one)
      if (rows < rows_per_turn) continue
      rows = 0
      await turn()
    }
    checked.push({ frames: prepared, bytes: text.length, received_at })
  }

  async function storeChecked(): Promise<void> {
    if (is_storing) return
    is_storing = true
    while (checked.length > 0 && !is_stopped) {
      const together = takeTogether(checked)
      const frames = together.flatMap((batch) => batch.frames)
      const done = await store({ ...source, frames, received_at: together.at(-1)!.received_at })
      under_way -= frames.length
      const bytes = together.reduce((sum, batch) => sum + batch.bytes, 0)
      committed(lane, { ...done, seqs: frames.map(({ seq }) => seq), bytes })
    }
    is_storing = false
  }

  return {
    get under_way() {
      return under_way
    },
    // Not async, so that the message is released as soon as it is checked.
    take(frames, text, received_at) {
      under_way += frames.length
      checking = checking.then(() => check(frames, text, received_at))
      return checking.then(storeChecked)
    },
    stop() {
      is_stopped = true
      checked.length = 0
    },
  }
}

function rowsOf({ content }: PreparedFrame): number {
  if (content.is !== 'readings') return 1
  return content.items.reduce((rows, { row_count }) => rows + row_count, 1)
}

/** Removes the batches of the next commit from the queue, at least one. */
function takeTogether(waiting: Arrived[]): Arrived[] {
  let frames = 0
  let count = 0
  for (const batch of waiting) {
    frames += batch.frames.length
    if (count > 0 && frames > frames_per_commit_max) break
    count += 1
  }
  return waiting.splice(0, count)
}
