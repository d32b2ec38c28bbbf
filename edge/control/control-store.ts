/**
 * What control has to know after a restart: the rows that it heard of and how far it has come with
 * them, and of each device what was set, found and begun. Two files, each replaced as a whole.
 */
import { readdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { RowReport } from '@heliograph/domain/curtailment'
import { readIfThere, writeDurably } from '../durable-file.ts'
import type { DeviceRecord } from './device-limits.ts'

/** A row with its newest report. */
export type HeldRow = RowReport

export interface ControlStore {
  /** As saved last. */
  readonly rows: readonly HeldRow[]
  /** By inverter_id. */
  readonly devices: ReadonlyMap<number, DeviceRecord>
  /** Resolves when it is durable. A save that is called meanwhile waits for the one before. */
  saveRows(rows: readonly HeldRow[]): Promise<void>
  saveDevices(devices: ReadonlyMap<number, DeviceRecord>): Promise<void>
}

export interface ControlStoreNeeds {
  dir: string
  /** A file is lost; `error` says which, and nothing that it held. */
  onFault(error: Error): void
}

export const control_log_dir = 'control-log'

/**
 * A file that cannot be understood, which only a fault of the disk can bring about, is told of, set
 * aside and empty; so is one that is gone, told of where anything else is left. Then limits that
 * are found count as another's and stay, and the server tells the rows again.
 */
export async function openControlStore({ dir, onFault }: ControlStoreNeeds): Promise<ControlStore> {
  const rows_path = join(dir, 'control-rows.json')
  const devices_path = join(dir, 'control-devices.json')
  const rows = await read<HeldRow>(rows_path, onFault)
  const devices = await read<[number, DeviceRecord]>(devices_path, onFault)
  const is_used = rows !== null || devices !== null || (await hasLog(dir))
  for (const [path, found] of [[rows_path, rows] as const, [devices_path, devices] as const]) {
    if (found === null && is_used) onFault(new Error(`${basename(path)} is gone`))
  }
  const memory = memoryControlStore(rows ?? [], new Map(devices))
  const writeRows = inTurn((text) => writeDurably(rows_path, text))
  const writeDevices = inTurn((text) => writeDurably(devices_path, text))
  // From now on both are there: where one is not, it was lost.
  if (rows === null) await writeRows('[]').catch(onFault)
  if (devices === null) await writeDevices('[]').catch(onFault)
  return {
    get rows() {
      return memory.rows
    },
    get devices() {
      return memory.devices
    },
    async saveRows(rows) {
      await writeRows(JSON.stringify(rows))
      await memory.saveRows(rows)
    },
    async saveDevices(devices) {
      await writeDevices(JSON.stringify([...devices]))
      await memory.saveDevices(devices)
    },
  }
}

/** Outlives a controller, not the program. */
export function memoryControlStore(
  rows: readonly HeldRow[] = [],
  devices: ReadonlyMap<number, DeviceRecord> = new Map(),
): ControlStore {
  const saved = { rows: [...rows], devices: new Map(devices) }
  return {
    get rows() {
      return saved.rows
    },
    get devices() {
      return saved.devices
    },
    async saveRows(next) {
      saved.rows = [...next]
    },
    async saveDevices(next) {
      saved.devices = new Map(next)
    },
  }
}

async function hasLog(dir: string): Promise<boolean> {
  const names = await readdir(join(dir, control_log_dir)).catch(() => [])
  return names.length > 0
}

/** null: there is none. */
async function read<Of>(path: string, onFault: (error: Error) => void): Promise<Of[] | null> {
  const text = await readIfThere(path)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    await rename(path, `${path}.broken`)
    onFault(new Error(`${basename(path)} cannot be understood`))
    return []
  }
}

/** One write after the other, in the order of the calls. */
function inTurn(write: (text: string) => Promise<void>): (text: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (text) => {
    const next = last.catch(() => {}).then(() => write(text))
    last = next
    return next
  }
}
