/** What an inverter says it is doing. The two families number the same states differently. */
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

/** `unknown` for a number that the standard does not have; `null` where it is not implemented. */
export function stateFromSt(st: number | null): InverterState | null {
  return st === null ? null : (fromSt[st] ?? 'unknown')
}

export function stateFromInvSt(inv_st: number | null): InverterState | null {
  return inv_st === null ? null : (fromInvSt[inv_st] ?? 'unknown')
}

/** The numbers to serve; `null` for a state that the family has no number for. */
export function stOf(state: InverterState): number | null {
  return numberOf(fromSt, state)
}

export function invStOf(state: InverterState): number | null {
  return numberOf(fromInvSt, state)
}

function numberOf(states: Readonly<Record<number, InverterState>>, state: InverterState) {
  const entry = Object.entries(states).find(([, name]) => name === state)
  return entry ? Number(entry[0]) : null
}
