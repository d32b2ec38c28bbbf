/** Alarms of a battery that are derived from readings, not from alarm words. */
import type { fireStates } from './battery.ts'
import type { Severity } from './link.ts'

export interface ReadAlarm {
  code: string
  name: string
  severity: Severity
}

/** Heartbeat alarm of a BMS and of a PCS. */
export const heartbeatAlarm = {
  code: 'heartbeat_lost',
  name: 'The heartbeat stands still',
  severity: 'major',
} as const satisfies ReadAlarm

type FireAlarm = ReadAlarm & { state: Exclude<(typeof fireStates)[number], 'normal'> }

/** One alarm for each state of the fire alarm system other than normal. */
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
