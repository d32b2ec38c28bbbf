/**
 * A simulated battery over time, from the cells to the grid: an open-circuit voltage and a
 * resistance per cell, parallel clusters on one DC bus, limits of the battery management, and the
 * PCS. Left out: hysteresis and relaxation of the voltage, and reversible heat.
 *
 * Power and current are positive when discharging, towards the grid.
 */
import { type Bank, bankOf, currentsAt, isConnected } from './bank.ts'
import type { BatteryModel, BatteryState, ClusterState, PcsState } from './battery-state.ts'
import { advanceCare } from './care.ts'
import { moveCells } from './cluster.ts'
import { acPowerAt, conversionLoss, standbyLoss } from './converter.ts'
import { isEmpty, isFull } from './derating.ts'
import { advanceTemperatures } from './thermal.ts'

export interface BatteryAilments {
  /** `pcs_idx` of failed PCS. */
  failed_pcs?: readonly number[]
  /** A cell with a multiple of its resistance and self-discharge. */
  weak_cell?: { cluster_idx: number; index: number }
  hot_cell?: { cluster_idx: number; index: number; temperature_c: number }
  contactors_open?: boolean
}

interface BatteryInput {
  seconds: number
  /** Setpoint of each PCS, in the order of `battery.pcs`; null: none, at rest. */
  setpoint_kw: readonly (number | null)[]
  ambient_c: number
  ailments?: BatteryAilments
}

/** Longer steps are divided, as limits only act between steps. */
const usual_step_s = 10
const pcs_start_s = 2
const pcs_idle_s = 120

export function advanceBattery(
  model: BatteryModel,
  state: BatteryState,
  input: BatteryInput,
  { step_s = usual_step_s }: { step_s?: number } = {},
) {
  const steps = Math.ceil(input.seconds / step_s)
  const ailments = input.ailments ?? {}
  state.ambient_temperature_c = input.ambient_c
  for (const [cluster_idx, cluster] of state.clusters.entries()) {
    const { weak_cell, hot_cell } = ailments
    cluster.weak_cell = weak_cell?.cluster_idx === cluster_idx ? weak_cell.index : null
    cluster.hot_cell = hot_cell?.cluster_idx === cluster_idx ? hot_cell : null
  }
  for (let nth = 0; nth < steps; nth += 1) {
    advanceStep(model, state, { ...input, ailments, seconds: input.seconds / steps })
  }
}

function advanceStep(
  model: BatteryModel,
  state: BatteryState,
  input: Required<BatteryInput>,
): void {
  const { seconds } = input
  advanceTemperatures(model, state, seconds)
  const bank = bankOf(model, state)
  followSetpoints(model, state, { ...input, bank })
  const wanted_kw = state.pcs.reduce((sum, { dc_power_kw }) => sum + dc_power_kw, 0)
  const terminal_kwh = moveClusters(model, state, { bank, wanted_kw, seconds })
  settle(model, state, { terminal_kwh, wanted_kw, seconds })
  advanceCare(model, state, {
    seconds,
    is_held_open: input.ailments.contactors_open ?? false,
    bus_v: bank.open_circuit_v,
  })
}

/** Moves charge for `wanted_kw`. Returns the power at the terminals. */
function moveClusters(
  model: BatteryModel,
  state: BatteryState,
  { bank, wanted_kw, seconds }: { bank: Bank; wanted_kw: number; seconds: number },
): number {
  const split_a = currentsAt(state, bank, { wanted_kw, seconds })
  let terminal_kwh = 0
  for (const [idx, cluster] of state.clusters.entries()) {
    const current_a = split_a[idx]!
    const moved = moveCells(model.clusters[idx]!, cluster, cluster.sums, { current_a, seconds })
    cluster.current_a = current_a
    cluster.sums = moved.sums
    cluster.heat_kwh = moved.spent.heat_kwh + moved.spent.bled_kwh
    cluster.is_full = isFull(moved.sums.soc, cluster.is_full)
    cluster.is_empty = isEmpty(moved.sums.soc, cluster.is_empty)
    cluster.discharged_ah += (Math.max(0, current_a) * seconds) / 3600
    state.totals.heat_kwh += moved.spent.heat_kwh
    state.totals.balancing_kwh += moved.spent.bled_kwh
    terminal_kwh += moved.terminal_kwh
  }
  return terminal_kwh
}

/**
 * Moves each PCS towards its setpoint by its ramp, within its rating and the limits of the battery
 * management.
 */
