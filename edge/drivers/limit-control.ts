/**
 * What a driver offers of a device whose active power can be limited. All power is in whole watts;
 * a driver converts to registers last, and always downwards.
 */

/** What the registers of a device say of its limit. */
export interface LimitState {
  /** What the enabled limit lets it deliver; null: none is enabled. */
  limit_w: number | null
  /** The most that it can deliver without that limit: its own persistent ceiling. */
  static_max_w: number
  /** The limit ends by itself in so long and gives way to another; null: it stays. */
  revert: { in_ms: number; to_w: number } | null
}

export interface LimitTraits {
  /** The limit is still there after the device was without power, and no timer ends it. */
  survives_power_loss: boolean
  /** Its register wears out: writes that raise are at least so far apart. */
  min_interval_ms: number
  /**
   * Once it took a write, it shows that limit within this, and until then another one: that is no
   * failure. 0: it shows it at once.
   */
  applies_within_ms: number
  /**
   * After a read shows a lower limit, the power has followed within this. null: neither the
   * registers nor a document say so.
   */
  ramp_ms: number | null
  /**
   * The lowest limit above 0: below that it is told 0, at which it may stop, or go on with this.
   */
  min_limit_w: number
  /** Steps that it takes whole, coarser than those of its registers; without it, there are none. */
  step_w?: number
  /** The largest rounding of a limit, up or down; without it, it holds what it is told. */
  tolerance_w?: number
}

export interface LimitControl {
  traits: LimitTraits
  /** The highest limit at or below `limit_w` that its registers can hold. */
  settable(limit_w: number): number
  /** Goes before polls, as a write does. */
  readLimit(): Promise<LimitState>
  /**
   * Sets and enables a limit that `settable` gave. Where a timer of the device ends it and leads to
   * a value that can be set, that is the same limit; where it leads to none, the timer is 0.
   * Resolves when the device accepted it, which does not prove that it obeys; rejects with a
   * `BusError`, or with an Error that says why.
   *
   * `mayStill` is asked right before each write is put on the line: where it says no, that and what
   * would follow is not sent, and it rejects with a `BusError` of kind `overtaken`.
   */
  writeLimit(limit_w: number, mayStill?: () => boolean): Promise<void>
  /**
   * What has to be right at the device before its limit can be trusted (remote control allowed,
   * fail-safe registers, timers): sets what may be set, `share_w` being the device's share of the
   * permit alone, and says what is wrong. At each contact.
   */
  arm(share_w: number): Promise<readonly string[]>
}
