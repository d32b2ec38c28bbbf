/** What of a device survives a restart, and what is known of it from the start. */
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { type Saved, unseen } from './core/site.ts'
import type { Source, Traits } from './core/source.ts'
import type { DeclaredTraits } from './declared-traits.ts'

const Watts = Type.Number({ minimum: 0 })
const WattsOrNone = Type.Union([Watts, Type.Null()])

/** What holds the plant when a limit is set. */
export type WrittenFor = Static<typeof WrittenFor>
const WrittenFor = Type.Enum(['curtailment', 'permit'])
const WrittenForOrNone = Type.Union([WrittenFor, Type.Null()])

/** Where site.yaml had a device when it was heard there, and what it said of it. */
export type Place = Static<typeof Place>
const Place = Type.Object({
  logger_id: Type.Integer(),
  rated_w: Watts,
  /** What it may deliver as long as it was never read. */
  max_w: Watts,
  /** Those that it limits, where it is the controller of a plant. */
  inverters: Type.Optional(Type.Array(Type.Integer())),
})

export type SavedDevice = Static<typeof SavedDevice>
export const SavedDevice = Type.Object({
  static_max_w: Watts,
  /** As last read; absent in records of earlier versions. */
  read_w: Type.Optional(WattsOrNone),
  /** What a timer of the device leads to; null: there is none. */
  reverts_to_w: Type.Optional(WattsOrNone),
  /** The last command, or the lower external limit that took its place; null: none ever. */
  written_w: WattsOrNone,
  written_for: Type.Optional(WrittenForOrNone),
  /** The read-back before commands that may still take effect; null: there are none. */
  before_w: WattsOrNone,
  /** Commands that may still take effect, the newest last. */
  intents: Type.Array(Watts),
  /** A lower limit that was found and that the edge did not set. */
  external_w: WattsOrNone,
  /**
   * `external_w` was found when this limit was to be read back: the device may round by more than
   * is declared. null: it was found otherwise.
   */
  not_as_set_w: Type.Optional(WattsOrNone),
  /**
   * The limit from which its power may still be coming down. null: no ramp is under way; absent:
   * unknown.
   */
  ramps_from_w: Type.Optional(WattsOrNone),
  /**
   * Power that was measured above the ceiling: the highest, and the lowest limit that stood then;
   * null: none.
   */
  exceeds: Type.Optional(
    Type.Union([Type.Object({ power_w: Watts, limit_w: Watts }), Type.Null()]),
  ),
  /** For so long it had not been read, over all restarts since, in whole poll intervals. */
  unheard_ms: Type.Optional(Type.Number({ minimum: 0 })),
  /** The newest request by which an external limit was forgotten: it is done but once. */
  forgot_id: Type.Optional(Type.String()),
  /** When that was asked for, Unix ms: what was asked before it was about an earlier limit. */
  forgot_asked_at: Type.Optional(Type.Integer()),
  /** null: it is disconnected, an operator said. */
  place: Type.Optional(Type.Union([Place, Type.Null()])),
  /** Plants that it left in site.yaml, and in which it counts until an operator says so. */
  left: Type.Optional(Type.Array(Type.Integer())),
  /** The newest request that said so: it is done but once. */
  freed_id: Type.Optional(Type.String()),
  /** Of earlier versions. */
  habits: Type.Optional(Type.Unknown()),
  made_w: Type.Optional(Type.Unknown()),
  origin: Type.Optional(Type.Object({ written_for: WrittenForOrNone })),
})

export type DeviceRecord = Omit<SavedDevice, 'habits' | 'made_w' | 'origin'>

/** Records of earlier versions lose what was observed of a device; every limit stays. */
export function recordOf({ origin, habits: _, made_w: __, ...record }: SavedDevice): DeviceRecord {
  return origin ? { written_for: origin.written_for, ...record } : record
}

/** A read counts as present until as many polls have passed without another. */
export const fresh_polls = 3

export interface DeviceFacts {
  rated_w: number
  /** What it may deliver as long as it was never read. */
  default_max_w: number
  /** A read older than this says nothing of the present. */
  fresh_ms: number
  /** By site.yaml. */
  declared?: DeclaredTraits
}

/** The core's part of a record. */
export function keptOf(source: Source) {
  const { max_w, read, command, under_way, external_w, ramps, exceeds } = source
  const most_w = ramps.reduce((most, { w }) => Math.max(most, w), 0)
  return {
    static_max_w: max_w,
    read_w: read?.w ?? null,
    reverts_to_w: read?.timer?.to_w ?? null,
    written_w: command?.w ?? null,
    before_w: under_way.length > 0 ? (read?.w ?? null) : null,
    intents: under_way.map(({ w }) => w),
    external_w,
    ramps_from_w: ramps.length > 0 ? most_w : null,
    exceeds,
  } satisfies DeviceRecord
}

/** What a restart begins with; the core sets the times. */
export function savedSource(traits: Traits, record: DeviceRecord): Saved {
  const { static_max_w, written_w, external_w, before_w, intents, ramps_from_w } = record
  const read_w = record.read_w === undefined ? formerRead(record) : record.read_w
  const to_w = record.reverts_to_w ?? null
  const timer = to_w === null ? null : { at_ms: 0, to_w }
  const ramp_w = ramps_from_w === undefined ? Math.max(traits.peak_w, static_max_w) : ramps_from_w
  return {
    ...unseen(traits),
    max_w: static_max_w,
    read: read_w === null ? null : { w: read_w, at_ms: 0, began_ms: 0, timer },
    known_w: read_w ?? before_w,
    command: written_w === null ? null : commandOf(written_w, external_w),
    under_way: intents.map((w) => ({ w, at_ms: 0 })),
    ramps: ramp_w === null ? [] : [{ w: ramp_w, until_ms: 0 }],
    external_w,
    exceeds: record.exceeds ?? null,
    unheard_ms: record.unheard_ms ?? 0,
  }
}

const commandOf = (w: number, external_w: number | null) => ({
  w,
  at_ms: 0,
  ...(external_w !== null && external_w <= w && { is_external: true }),
})

/** Records of earlier versions do not say what was read. */
function formerRead({ static_max_w, written_w, external_w, before_w }: DeviceRecord): number {
  return before_w ?? Math.min(static_max_w, written_w ?? static_max_w, external_w ?? static_max_w)
}

/** The same object where nothing in it changes: at each tick that is asked of each device. */
export function changedRecord(record: DeviceRecord, changes: Partial<DeviceRecord>): DeviceRecord {
  const names = Object.keys(changes) as (keyof DeviceRecord)[]
  const isSame = (name: keyof DeviceRecord) => isDeepStrictEqual(changes[name], record[name])
  return names.every(isSame) ? record : { ...record, ...changes }
}
