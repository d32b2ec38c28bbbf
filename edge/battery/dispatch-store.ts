/**
 * What dispatch has to know after a restart: the hours that it heard of, the most that each PCS may
 * have been told to discharge, where it was heard, and the newest report of each battery. One file,
 * replaced as a whole.
 */
import { rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DispatchHour, DispatchReport } from '@heliograph/domain/dispatch'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { readIfThere, writeDurably } from '../durable-file.ts'
import type { PcsRecord } from './removed-pcs.ts'

interface DispatchState {
  hours: readonly DispatchHour[]
  /** By `${bess_id}.${pcs_idx}`, whole watts. */
  most_w: ReadonlyMap<string, number>
  reports: readonly DispatchReport[]
  pcs: readonly PcsRecord[]
}

export interface DispatchStore {
  /** As saved last. */
  readonly state: DispatchState
  /** Resolves when it is durable. One call at a time. */
  save(state: DispatchState): Promise<void>
}

const none: DispatchState = { hours: [], most_w: new Map(), reports: [], pcs: [] }

const Connection = Type.Union([Type.Integer(), Type.Null()])
const SavedPcs = Type.Object({
  bess_id: Type.Integer(),
  pcs_idx: Type.Integer(),
  max_w: Type.Number({ minimum: 0 }),
  place: Type.Union([Type.Object({ logger_id: Connection }), Type.Null()]),
  left: Type.Array(Connection),
  freed_id: Type.Union([Type.String(), Type.Null()]),
  stands: Type.Optional(Type.Boolean()),
})

const Saved = Type.Object({
  hours: Type.Array(DispatchHour),
  most_w: Type.Array(Type.Tuple([Type.String(), Type.Number({ minimum: 0 })])),
  reports: Type.Array(DispatchReport),
  pcs: Type.Optional(Type.Array(SavedPcs)),
})

const dispatch_file = 'battery-dispatch.json'

/**
 * What was saved last of each PCS, read beside an agent or without one.
 *
 * @throws {Error} where the file cannot be read, or is not what was written
 */
export async function readSavedPcs(dir: string): Promise<readonly PcsRecord[]> {
  const path = join(dir, dispatch_file)
  const text = await readIfThere(path)
  const state = text === null ? none : stateOf(text)
  if (!state) throw new Error(`${path} cannot be understood`)
  return state.pcs
}

/**
 * A file that is not what was written, which only a fault of the disk can bring about, is told of,
 * set aside and empty: then batteries stand still until the server tells the hours again.
 */
export async function openDispatchStore({
  dir,
  onFault,
}: {
  dir: string
  onFault(error: Error): void
}): Promise<DispatchStore> {
  const path = join(dir, dispatch_file)
  const text = await readIfThere(path)
  let state = text === null ? none : stateOf(text)
  if (!state) {
    await rename(path, `${path}.broken`)
    onFault(new Error(`${basename(path)} cannot be understood`))
    state = none
  }
  return storeOf(state, ({ most_w, ...rest }) =>
    writeDurably(path, JSON.stringify({ ...rest, most_w: [...most_w] })),
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
  // Until it is heard a file of before that was known says nothing of it.
  const pcs = (found.pcs ?? []).map(({ stands = false, ...one }) => ({ ...one, stands }))
  return { ...found, most_w: new Map(found.most_w), pcs }
}
