/** The words for a decision over a battery. */
import type { ControlNote, DispatchReport } from '@heliograph/domain/dispatch'
import type { DispatchDecision } from './decide-dispatch.ts'

const watched = ['battery_stale', 'pcs_stale', 'heartbeat_lost']

/** What a change to this decision is called. */
export function actionOf(
  { tier, code, clamp_reason, overrode_tier }: DispatchDecision,
  was_overridden: boolean,
): ControlNote['action'] {
  if (watched.includes(code)) return 'watchdog'
  if (code === 'local_control') return 'handover'
  if (code === 'no_schedule') return 'hold'
  if (tier === 'dispatch') return was_overridden ? 'release' : 'setpoint'
  return clamp_reason === null || clamp_reason === 'alarm' || overrode_tier === null
    ? 'stop'
    : 'clamp'
}

const messages: Readonly<Record<string, string>> = {
  schedule: 'its schedule decides',
  no_schedule: 'no approved schedule says anything of now',
  soc_min: 'it is at the lower end of its window',
  soc_max: 'it is at the upper end of its window',
  bms_limit: 'its management system allows less than is asked for',
  pcs_limit: 'its PCS allow less than is asked for',
  rated_power: 'more than its rated power is asked for',
  permit: 'the grid permit leaves less than is asked for',
  curtailment: 'a curtailment leaves less than is asked for',
  alarm: 'its management system has a critical alarm',
  fire_system: 'its fire system has an alarm or a fault',
  contactor_open: 'its contactors are open',
  pcs_alarm: 'its PCS has a critical alarm, or a fault',
  battery_stale: 'its management system was not read lately',
  pcs_stale: 'its PCS were not read lately',
  pcs_not_ready: 'its PCS cannot be commanded',
  heartbeat_lost: 'a heartbeat stands still',
  local_control: 'it is commanded on site',
  clock_in_doubt: 'the clock jumped, and is not trusted yet',
}

export const messageOf = ({ code }: DispatchDecision) =>
  messages[code] ?? `its state is ${code.replace(/^state_/, '')}`

/** It stands still for what is not known, and nothing that is known holds it. */
export const isInDoubt = ({ tier, clamp_reason }: DispatchDecision) =>
  tier === 'protection' && clamp_reason === null

/** How far a report has come, by what was seen of it. */
export function statusOf(seen: {
  is_failed: boolean
  is_clamped: boolean
  is_taken: boolean
  is_achieved: boolean
}): DispatchReport['status'] {
  if (seen.is_failed) return 'failed'
  if (seen.is_clamped) return 'clamped'
  if (seen.is_achieved) return 'achieved'
  return seen.is_taken ? 'acknowledged' : 'sent'
}
