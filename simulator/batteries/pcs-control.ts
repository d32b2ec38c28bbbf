/** Commands to a simulated PCS and their validity, in watts. `devices/` has the registers. */

/** Commands of a master. Power is positive towards the grid. */
export interface PcsTold {
  is_enabled: boolean
  setpoint_w: number
  /** Time after a command at which a setpoint ends; 0: never. */
  revert_s: number
  /** Fallback at that time: another setpoint, or none. */
  revert_enabled: boolean
  revert_w: number
  /** Older family: highest discharging and charging power, percent of its rating. */
  bounds: { discharge_is_set: boolean; charge_is_set: boolean; out_pct: number; in_pct: number }
  /** Heartbeat counter of the master. */
  controller_beat: number
}

export interface PcsControl extends PcsTold {
  reverts_at_ms: number | null
  /** Last change of the counter; null: never, so that no heartbeat is expected. */
  beat_at_ms: number | null
}

/** Time after the last heartbeat at which the master counts as lost. */
export const beat_timeout_s = 30

export const initialControl = (): PcsControl => ({
  is_enabled: false,
  setpoint_w: 0,
  revert_s: 0,
  revert_enabled: false,
  revert_w: 0,
  bounds: { discharge_is_set: false, charge_is_set: false, out_pct: 100, in_pct: 100 },
  controller_beat: 0,
  reverts_at_ms: null,
  beat_at_ms: null,
})

export function tellPcs(control: PcsControl, told: Partial<PcsTold>, at_ms: number): void {
  const has_beaten =
    told.controller_beat !== undefined && told.controller_beat !== control.controller_beat
  Object.assign(control, told)
  if (has_beaten) control.beat_at_ms = at_ms
  const { is_enabled, revert_s, bounds } = control
  const is_told = is_enabled || bounds.discharge_is_set || bounds.charge_is_set
  const is_setting = Object.keys(told).some((name) => name !== 'controller_beat')
  if (is_setting) control.reverts_at_ms = is_told && revert_s > 0 ? at_ms + revert_s * 1000 : null
}

/** Applies an expired watchdog, in place; returns whether it did. */
export function revertUntil(control: PcsControl, until_ms: number): boolean {
  const { reverts_at_ms, revert_enabled, revert_w, bounds } = control
  if (reverts_at_ms === null || reverts_at_ms > until_ms) return false
  Object.assign(control, {
    is_enabled: revert_enabled,
    setpoint_w: revert_w,
    bounds: { ...bounds, discharge_is_set: false, charge_is_set: false },
    reverts_at_ms: null,
  })
  return true
}

export const isGivenUp = (beat_at_ms: number | null, now_ms: number): boolean =>
  beat_at_ms !== null && now_ms - beat_at_ms > beat_timeout_s * 1000

/** Target power, kW; null without a setpoint, or after the loss of its master. */
export function setpointOf(
  control: PcsControl,
  { now_ms, rated_kw }: { now_ms: number; rated_kw: number },
): number | null {
  const { is_enabled, setpoint_w, bounds, beat_at_ms } = control
  if (isGivenUp(beat_at_ms, now_ms)) return null
  if (is_enabled) return setpoint_w / 1000
  const { discharge_is_set, charge_is_set, out_pct, in_pct } = bounds
  if (!discharge_is_set && !charge_is_set) return null
  // The power nearest to zero within both bounds: a negative maximum acts as a minimum.
  const most_pct = discharge_is_set ? out_pct : 100
  const least_pct = charge_is_set ? -in_pct : -100
  return (Math.min(most_pct, Math.max(least_pct, 0)) * rated_kw) / 100
}
