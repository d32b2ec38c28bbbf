/**
 * Setpoint in the registers of a power conversion system. Whole watts at its AC side, positive
 * towards the grid; drivers convert to registers last, and always towards zero.
 */
export interface PowerState {
  /** Setpoint from any source; null: none is enabled, so that the power is not defined. */
  setpoint_w: number | null
  /** Highest discharging and charging power regardless of the setpoint; from 0. */
  discharge_max_w: number
  charge_max_w: number
  /** Without another write the setpoint changes after this time; null: it stays. */
  revert: { in_ms: number; to_w: number } | null
  /** False: the device is under local control and does not follow remote commands. */
  is_remote: boolean
}

export interface PowerTraits {
  /** Time without a write or a heartbeat after which it stops by itself; null: never. */
  stops_after_ms: number | null
  /** Time after an accepted write within which it shows the setpoint. */
  applies_within_ms: number
  /** Time after a read shows a setpoint within which power follows; null: not documented. */
  ramp_ms: number | null
}

export interface PowerControl {
  traits: PowerTraits
  /** The value nearest to `power_w`, towards zero, that its registers can hold. */
  settable(power_w: number): number
  readPower(): Promise<PowerState>
  /**
   * Sets and enables a setpoint that `settable` returned, together with the fallback for missing
   * writes: 0 W. Resolves when the device accepted it, which does not prove compliance. Rejects
   * with a `BusError`, or with an Error that gives the reason. `mayStill` as in
   * `LimitControl.writeLimit`.
   */
  writePower(power_w: number, mayStill?: () => boolean): Promise<void>
  /** Writes a heartbeat if the device expects one. */
  beat(): Promise<void>
  /** Checks the conditions for trusting its setpoint. Returns the problems. */
  arm(): Promise<readonly string[]>
}
