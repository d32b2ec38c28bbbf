/** Operating states. The two families of inverters number them differently. */
import type { BatteryState, PcsState } from '../battery.ts'
import type { InverterState } from '../readings.ts'

/** In the order of both families; model 701 calls MPPT "running". */
const states: readonly InverterState[] = [
  'off',
  'sleeping',
  'starting',
  'mppt',
  'throttled',
  'shutting_down',
  'fault',
  'standby',
]

/** `unknown` for a number outside the standard; `null` if not implemented. */
const stateFrom = (nth: number | null): InverterState | null =>
  nth === null ? null : (states[nth] ?? 'unknown')

/** Point St of models 101 to 103 and 111 to 113, from 1. */
export const stateFromSt = (st: number | null) => stateFrom(st === null ? null : st - 1)

/** Point InvSt of model 701, from 0. */
export const stateFromInvSt = stateFrom

/** St of a state, for serving; `null` if the family has no number for it. */
export function stOf(state: InverterState): number | null {
  const nth = states.indexOf(state)
  return nth < 0 ? null : nth + 1
}

/** State of a power conversion system, which has no MPPT: an inverter's `mppt` is `running`. */
export function pcsStateOf(state: InverterState | null): PcsState | null {
  if (state === 'mppt') return 'running'
  return state === 'test' ? 'unknown' : state
}

/** Point State of model 802; ChaSt refines `connected`. */
const fromBankState: Readonly<Record<number, BatteryState>> = {
  1: 'disconnected',
  2: 'initializing',
  4: 'standby',
  5: 'soc_protection',
  // The device is shutting down and takes no commands.
  6: 'disconnected',
  99: 'fault',
}

/** Point ChaSt of models 802 and 124. */
const fromChaSt: Readonly<Record<number, BatteryState>> = {
  1: 'off',
  2: 'empty',
  3: 'discharging',
  4: 'charging',
  5: 'full',
  6: 'holding',
}

/** `power_w` (positive: discharge) decides if ChaSt is not implemented. */
export function batteryStateFrom({
  State,
  ChaSt,
  power_w,
}: {
  State: number | null
  ChaSt: number | null
  power_w: number | null
}): BatteryState | null {
  if (State === null) return null
  if (State !== 3) return fromBankState[State] ?? 'unknown'
  if (ChaSt !== null) return fromChaSt[ChaSt] ?? 'unknown'
  if (power_w === null) return 'unknown'
  return power_w > 0 ? 'discharging' : power_w < 0 ? 'charging' : 'holding'
}