function followSetpoints(
  model: BatteryModel,
  state: BatteryState,
  { setpoint_kw, ailments, seconds, bank }: Required<BatteryInput> & { bank: Bank },
): void {
  const is_connected = state.clusters.some(isConnected)
  for (const [nth, pcs] of state.pcs.entries()) {
    const { pcs_idx, rated_power_kw } = model.battery.pcs[nth]!
    const has_failed = ailments.failed_pcs?.includes(pcs_idx) ?? false
    const told_kw = setpoint_kw[nth] ?? 0
    const target_kw = Math.max(-rated_power_kw, Math.min(rated_power_kw, told_kw))
    switchMode(pcs, { has_failed, is_connected, is_wanted: target_kw !== 0, seconds })
    if (pcs.mode !== 'running') {
      pcs.ac_power_kw = 0
      pcs.dc_power_kw = 0
      continue
    }
    const most_kw = model.ramp_kw_s[nth]! * seconds
    const from_kw = pcs.ac_power_kw
    pcs.ac_power_kw = Math.max(from_kw - most_kw, Math.min(from_kw + most_kw, target_kw))
    pcs.dc_power_kw = pcs.ac_power_kw + conversionLoss(pcs.ac_power_kw, rated_power_kw)
  }
  keepWithin(model, state, bank.limits)
}

interface Around {
  has_failed: boolean
  is_connected: boolean
  is_wanted: boolean
  seconds: number
}

function switchMode(pcs: PcsState, { has_failed, is_connected, is_wanted, seconds }: Around): void {
  const become = (mode: PcsState['mode']) => {
    if (mode !== pcs.mode) Object.assign(pcs, { mode, mode_s: 0, idle_s: 0 })
  }
  pcs.mode_s += seconds
  pcs.is_throttled = false
  if (has_failed || !is_connected) {
    become(has_failed ? 'fault' : 'off')
    return
  }
  if (pcs.mode === 'fault' || pcs.mode === 'off') become('standby')
  if (pcs.mode === 'standby' && is_wanted) become('starting')
  if (pcs.mode === 'starting' && (pcs.mode_s >= pcs_start_s || seconds >= pcs_start_s)) {
    become('running')
  }
  const is_idle = pcs.mode === 'running' && !is_wanted && Math.abs(pcs.ac_power_kw) < 0.01
  pcs.idle_s = is_idle ? pcs.idle_s + seconds : 0
  if (pcs.idle_s >= pcs_idle_s) become('standby')
}

/** Reduces the requested power until the sum is within the limits of the DC side. */
function keepWithin(
  { battery }: BatteryModel,
  { pcs }: BatteryState,
  { charge_kw, discharge_kw }: Bank['limits'],
): void {
  const sum = (sign: number) =>
    pcs.reduce((dc_kw, one) => dc_kw + Math.max(0, sign * one.dc_power_kw), 0)
  const out_kw = sum(1)
  const in_kw = sum(-1)
  const cut = (sign: number, ratio: number) => {
    for (const [nth, one] of pcs.entries()) {
      if (sign * one.dc_power_kw <= 0) continue
      const { rated_power_kw } = battery.pcs[nth]!
      const ac_power_kw = acPowerAt(one.dc_power_kw * ratio, rated_power_kw)
      const dc_power_kw = ac_power_kw + conversionLoss(ac_power_kw, rated_power_kw)
      Object.assign(one, { ac_power_kw, dc_power_kw, is_throttled: true })
    }
  }
  if (out_kw - in_kw > discharge_kw) cut(1, (discharge_kw + in_kw) / out_kw)
  else if (in_kw - out_kw > charge_kw) cut(-1, (charge_kw + out_kw) / in_kw)
}

/** Delivers the power of the terminals to the grid, and books it. */
function settle(
  { battery }: BatteryModel,
  { pcs, totals }: BatteryState,
  {
    terminal_kwh,
    wanted_kw,
    seconds,
  }: { terminal_kwh: number; wanted_kw: number; seconds: number },
): void {
  const hours = seconds / 3600
  const beyond_kw = terminal_kwh / hours - wanted_kw
  const is_any_running = pcs.some(({ mode }) => mode === 'running')
  const taking = battery.pcs.map(({ rated_power_kw }, nth) =>
    !is_any_running || pcs[nth]!.mode === 'running' ? rated_power_kw : 0,
  )
  const taking_kw = taking.reduce((sum, rated_kw) => sum + rated_kw, 0)
  for (const [nth, one] of pcs.entries()) {
    const { rated_power_kw } = battery.pcs[nth]!
    const loss_kw =
      one.mode === 'running' ? one.dc_power_kw - one.ac_power_kw : standbyLoss(rated_power_kw)
    one.dc_power_kw += (beyond_kw * taking[nth]!) / taking_kw
    one.ac_power_kw = one.dc_power_kw - loss_kw
    one.injected_kwh += Math.max(0, one.ac_power_kw) * hours
    one.absorbed_kwh += Math.max(0, -one.ac_power_kw) * hours
    totals.injected_kwh += Math.max(0, one.ac_power_kw) * hours
    totals.absorbed_kwh += Math.max(0, -one.ac_power_kw) * hours
    totals.conversion_loss_kwh += loss_kw * hours
  }
}

export const storedEnergyOf = ({ clusters }: BatteryState): number =>
  clusters.reduce((sum: number, { sums }: ClusterState) => sum + sums.stored_kwh, 0)
