/**
 * What control has to know after a restart: the rows that it heard of and how far it has come with
 * them, and of each device what was set, found and begun. Two files, each replaced as a whole.
 */
import { readdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { RowReport } from '@heliograph/domain/curtailment'
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { readIfThere, writeDurably } from '../durable-file.ts'
import type { DeviceRecord } from './device-record.ts'

/** A row with its newest report. */
export type HeldRow = RowReport

export interface ControlStore {
  /** As saved last. */
  readonly rows: readonly HeldRow[]
  /** By inverter_id. */
  readonly devices: ReadonlyMap<number, DeviceRecord>
  /** Rows that were once known are not any more: nobody can tell what may be raised. */
  readonly is_rows_lost?: boolean
  /** Resolves when it is durable. A save that is called meanwhile waits for the one before. */
  saveRows(rows: readonly HeldRow[]): Promise<void>
  saveDevices(devices: ReadonlyMap<number, DeviceRecord>): Promise<void>
}

interface ControlStoreNeeds {
  dir: string
  /** A file is lost; `error` says which, and nothing that it held. */
  onFault(error: Error): void
}

export const control_log_dir = 'control-log'

const Watts = Type.Number({ minimum: 0 })
const WattsOrNone = Type.Union([Watts, Type.Null()])
const WrittenFor = Type.Enum(['curtailment', 'permit'])
const SavedPlace = Type.Object({
  logger_id: Type.Integer(),
  rated_w: Watts,
  max_w: Watts,
  inverters: Type.Optional(Type.Array(Type.Integer())),
})
const SavedDevice = Type.Object({
  static_max_w: Watts,
  written_w: WattsOrNone,
  written_for: Type.Optional(Type.Union([WrittenFor, Type.Null()])),
  before_w: WattsOrNone,
  intents: Type.Array(Watts),
  external_w: WattsOrNone,
  read_w: Type.Optional(WattsOrNone),
  reverts_to_w: Type.Optional(WattsOrNone),
  ramps_from_w: Type.Optional(WattsOrNone),
  not_as_set_w: Type.Optional(WattsOrNone),
  exceeds: Type.Optional(
    Type.Union([Type.Object({ power_w: Watts, limit_w: Watts }), Type.Null()]),
  ),
  unheard_ms: Type.Optional(Type.Number({ minimum: 0 })),
  forgot_id: Type.Optional(Type.String()),
  forgot_asked_at: Type.Optional(Type.Integer()),
  place: Type.Optional(Type.Union([SavedPlace, Type.Null()])),
  left: Type.Optional(Type.Array(Type.Integer())),
  freed_id: Type.Optional(Type.String()),
  habits: Type.Optional(Type.Unknown()),
  made_w: Type.Optional(Type.Unknown()),
  origin: Type.Optional(Type.Object({ written_for: Type.Union([WrittenFor, Type.Null()]) })),
})
const SavedRows = Type.Array(RowReport)
const SavedDevices = Type.Array(Type.Tuple([Type.Integer(), SavedDevice]))

/** Records of earlier versions lose what was observed of a device; every limit stays. */
function devicesOf(saved: Static<typeof SavedDevices>): Map<number, DeviceRecord> {
  return new Map(
    saved.map(([inverter_id, { origin, habits: _, made_w: __, ...record }]) => {
      return [inverter_id, origin ? { written_for: origin.written_for, ...record } : record]
    }),
  )
}

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
  const text = await readIfThere(path)
  if (text === null) return null
  const found = parsed(text)
  if (!Value.Check(SavedDevices, found)) throw new Error(`${path} cannot be understood`)
  return devicesOf(found)
}

/**
 * A file that is not what was written, which only a fault of the disk can bring about, is told of,
 * set aside and empty; so is one that is gone, told of where anything else is left. Then limits
 * that are found count as another's and stay. Rows that are lost stay so, over restarts, until
 * `saveRows`: until then there is no such file, but that of the devices.
 */
export async function openControlStore({ dir, onFault }: ControlStoreNeeds): Promise<ControlStore> {
  const rows_path = join(dir, 'control-rows.json')
  const devices_path = join(dir, devices_file)
  const rows = await read<HeldRow[]>(rows_path, SavedRows, onFault)
  const devices = await read<Static<typeof SavedDevices>>(devices_path, SavedDevices, onFault)
  const is_used = rows !== 'none' || devices !== 'none' || (await hasLog(dir))
  for (const [path, found] of [[rows_path, rows] as const, [devices_path, devices] as const]) {
    if (found === 'none' && is_used) onFault(new Error(`${basename(path)} is gone`))
  }
  const is_rows_lost = typeof rows === 'string' && is_used
  const memory = memoryControlStore(
    typeof rows === 'string' ? [] : rows,
    devicesOf(typeof devices === 'string' ? [] : devices),
  )
  const writeRows = inTurn((text) => writeDurably(rows_path, text))
  const writeDevices = inTurn((text) => writeDurably(devices_path, text))
  // From now on both are there: where one is not, it was lost.
  if (rows === 'none' && !is_rows_lost) await writeRows('[]').catch(onFault)
  if (typeof devices === 'string') await writeDevices('[]').catch(onFault)
  return {
    get rows() {
      return memory.rows
    },
    get devices() {
      return memory.devices
    },
    is_rows_lost,
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

async function read<Of>(
  path: string,
  schema: TSchema,
  onFault: (error: Error) => void,
): Promise<Of | 'none' | 'broken'> {
  const text = await readIfThere(path)
  if (text === null) return 'none'
  const found = parsed(text)
  if (Value.Check(schema, found)) return found as Of
  await rename(path, `${path}.broken`)
  onFault(new Error(`${basename(path)} cannot be understood`))
  return 'broken'
}

/** undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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
