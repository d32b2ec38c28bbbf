/**
 * What a simulated PCS was told about its power, and for how long it believes that: the part of it
 * that masters write. Registers are the matter of `devices/`; here are watts.
 */

/** What a master can tell it. Power positive towards the grid. */
export interface PcsTold {
  is_enabled: boolean
  setpoint_w: number
  /** A setpoint ends so long after it was told, 0: never. */
  revert_s: number
  /** What it gives way to then: another setpoint, or none. */
  revert_enabled: boolean
  revert_w: number
  /** Of the older family: what it delivers at most, and takes at most, percent of its rating. */
  bounds: { discharge_is_set: boolean; charge_is_set: boolean; out_pct: number; in_pct: number }
  /** A count of the master that goes on while it lives. */
  controller_beat: number
}

export interface PcsControl extends PcsTold {
  reverts_at_ms: number | null
  /** When the count last changed; null: it never did, and is not waited for. */
  beat_at_ms: number | null
}

/** A master that counted once is given up so long after its last count. */
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

/** Takes what it is told at an instant, in place. */
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

/** Lets its watchdog do what was due until now, in place; says whether it did. */
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

/** What it heads for, kW; null without a setpoint, or of a master that lives no more. */
export function setpointOf(
  control: PcsControl,
  { now_ms, rated_kw }: { now_ms: number; rated_kw: number },
): number | null {
  const { is_enabled, setpoint_w, bounds, beat_at_ms } = control
  if (isGivenUp(beat_at_ms, now_ms)) return null
  if (is_enabled) return setpoint_w / 1000
  const { discharge_is_set, charge_is_set, out_pct, in_pct } = bounds
  if (!discharge_is_set && !charge_is_set) return null
  // What is nearest to nothing between at least and at most: a negative "at most" is an "at least".
  const most_pct = discharge_is_set ? out_pct : 100
  const least_pct = charge_is_set ? -in_pct : -100
  return (Math.min(most_pct, Math.max(least_pct, 0)) * rated_kw) / 100
}
