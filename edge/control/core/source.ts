/**
 * A source of power: an inverter, a plant controller or a battery inverter (PCS). Watts, positive
 * towards the grid. Times are milliseconds of a stopwatch that never goes back.
 */

/** Facts of the site file and of the device profile. */
export interface Traits {
  id: string
  /** The sums that count the source: its plant, the common connection. */
  groups: readonly string[]
  /** Rated power: the weight in sharing. */
  rated_w: number
  /** The lowest ceiling that is ever assumed: the rating, or more by the site file. */
  peak_w: number
  /** 0, or the largest import of a battery as a negative number. */
  lowest_w: number
  is_pv: boolean
  /** The register keeps the limit through silence and loss of power. */
  keeps_limit: boolean
  /** The device has no watchdog: it continues with the last setpoint when the edge is silent. */
  has_no_watchdog: boolean
  /** The source is not raised above an external limit. False for battery setpoints. */
  respects_external: boolean
  /** The source counts and is never commanded: no control, or no longer in the site file. */
  is_uncontrolled: boolean
  /** The highest value of the register that is not above this; `max_w` is the ceiling as read. */
  settable(w: number, max_w: number): number
  /** Largest difference between command and read-back, up or down. */
  tolerance_w: number
  /** The smallest limit above 0 that the device accepts. */
  smallest_limit_w: number
  /** A read-back older than this is stale. */
  stale_ms: number
  /** A command takes effect within this time after the driver returned, or never. */
  latency_ms: number
  /** The device may restart its delay with each write: another command waits this long. */
  settle_ms: number
  /** Longest time from a lower limit in the register to the power below that limit. */
  ramp_ms: number
  /** Pause between a command and the next raise. */
  raise_pause_ms: number
}

/** The register changes by itself to `to_w` at `at_ms`. */
export type Timer = { at_ms: number; to_w: number }

interface UnderWay {
  w: number
  at_ms: number | null
  /** The command as sent, when it may take effect as more of a higher ceiling. */
  sent_w?: number
  /** Sent more than once. */
  is_repeated?: boolean
  /** The device accepted it: it takes effect soon, or never. */
  is_taken?: boolean
}

export interface Source extends Traits {
  /** Ceiling and lowest power, as last read. */
  max_w: number
  min_w: number
  /** The last read-back. Known since `at_ms`; what took effect after `began_ms` is not in it. */
  read: { w: number; at_ms: number; began_ms: number; timer: Timer | null } | null
  /** The last read-back whose author is decided: the edge, a timer, or another master. */
  known_w: number | null
  /**
   * The last command. A lower external limit replaces the command, and is not of the edge.
   * `is_interrupting`: it was sent while the device had not settled on the one before.
   * `is_refused`: the device answered that it does not take the command.
   */
  command: {
    w: number
    at_ms: number
    is_external?: boolean
    is_interrupting?: boolean
    is_refused?: boolean
  } | null
  /** Commands that may still take effect; `at_ms` is null until the driver has returned. */
  under_way: readonly UnderWay[]
  /** Earlier limits that the power may still follow while the device ramps down. */
  ramps: readonly { w: number; until_ms: number }[]
  /** The limit of another master. A higher read-back or an operator ends this limit. */
  external_w: number | null
  /** Power above the ceiling: the highest, and the lowest limit that stood and did not hold. */
  exceeds: { power_w: number; limit_w: number } | null
  /** The last measured power. */
  power: { w: number; at_ms: number } | null
  /** The first command since the read-back last changed. */
  ineffective_since_ms: number | null
  /** Since when the read-back differs from the command. */
  deviates_since_ms: number | null
  /** Since when the measured power is above all limits that are known. */
  above_since_ms: number | null
  /** The last raise by another master. */
  external_raise_ms: number | null
  /** The source counts with its ceiling until then. */
  distrusted_until_ms: number | null
  /** What the device falls back to when the edge is silent, as it was armed; null: unknown. */
  falls_back_w: number | null
  /** False while nothing can be written to the device. */
  has_control: boolean
  /** The source was read since the edge started. */
  was_read: boolean
}
