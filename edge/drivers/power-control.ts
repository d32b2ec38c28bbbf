/**
 * What a driver offers of a power conversion system: its power can be set. Whole watts at its AC
 * side, positive towards the grid; a driver converts to registers last, and always towards zero.
 */

/** What the registers of a device say of its setpoint. */
export interface PowerState {
  /** What it is told to do, by whomever; null: no setpoint is enabled, so that nobody knows. */
  setpoint_w: number | null
  /** The most that it delivers and takes, whatever it is told; from 0. */
  discharge_max_w: number
  charge_max_w: number
  /** Without another write it goes there by itself in so long; null: it stays. */
  revert: { in_ms: number; to_w: number } | null
  /** False: it is commanded by someone in front of it and does not obey us. */
  is_remote: boolean
}

export interface PowerTraits {
  /** After so long without a write or a heartbeat it stops by itself; null: it never does. */
  stops_after_ms: number | null
  /** Once it took a write, it shows that setpoint within this. */
  applies_within_ms: number
  /** After a read shows a setpoint, the power has followed within this; null: not documented. */
  ramp_ms: number | null
}

export interface PowerControl {
  traits: PowerTraits
  /** The nearest to `power_w`, towards zero, that its registers can hold. */
  settable(power_w: number): number
  /** Goes before polls, as a write does. */
  readPower(): Promise<PowerState>
  /**
   * Sets and enables a setpoint that `settable` gave, together with what the device falls back to
   * without further writes: 0 W. Resolves when the device accepted it, which does not prove that it
   * obeys; rejects with a `BusError`, or with an Error that says why. `mayStill` is asked right
   * before each write is put on the line, as in `LimitControl.writeLimit`.
   */
  writePower(power_w: number, mayStill?: () => boolean): Promise<void>
  /** A sign of life of ours, where it expects one; else nothing. */
  beat(): Promise<void>
  /** What has to be right before its setpoint can be trusted; says what is wrong. */
  arm(): Promise<readonly string[]>
}
