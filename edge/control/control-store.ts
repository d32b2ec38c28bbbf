/**
 * What control has to know after a restart: the rows that it heard of and how far it has come with
 * them, and of each device what was set, found and begun. Two files, each replaced as a whole.
 */
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { RowReport } from '@heliograph/domain/curtailment'
import { type Static, Type } from 'typebox'
import { writeDurably } from '../durable-file.ts'
import { type DeviceRecord, recordOf, SavedDevice } from './device-record.ts'
import { openSaved, readSaved } from './saved-file.ts'

/** A row with its newest report. */
export type HeldRow = RowReport

export interface ControlStore {
  /** Of an earlier run. */
  readonly rows: readonly HeldRow[]
  /** By inverter_id. */
  readonly devices: ReadonlyMap<number, DeviceRecord>
  /** Rows that were once known are not any more: nobody can tell what may be raised. */
  readonly is_rows_lost?: boolean
  /** Resolves when it is durable. One call at a time. */
  saveRows(rows: readonly HeldRow[]): Promise<void>
  saveDevices(devices: ReadonlyMap<number, DeviceRecord>): Promise<void>
}

interface ControlStoreNeeds {
  dir: string
  /** A file is lost; `error` says which, and nothing that it held. */
  onFault(error: Error): void
}

export const control_log_dir = 'control-log'

const SavedRows = Type.Array(RowReport)
const SavedDevices = Type.Array(Type.Tuple([Type.Integer(), SavedDevice]))

const devicesOf = (saved: Static<typeof SavedDevices>): Map<number, DeviceRecord> =>
  new Map(saved.map(([inverter_id, device]) => [inverter_id, recordOf(device)]))

const devices_file = 'control-devices.json'

/**
 * What was saved last of each device, by inverter_id, read beside an agent or without one; null:
 * nothing ever was.
 *
 * @throws {Error} where the file cannot be read, or is not what was written
 */
export async function readSavedDevices(
  dir: string,
): Promise<ReadonlyMap<number, DeviceRecord> | null> {
  const path = join(dir, devices_file)
  const found = await readSaved(path, SavedDevices)
  if (found === 'broken') throw new Error(`${path} cannot be understood`)
  return found === 'none' ? null : devicesOf(found)
}

/**
 * A file that is broken or gone while anything else is left is told of, and empty. Then limits that
 * are found count as another's and stay. Rows that are lost stay so, over restarts, until
 * `saveRows`: until then there is no such file, but that of the devices.
 */
export async function openControlStore({ dir, onFault }: ControlStoreNeeds): Promise<ControlStore> {
  const rows_path = join(dir, 'control-rows.json')
  const devices_path = join(dir, devices_file)
  const rows = await openSaved(rows_path, SavedRows, onFault)
  const devices = await openSaved(devices_path, SavedDevices, onFault)
  const is_used = rows !== 'none' || devices !== 'none' || (await hasLog(dir))
  for (const [path, found] of [[rows_path, rows] as const, [devices_path, devices] as const]) {
    if (found === 'none' && is_used) onFault(new Error(`${basename(path)} is gone`))
  }
  const is_rows_lost = typeof rows === 'string' && is_used
  const writeRows = (text: string) => writeDurably(rows_path, text)
  const writeDevices = (text: string) => writeDurably(devices_path, text)
  // From now on both are there: where one is not, it was lost.
  if (rows === 'none' && !is_rows_lost) await writeRows('[]').catch(onFault)
  if (typeof devices === 'string') await writeDevices('[]').catch(onFault)
  return {
    rows: typeof rows === 'string' ? [] : rows,
    devices: devicesOf(typeof devices === 'string' ? [] : devices),
    is_rows_lost,
    saveRows: (next) => writeRows(JSON.stringify(next)),
    saveDevices: (next) => writeDevices(JSON.stringify([...next])),
  }
}

async function hasLog(dir: string): Promise<boolean> {
  const names = await readdir(join(dir, control_log_dir)).catch(() => [])
  return names.length > 0
}
