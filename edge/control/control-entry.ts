/**
 * What the control log holds: all that is needed to prove, on the edge's own machine, what was
 * permitted, ordered, set, found and measured. It stays there: only here are figures of the permit.
 * Times are Unix ms, power is in whole watts. Where one device limits a whole plant, its
 * `inverter_id` is the `logger_id` below zero. A PCS of a battery has entries of its own; its power
 * is positive when it discharges.
 */
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import type { ListedPcs } from './device-name.ts'
import type { Sun } from './night-watch.ts'
import type { BatteryInRound, MeasuredPower } from './power-rounds.ts'

export type ControlEntry = { at: number } & (
  | { is: 'started' | 'stopped' }
  /** The permit in force from now on, the guard taken off; a plant without an entry has none. */
  | {
      is: 'permit'
      plants: { logger_id: number; permit_w: number }[]
      /** Of plants without an entry the last that they had: they are held to it, and not raised. */
      lapsed?: { logger_id: number; permit_w: number }[]
      site_w: number | null
    }
  /** A row that was heard of, or its release. */
  | { is: 'row'; row: CurtailmentRow }
  /** What a plant is held to, and what its devices may deliver at worst. */
  | {
      is: 'decision'
      logger_id: number
      ceiling_w: number
      worst_w: number
      held_by: 'none' | 'curtailment' | 'permit'
      may_raise: boolean
      /** false: not each device was heard yet, and `ceiling_w` is the part of those that were. */
      is_known?: boolean
    }
  /** Written down before the first register is touched. */
  | { is: 'order'; inverter_id: number; limit_w: number; is_raise: boolean }
  /**
   * A person tries a limit on a device at commissioning, on the edge's machine: from now on it is
   * requested at most that. null: the trial is over.
   */
  | { is: 'trial'; inverter_id: number; limit_w: number | null; asked_by: string | null }
  /** It was never sent: it is as if it had not been begun. Before anything else is ordered. */
  | { is: 'unsent'; inverter_id: number; limit_w: number }
  /** What became of it: the error of the device, and the limit that it was read to have after. */
  | {
      is: 'answer'
      inverter_id: number
      limit_w: number
      error: string | null
      found: Found | null
    }
  /** What was checked and set at a new contact. */
  | { is: 'armed'; inverter_id: number; complaints: readonly string[] }
  /** A limit read that differs from the one before; `foreign` when it was not our doing. */
  | {
      is: 'limit'
      inverter_id: number
      found: Found
      foreign: 'lowered' | 'raised' | 'lost' | null
    }
  /**
   * An operator said on the site that the limit of another is nobody's: it was forgotten, or was
   * not, for this reason.
   */
  | ({ is: 'forgotten'; inverter_id: number; external_w: number } & Stated)
  /**
   * An operator said on the site that a device is disconnected which site.yaml does not have any
   * more: it counts no more, or does, for this reason.
   */
  | ({ is: 'disconnected'; inverter_id: number } & Stated)
  /** It does not answer; `stays`: its limit holds all the same, whatever becomes of its power. */
  | { is: 'gone'; inverter_id: number; stays?: boolean }
  /**
   * What one poll round measured, and that alone, of each plant and of each battery.
   * `round_at` null: no round was polled.
   */
  | {
      is: 'round'
      /** Unix ms by the clock of the poll grid. */
      round_at: number | null
      plants: readonly ({ logger_id: number } & MeasuredPower)[]
      /** What feeds in with a plant is in the power of the plant as well. */
      batteries: readonly BatteryInRound[]
    }
  /** From now on; without any it is day. Inverters that do not answer count by day alone. */
  | { is: 'sun'; sun: Sun }
  /** The decision failed its own check: nothing was ordered. */
  | { is: 'fault'; message: string }
  /** What the site consists of, and what each inverter may deliver as long as it was never read. */
  | {
      is: 'site'
      plants: { logger_id: number; inverters: { inverter_id: number; max_w: number }[] }[]
      /** Left out: there are none, or the log is of before there were any. */
      pcs?: readonly ListedPcs[]
    }
  /** Written down before a register is touched, where it raises. */
  | { is: 'pcs_order'; bess_id: number; pcs_idx: number; power_w: number; is_raise: boolean }
  /** What is known of a PCS where that is another, and after each order: it is in `held_max_w`. */
  | ({ is: 'pcs' } & PcsFound)
  /** As `disconnected`. */
  | ({ is: 'pcs_disconnected'; bess_id: number; pcs_idx: number } & Stated)
  /** A permit file that was accepted, its guard not taken off. */
  | {
      is: 'permit_file'
      plants: { logger_id: number; permit_w: number }[]
      site_w: number | null
      guard_pct: number
    }
  /** The first of a file: of what was written before, all that still counts. */
  | { is: 'carried'; entries: ControlEntry[] }
  /** So many entries before this one could not be written. */
  | { is: 'lost'; entries: number }
)

/** Who stated it, and why it was not done; null: it was. */
interface Stated {
  request_id: string
  asked_at: number
  asked_by: string
  refusal: string | null
}

export interface PcsFound {
  bess_id: number
  pcs_idx: number
  /** `silent`: it was not read lately; `local`: it is commanded by somebody in front of it. */
  obeys: 'yes' | 'local' | 'silent'
  /** As read last; null: none is enabled, or it was never read. */
  setpoint_w: number | null
  /** The most that it may have been told; from 0. */
  held_max_w: number
  /** What it never exceeds by its own word; its rating where it said nothing. */
  discharge_max_w: number
  /** What it goes to by itself where nobody writes; null: it stays. */
  falls_back_to_w: number | null
}

export interface Found {
  /** null: no limit is enabled. */
  limit_w: number | null
  static_max_w: number
}

/** One of the kinds of entry, without its time. */
export type Noted = ControlEntry extends infer Entry
  ? Entry extends { at: number }
    ? Omit<Entry, 'at'>
    : never
  : never

export type RoundEntry = Extract<ControlEntry, { is: 'round' }>

export interface ControlLog {
  /** Resolves when the entry is on disk. */
  write(entry: ControlEntry): void | Promise<void>
}
