/** Operating states. The two families of inverters number them differently. */
import type { BatteryState, PcsState } from '../battery.ts'
import type { InverterState } from '../readings.ts'

/** Point St of models 101 to 103 and 111 to 113. */
const fromSt: Readonly<Record<number, InverterState>> = {
  1: 'off',
  2: 'sleeping',
  3: 'starting',
  4: 'mppt',
  5: 'throttled',
  6: 'shutting_down',
  7: 'fault',
  8: 'standby',
}

/** Point InvSt of model 701, whose "running" is the older family's MPPT. */
const fromInvSt: Readonly<Record<number, InverterState>> = {
  0: 'off',
  1: 'sleeping',
  2: 'starting',
  3: 'mppt',
  4: 'throttled',
  5: 'shutting_down',
  6: 'fault',
  7: 'standby',
}

/** `unknown` for a number outside the standard; `null` if not implemented. */
export function stateFromSt(st: number | null): InverterState | null {
  return st === null ? null : (fromSt[st] ?? 'unknown')
}

export function stateFromInvSt(inv_st: number | null): InverterState | null {
  return inv_st === null ? null : (fromInvSt[inv_st] ?? 'unknown')
}

/** St of a state, for serving; `null` if the family has no number for it. */
export function stOf(state: InverterState): number | null {
  return numberOf(fromSt, state)
}

export function invStOf(state: InverterState): number | null {
  return numberOf(fromInvSt, state)
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

function numberOf(states: Readonly<Record<number, InverterState>>, state: InverterState) {
  const entry = Object.entries(states).find(([, name]) => name === state)
  return entry ? Number(entry[0]) : null
}
