/**
 * What dispatch has to know after a restart: the hours that it heard of, the most that each PCS may
 * have been told to discharge, and the newest report of each battery. One file, replaced as a
 * whole.
 */
import { rename } from 'node:fs/promises'
import { basename } from 'node:path'
import { DispatchHour, DispatchReport } from '@heliograph/domain/dispatch'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { readIfThere, writeDurably } from '../durable-file.ts'

export interface DispatchState {
  hours: readonly DispatchHour[]
  /** By `${bess_id}.${pcs_idx}`, whole watts. */
  most_w: ReadonlyMap<string, number>
  reports: readonly DispatchReport[]
}

export interface DispatchStore {
  /** As saved last. */
  readonly state: DispatchState
  /** Resolves when it is durable. One call at a time. */
  save(state: DispatchState): Promise<void>
}

const none: DispatchState = { hours: [], most_w: new Map(), reports: [] }

const Saved = Type.Object({
  hours: Type.Array(DispatchHour),
  most_w: Type.Array(Type.Tuple([Type.String(), Type.Number({ minimum: 0 })])),
  reports: Type.Array(DispatchReport),
})

/**
 * A file that is not what was written, which only a fault of the disk can bring about, is told of,
 * set aside and empty: then batteries stand still until the server tells the hours again.
 */
export async function openDispatchStore({
  path,
  onFault,
}: {
  path: string
  onFault(error: Error): void
}): Promise<DispatchStore> {
  const text = await readIfThere(path)
  let state = text === null ? none : stateOf(text)
  if (!state) {
    await rename(path, `${path}.broken`)
    onFault(new Error(`${basename(path)} cannot be understood`))
    state = none
  }
  return storeOf(state, ({ hours, most_w, reports }) =>
    writeDurably(path, JSON.stringify({ hours, most_w: [...most_w], reports })),
  )
}

/** Outlives a dispatcher, not the program. */
export function memoryDispatchStore(state: DispatchState = none): DispatchStore {
  return storeOf(state, async () => {})
}

function storeOf(
  opened: DispatchState,
  write: (state: DispatchState) => Promise<void>,
): DispatchStore {
  let state = opened
  return {
    get state() {
      return state
    },
    async save(next) {
      await write(next)
      state = next
    },
  }
}

function stateOf(text: string): DispatchState | null {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return null
  }
  if (!Value.Check(Saved, found)) return null
  return { ...found, most_w: new Map(found.most_w) }
}
