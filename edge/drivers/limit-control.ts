/**
 * Limit in the registers of a device. All power is in whole watts; drivers convert to registers
 * last, and always downwards.
 */
export interface LimitState {
  /** Power that the enabled limit allows; null if none is enabled. */
  limit_w: number | null
  /** Highest power without that limit: the device's own persistent ceiling. */
  static_max_w: number
  /** The limit gives way to another after this time; null: it stays. */
  revert: { in_ms: number; to_w: number } | null
}

export interface LimitTraits {
  /** The limit survives a loss of power, and no timer ends it. */
  survives_power_loss: boolean
  /** Minimum time between raises, as registers wear out. */
  min_interval_ms: number
  /**
   * Time after an accepted write within which the device may still show the limit before. 0: none.
   */
  applies_within_ms: number
  /** Time after a read shows a lower limit within which power follows. null: not documented. */
  ramp_ms: number | null
  /**
   * Lowest limit above 0. Lower limits are sent as 0, at which the device may stop or deliver this.
   */
  min_limit_w: number
  /** Step that the device applies, coarser than that of its registers; absent: none. */
  step_w?: number
  /** Largest rounding of a limit, up or down; absent: none. */
  tolerance_w?: number
}

export interface LimitControl {
  traits: LimitTraits
  /** The highest limit at or below `limit_w` that its registers can hold. */
  settable(limit_w: number): number
  /** Goes before polls, as a write does. */
  readLimit(): Promise<LimitState>
  /**
   * Sets and enables a limit that `settable` returned. If a timer of the device ends it, its
   * fallback is set to the same limit; if that is not possible, the timer is set to 0. Resolves
   * when the device accepted it, which does not prove compliance. Rejects with a `BusError`, or
   * with an Error that gives the reason.
   *
   * `mayStill` is called right before each write is sent: if it returns false, nothing more is sent
   * and the call rejects with a `BusError` of kind `overtaken`.
   */
  writeLimit(limit_w: number, mayStill?: () => boolean): Promise<void>
  /**
   * Checks, at each contact, the conditions for trusting its limit (remote control allowed,
   * fail-safe registers, timers) and sets what may be set. `share_w` is the device's share of the
   * permit alone. Returns the remaining problems.
   */
  arm(share_w: number): Promise<readonly string[]>
}
