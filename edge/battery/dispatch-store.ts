/**
 * What dispatch has to know after a restart: the hours that it heard of, the most that each PCS may
 * have been told to discharge, where it was heard, and the newest report of each battery. One file,
 * replaced as a whole.
 */
import { join } from 'node:path'
import { DispatchHour, DispatchReport } from '@heliograph/domain/dispatch'
import { type Static, Type } from 'typebox'
import { openSaved, readSaved } from '../control/saved-file.ts'
import { writeDurably } from '../durable-file.ts'

const Connection = Type.Union([Type.Integer(), Type.Null()])
const SavedPcs = Type.Object({
  bess_id: Type.Integer(),
  pcs_idx: Type.Integer(),
  /** The most that it may discharge: its rating, or what it said itself where that is more. */
  max_w: Type.Number({ minimum: 0 }),
  /** See `Places`. */
  place: Type.Union([Type.Object({ logger_id: Connection }), Type.Null()]),
  left: Type.Array(Connection),
  freed_id: Type.Union([Type.String(), Type.Null()]),
  /** Without another write it goes on with its setpoint: it has no timer. */
  stands: Type.Optional(Type.Boolean()),
})

/** What of a PCS survives a restart. */
export type PcsRecord = Required<Static<typeof SavedPcs>>

interface DispatchState {
  hours: readonly DispatchHour[]
  /** By `${bess_id}.${pcs_idx}`, whole watts. */
  most_w: ReadonlyMap<string, number>
  reports: readonly DispatchReport[]
  pcs: readonly PcsRecord[]
}

export interface DispatchStore {
  /** Of an earlier run. */
  readonly state: DispatchState
  /** Resolves when it is durable. One call at a time. */
  save(state: DispatchState): Promise<void>
}

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
  const found = await readSaved(path, Saved)
  if (found === 'broken') throw new Error(`${path} cannot be understood`)
  return stateOf(found).pcs
}

/** Where the file is broken, batteries stand still until the server tells the hours again. */
export async function openDispatchStore({
  dir,
  onFault,
}: {
  dir: string
  onFault(error: Error): void
}): Promise<DispatchStore> {
  const path = join(dir, dispatch_file)
  return {
    state: stateOf(await openSaved(path, Saved, onFault)),
    save: ({ most_w, ...rest }) =>
      writeDurably(path, JSON.stringify({ ...rest, most_w: [...most_w] })),
  }
}

function stateOf(found: Static<typeof Saved> | string): DispatchState {
  if (typeof found === 'string') return { hours: [], most_w: new Map(), reports: [], pcs: [] }
  // Until it is heard a file of before that was known says nothing of it.
  const pcs = (found.pcs ?? []).map(({ stands = false, ...one }) => ({ ...one, stands }))
  return { ...found, most_w: new Map(found.most_w), pcs }
}
