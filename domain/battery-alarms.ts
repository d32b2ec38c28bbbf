/** Alarms of a battery that its readings tell themselves, beside the bits of its alarm words. */
import type { fireStates } from './battery.ts'
import type { Severity } from './link.ts'

export interface ReadAlarm {
  /** Of its events. */
  code: string
  name: string
  severity: Severity
}

/** Of a battery management system, and of a PCS. */
export const heartbeatAlarm = {
  code: 'heartbeat_lost',
  name: 'The heartbeat stands still',
  severity: 'major',
} as const satisfies ReadAlarm

type FireAlarm = ReadAlarm & { state: Exclude<(typeof fireStates)[number], 'normal'> }

/** One for each state of the fire alarm system that is not normal. */
export const fireAlarms = [
  {
    state: 'warning',
    code: 'fire_system_warning',
    name: 'The fire alarm system tells: warning',
    severity: 'warning',
  },
  {
    state: 'fault',
    code: 'fire_system_fault',
    name: 'The fire alarm system tells: fault',
    severity: 'major',
  },
  {
    state: 'alarm',
    code: 'fire_system_alarm',
    name: 'The fire alarm system tells: alarm',
    severity: 'critical',
  },
] as const satisfies readonly FireAlarm[]

export const readAlarms: readonly ReadAlarm[] = [heartbeatAlarm, ...fireAlarms]
