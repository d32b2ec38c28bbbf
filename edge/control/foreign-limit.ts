/** Whose a limit is that was found, and that is none which was begun lately. Whole watts. */
import { isSame, same_w } from './declared-traits.ts'
import type { DeviceRecord } from './device-record.ts'

/** What a read showed beside what we set: another master, or a device that lost its limit. */
export type Foreign = 'lowered' | 'raised' | 'lost'

interface Found {
  found_w: number
  /** As read before in the same contact; null: it may have changed without being seen. */
  seen_w: number | null
  /** The most that was begun and may come through yet, rounded or step by step. */
  begun_w: number
  was_silent: boolean
  /** Its ceiling is another than before. */
  has_new_max: boolean
}

/** @return null where it is as before; else also what counts as another's limit from now on */
export function foreignLimit(
  { written_w, before_w, external_w, static_max_w, made_w = null }: DeviceRecord,
  { found_w, seen_w, begun_w, was_silent, has_new_max }: Found,
): { external_w: number | null; foreign: Foreign | null } | null {
  // Where it stood before a write that has not come through yet, or came through in part.
  const known = [before_w, seen_w]
  // Above an external limit what we wrote is older than that limit: then it is not ours.
  if (written_w !== null && written_w <= (external_w ?? written_w)) known.push(written_w, made_w)
  if (known.some((one_w) => one_w !== null && isSame(found_w, one_w))) return null
  const others_w = external_w ?? static_max_w
  const reference_w = Math.min(written_w ?? static_max_w, others_w, static_max_w)
  if (isSame(found_w, reference_w)) return null
  if (found_w < reference_w) {
    return {
      external_w: found_w,
      foreign: written_w === null ? null : 'lowered',
    }
  }
  // One that was away may have restarted, what is in percent of a ceiling goes along with that, and
  // what was begun may have come through in a way of its own.
  const is_lifted = !was_silent && !has_new_max && found_w > begun_w + same_w
  const limit_w = is_lifted ? found_w : Math.min(found_w, others_w)
  // Its ceiling may have come down below a limit, which is there yet when it goes up again.
  const above_w = is_lifted ? null : external_w
  const left_w = limit_w < static_max_w ? limit_w : above_w
  if (written_w === null) return { external_w: left_w, foreign: null }
  return { external_w: left_w, foreign: was_silent ? 'lost' : 'raised' }
}

/**
 * After an operator said that the limit of another is nobody's: where it stands, it counts as one
 * of our own from now on. So a lower one that is found later is another's again.
 *
 * @param bound_w as read last; null: not since the start
 */
export function disowned(record: DeviceRecord, bound_w: number | null): DeviceRecord {
  const { written_w, external_w } = record
  if (external_w === null) return record
  const stands_w = bound_w ?? Math.min(external_w, written_w ?? external_w)
  const ours = isSame(stands_w, external_w)
    ? { written_w: stands_w, written_for: null, made_w: null }
    : {}
  return { ...record, ...ours, external_w: null }
}

/** What percent of a ceiling are, to the rounding of both. */
const rescaling_w = 2

/**
 * What goes along with another ceiling.
 * @param known_w what may stand there beside `written_w`
 * @return `is_same` where what was found is one of these in percent of it
 */
export function rescaled(
  record: DeviceRecord,
  static_max_w: number,
  { found_w, is_proven, known_w }: Rescaled,
): { record: DeviceRecord; is_same: boolean } {
  const { written_w, external_w, exceeds = null } = record
  const ratio = static_max_w / record.static_max_w
  const isOf = (limit_w: number | null) =>
    limit_w !== null && Math.abs(limit_w * ratio - found_w) <= rescaling_w
  const left = exceeds && exceeds.power_w > static_max_w ? exceeds : null
  const next = { ...record, static_max_w, exceeds: left }
  const is_of_written = is_proven && isOf(written_w)
  if (!is_of_written && !known_w.some(isOf)) return { record: next, is_same: false }
  // So it is with what another had set. Where that would be more now, it is left as it was.
  const other_w = external_w === null ? null : Math.floor(external_w * Math.min(1, ratio))
  const ours = is_of_written ? { written_w: found_w, made_w: null } : {}
  return { record: { ...next, ...ours, external_w: other_w }, is_same: true }
}

interface Rescaled {
  found_w: number
  is_proven: boolean
  known_w: readonly (number | null)[]
}
