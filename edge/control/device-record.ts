/** What of a device survives a restart, and what is known of it from the start. */
import { isDeepStrictEqual } from 'node:util'
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
  /** The last limit that we set or began to set; null: none ever. */
  written_w: number | null
  written_for?: WrittenFor | null
  /** What it held when that was begun; null once a read has shown that it was done. */
  before_w: number | null
  /** All that was begun and may come through yet, the newest last. */
  intents: readonly number[]
  /** A lower limit that we found and did not set. */
  external_w: number | null
  /**
   * `external_w` was found when this limit was to be read back: the device may round by more than
   * is declared. null: it was found otherwise.
   */
  not_as_set_w?: number | null
  /**
   * The limit from which its power may still be coming down, stored before the lower limit is sent.
   * null: no ramp is under way; without it, that is unknown.
   */
  ramps_from_w?: number | null
  /** What it made of `written_w`, where that is another figure. */
  made_w?: number | null
  /**
   * The most that it was measured to deliver above its own ceiling, and the least limit that stood
   * there then; null: it keeps to its ceiling.
   */
  exceeds?: { power_w: number; limit_w: number } | null
  /** For so long it has not been heard of, at least, over all restarts since; up to `fresh_ms`. */
  unheard_ms?: number
  /** The newest request by which a limit of another was forgotten: it is done but once. */
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

export interface DeviceFacts {
  rated_w: number
  /** What it may deliver as long as it was never read. */
  default_max_w: number
  /** A read older than this says nothing of the present. */
  fresh_ms: number
  /** A timer at the device that runs out within this is as good as run out. */
  revert_margin_ms: number
  /** By site.yaml. */
  declared?: DeclaredTraits
}

/** What holds it is what it has not kept to before, as far as it had the sun for that. */
export function isAboveKept(
  { exceeds, static_max_w }: DeviceRecord,
  bound_w: number | null,
): boolean {
  if (exceeds == null) return false
  return (bound_w ?? static_max_w) >= Math.min(exceeds.limit_w, static_max_w)
}

const intents_max = 16

/** One that is refused for long gathers many: the highest and the lowest stand for the others. */
export function fewIntents(intents: number[]): number[] {
  if (intents.length <= intents_max) return intents
  const extremes = [Math.max(...intents), Math.min(...intents)]
  const nth = intents.findIndex((limit_w) => !extremes.includes(limit_w))
  return intents.toSpliced(nth, 1)
}

/** What stood there before a limit was begun that was not sent. */
export type BeforeBegin = Pick<
  DeviceRecord,
  'written_w' | 'written_for' | 'before_w' | 'made_w'
> & {
  is_again: boolean
  written_at_ms: number
}

/** The same object where nothing in it changes: at each tick that is asked of each device. */
export function changedRecord(record: DeviceRecord, changes: Partial<DeviceRecord>): DeviceRecord {
  const names = Object.keys(changes) as (keyof DeviceRecord)[]
  const isSame = (name: keyof DeviceRecord) => isDeepStrictEqual(changes[name], record[name])
  return names.every(isSame) ? record : { ...record, ...changes }
}

/** What it may deliver without a limit, whatever it says of that. */
export function ceilingOf(
  { static_max_w, exceeds }: DeviceRecord,
  { default_max_w }: DeviceFacts,
): number {
  return exceeds ? Math.max(static_max_w, default_max_w, exceeds.power_w) : static_max_w
}

/** After it delivered so much more than its ceiling. */
export function exceedsBy(
  { static_max_w, exceeds }: DeviceRecord,
  { power_w, bound_w }: { power_w: number; bound_w: number },
): NonNullable<DeviceRecord['exceeds']> {
  return {
    power_w: Math.max(exceeds?.power_w ?? 0, Math.ceil(power_w)),
    limit_w: Math.min(exceeds?.limit_w ?? static_max_w, bound_w),
  }
}
