/**
 * Commands to simulated inverters and their power response, in watts and percent. `devices/` has
 * the registers.
 */
import type { Inverter, Site } from '@heliograph/domain/site'
import { type Fault, isInForce } from './faults.ts'

export interface Told {
  /** The persistent ceiling, which survives a restart. */
  max_w: number
  is_enabled: boolean
  /** Percent of `max_w`. */
  limit_pct: number
  /** Time after a command at which a limit ends; 0: never. */
  revert_s: number
  /** Fallback at that time: another limit, or none. */
  revert_enabled: boolean
  revert_pct: number
}

export interface LimitState extends Told {
  rated_w: number
  reverts_at_ms: number | null
  /** Power at the last command, percent of the rating, and its time. */
  from_pct: number
  since_ms: number
  restarted_at_ms: number | null
  /** Timers and faults are applied up to this instant. */
  time_ms: number
}

export type LimitStates = Record<number, LimitState>

export interface Limits {
  stateOf(inverter_id: number): Readonly<LimitState>
  /** State in its registers, including an external limit. */
  shownOf(inverter_id: number): Readonly<LimitState>
  tell(inverter_id: number, told: Partial<Told>): void
  /** The device has power again: it restarts, and has lost what is not persistent. */
  restart(inverter_id: number, time_ms: number): void
  /** The device restarts and does not answer. */
  isAway(inverter_id: number): boolean
  /** Present limits of the inverters, as faults of the simulation. */
  faultsAt(time_ms: number): Fault[]
  /** Incremented by each change. */
  readonly version: number
  /** Calls after each change by a master or a timer of the device. */
  onChange(listener: () => void): void
}

/** A full swing takes ten seconds, as grid codes ask and inverters do. */
const ramp_pct_per_s = 10
const restart_ms = 30_000
const second_master_every_ms = 300_000

const unlimited = {
  is_enabled: false,
  limit_pct: 100,
  revert_s: 0,
  revert_enabled: false,
  revert_pct: 100,
}

export function initialLimits(site: Site, time_ms: number): LimitStates {
  const inverters = site.loggers.flatMap((logger) => logger.inverters)
  return Object.fromEntries(
    inverters.map((inverter) => [inverter.inverter_id, initialLimit(inverter, time_ms)]),
  )
}

function initialLimit({ rated_ac_power_kw }: Inverter, time_ms: number): LimitState {
  const rated_w = rated_ac_power_kw * 1000
  const power = { from_pct: 100, since_ms: time_ms, restarted_at_ms: null, reverts_at_ms: null }
  return { ...unlimited, ...power, rated_w, max_w: rated_w, time_ms }
}

export function createLimits(
  states: LimitStates,
  { now_ms, faults }: { now_ms: () => number; faults: () => readonly Fault[] },
): Limits {
  let version = 0
  const listeners: (() => void)[] = []

  function noteChange(): void {
    version += 1
    for (const listener of listeners) listener()
  }

  function stateOf(inverter_id: number): LimitState {
    const state = states[inverter_id]
    if (!state) throw new Error(`there is no inverter ${inverter_id}`)
    const until_ms = now_ms()
    const own = faults().filter(
      (fault) => 'inverter_id' in fault && fault.inverter_id === inverter_id,
    )
    if (bringUp(state, own, until_ms)) noteChange()
    return state
  }

  return {
    stateOf,
    shownOf(inverter_id) {
      const state = stateOf(inverter_id)
      const held = faults().flatMap((fault) =>
        fault.kind === 'limit' && fault.inverter_id === inverter_id && isInForce(fault, now_ms())
          ? [(fault.limit_pct * state.rated_w) / state.max_w]
          : [],
      )
      const own_pct = state.is_enabled ? state.limit_pct : 100
      const limit_pct = Math.min(own_pct, ...held)
      return held.length > 0 ? { ...state, is_enabled: true, limit_pct } : state
    },
    tell(inverter_id, told) {
      tell(stateOf(inverter_id), told, now_ms())
      noteChange()
    },
    restart(inverter_id, time_ms) {
      const state = stateOf(inverter_id)
      tell(state, unlimited, time_ms)
      state.restarted_at_ms = time_ms
      noteChange()
    },
    isAway(inverter_id) {
      const { restarted_at_ms } = stateOf(inverter_id)
      return restarted_at_ms !== null && now_ms() - restarted_at_ms < restart_ms
    },
    faultsAt(time_ms) {
      const deaf = faults().filter(
        (fault) => fault.kind === 'ignores_limit' && isInForce(fault, time_ms),
      )
      return Object.keys(states).flatMap((key): Fault[] => {
        const inverter_id = Number(key)
        if (deaf.some((fault) => 'inverter_id' in fault && fault.inverter_id === inverter_id))
          return []
        const limit_pct = powerPct(stateOf(inverter_id), time_ms)
        return limit_pct < 100 ? [{ kind: 'limit', inverter_id, limit_pct }] : []
      })
    },
    get version() {
      return version
    },
    onChange(listener) {
      listeners.push(listener)
    },
  }
}

/** Applies due timers and faults in their order; returns whether there were any. */
function bringUp(state: LimitState, faults: readonly Fault[], until_ms: number): boolean {
  const due = faults.flatMap((fault) => {
    const told = toldBy(fault)
    if (!told) return []
    // Only the last of several missed events has an effect.
    const at_ms = Math.floor(until_ms / told.every_ms) * told.every_ms
    return at_ms > state.time_ms && isInForce(fault, at_ms) ? [{ ...told, at_ms }] : []
  })
  let has_changed = false
  for (const { at_ms, told, is_restart } of due.toSorted((a, b) => a.at_ms - b.at_ms)) {
    has_changed = revertUntil(state, at_ms) || has_changed
    tell(state, told, at_ms)
    if (is_restart) state.restarted_at_ms = at_ms
    has_changed = true
  }
  has_changed = revertUntil(state, until_ms) || has_changed
  state.time_ms = Math.max(state.time_ms, until_ms)
  return has_changed
}

function toldBy(fault: Fault) {
  if (fault.kind === 'forgets_limit') {
    return { told: unlimited, every_ms: fault.every_s * 1000, is_restart: true }
  }
  if (fault.kind === 'second_master') {
    const told = { is_enabled: true, limit_pct: fault.limit_pct }
    return { told, every_ms: second_master_every_ms, is_restart: false }
  }
  return null
}

function revertUntil(state: LimitState, until_ms: number): boolean {
  const { reverts_at_ms, revert_enabled, revert_pct } = state
  if (reverts_at_ms === null || reverts_at_ms > until_ms) return false
  tell(state, { is_enabled: revert_enabled, limit_pct: revert_pct }, reverts_at_ms)
  state.reverts_at_ms = null
  return true
}

function tell(state: LimitState, told: Partial<Told>, at_ms: number): void {
  state.from_pct = powerPct(state, at_ms)
  state.since_ms = at_ms
  Object.assign(state, told)
  const { is_enabled, revert_s } = state
  state.reverts_at_ms = is_enabled && revert_s > 0 ? at_ms + revert_s * 1000 : null
}

/** Highest power at an instant after the last command, percent of the rating. */
function powerPct(state: LimitState, time_ms: number): number {
  const { is_enabled, limit_pct, max_w, rated_w, from_pct, since_ms } = state
  const target_pct = ((is_enabled ? limit_pct : 100) * max_w) / rated_w
  const moved_pct = (Math.max(0, time_ms - since_ms) / 1000) * ramp_pct_per_s
  return target_pct < from_pct
    ? Math.max(target_pct, from_pct - moved_pct)
    : Math.min(target_pct, from_pct + moved_pct)
}
