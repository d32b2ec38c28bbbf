/** What of a device survives a restart, and what is known of it from the start. */
import { isDeepStrictEqual } from 'node:util'
import { type Saved, type Source, type Traits, unseen } from './core/core.ts'
import type { DeclaredTraits } from './declared-traits.ts'

/** Where site.yaml had a device when it was heard there, and what it said of it. */
export interface Place {
  logger_id: number
  rated_w: number
  /** What it may deliver as long as it was never read. */
  max_w: number
  /** Those that it limits, where it is the controller of a plant. */
  inverters?: readonly number[]
}

/** What holds the plant when a limit is set. */
export type WrittenFor = 'curtailment' | 'permit'

export interface DeviceRecord {
  static_max_w: number
  /** As last read; absent in records of earlier versions. */
  read_w?: number | null
  /** What a timer of the device leads to; null: there is none. */
  reverts_to_w?: number | null
  /** The last command, or the lower external limit that took its place; null: none ever. */
  written_w: number | null
  written_for?: WrittenFor | null
  /** The read-back before commands that may still take effect; null: there are none. */
  before_w: number | null
  /** Commands that may still take effect, the newest last. */
  intents: readonly number[]
  /** A lower limit that was found and that the edge did not set. */
  external_w: number | null
  /**
   * `external_w` was found when this limit was to be read back: the device may round by more than
   * is declared. null: it was found otherwise.
   */
  not_as_set_w?: number | null
  /**
   * The limit from which its power may still be coming down. null: no ramp is under way; absent:
   * unknown.
   */
  ramps_from_w?: number | null
  /**
   * Power that was measured above the ceiling: the highest, and the lowest limit that stood then;
   * null: none.
   */
  exceeds?: { power_w: number; limit_w: number } | null
  /** For so long it had not been read, over all restarts since, in whole poll intervals. */
  unheard_ms?: number
  /** The newest request by which an external limit was forgotten: it is done but once. */
  forgot_id?: string
  /** When that was asked for, Unix ms: what was asked before it was about an earlier limit. */
  forgot_asked_at?: number
  /** null: it is disconnected, an operator said. */
  place?: Place | null
  /** Plants that it left in site.yaml, and in which it counts until an operator says so. */
  left?: readonly number[]
  /** The newest request that said so: it is done but once. */
  freed_id?: string
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
type Kept = Pick<
  DeviceRecord,
  | 'static_max_w'
  | 'read_w'
  | 'reverts_to_w'
  | 'written_w'
  | 'before_w'
  | 'intents'
  | 'external_w'
  | 'ramps_from_w'
  | 'exceeds'
>

export function keptOf(source: Source): Kept {
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
  }
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
    read: read_w === null ? null : { w: read_w, at_ms: 0, timer },
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
