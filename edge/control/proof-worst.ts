/** What a device may deliver at worst by the entries of the control log alone. Whole watts. */
import type { ControlState } from './control-state.ts'
import type { ListedPcs } from './pcs-name.ts'

export interface ListedInverter {
  inverter_id: number
  max_w: number
}

/**
 * Its limit as read last, or a raise that was begun since, where that is higher; its own persistent
 * ceiling while no limit is enabled or it does not answer; its largest power by site.yaml while it
 * was never read. Nothing while it does not answer and the sun is low.
 */
export function worstOfInverter(
  state: ControlState,
  { inverter_id, max_w }: ListedInverter,
): number {
  const { found, begun_w, gone } = state.device(inverter_id)
  const is_day = (state.sun?.sun ?? 'day') === 'day'
  if (!is_day && (!found || gone !== 'no')) return 0
  if (!found) return max_w
  if (gone === 'yes') return found.static_max_w
  const { limit_w, static_max_w } = found
  return Math.max(limit_w ?? static_max_w, Math.min(begun_w, static_max_w))
}

/**
 * The highest of its setpoint as read last, of all that was begun and may come through yet, and of
 * what it falls back to; all that it can while no setpoint is enabled, it is not read, or it obeys
 * another; its rating while it was never read. Charging counts as nothing.
 */
export function worstOfPcs(state: ControlState, pcs: ListedPcs): number {
  const { found, begun } = state.pcs(pcs)
  if (!found) return pcs.max_w
  const { setpoint_w, held_max_w, discharge_max_w, falls_back_to_w } = found
  const begun_w = Math.max(held_max_w, begun?.power_w ?? 0)
  if (found.obeys !== 'yes') return Math.max(discharge_max_w, begun_w)
  return Math.max(0, setpoint_w ?? discharge_max_w, begun_w, falls_back_to_w ?? 0)
}
