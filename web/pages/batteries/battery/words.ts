import type { BatteryDeviation, BatteryEnvelope, BatteryNow, BessSchedule } from '@heliograph/sdk'
import { formatPower, inWords, none } from '../../../ui/format.ts'

/** `Charging with 120.0 kW`: power is positive when it discharges. */
export function powerWords(power_kw: number | null): string {
  if (power_kw === null) return none
  if (Math.abs(power_kw) < 0.5) return 'Idle'
  return power_kw > 0
    ? `Discharging ${formatPower(power_kw)}`
    : `Charging ${formatPower(-power_kw)}`
}

/** Starts with a lower-case letter, for use within a sentence. */
export const inSentence = (words: string) => words.charAt(0).toLowerCase() + words.slice(1)

type Limitation = BatteryEnvelope['limited_by_charge']

const limitations: Record<Limitation, string> = {
  none: 'Not limited',
  communication: 'Communication lost',
  alarm: 'Fault, off or starting',
  soc: 'State of charge at the end of its window, or unknown',
  pcs: 'Limited by the PCS',
  temperature: 'Cell temperature',
  bms: 'Limited by the BMS',
  site: 'Limit of the grid connection',
}

export const limitationWords = (limited_by: Limitation) => limitations[limited_by]

const reasons: Partial<Record<NonNullable<BatteryDeviation['reason']>, string>> = {
  none: 'As planned',
  pcs_fault: 'PCS fault',
  comm_loss: 'Communication lost',
  permit: 'Grid permit',
  soc_limit: 'Charge limit',
}

export const deviationReason = (reason: BatteryDeviation['reason']) =>
  reason === null ? none : (reasons[reason] ?? inWords(reason))

export const statusColors: Record<string, string> = {
  online: 'teal',
  standby: 'teal',
  fault: 'red',
  maintenance: 'yellow',
  offline: 'red',
}

export const scheduleColors: Record<string, string> = {
  proposed: 'yellow',
  approved: 'teal',
  dispatching: 'blue',
  rejected: 'red',
  failed: 'red',
}

const scheduleTexts: Record<string, string> = { dispatching: 'Running', superseded: 'Replaced' }

export const scheduleWords = (status: string | null) =>
  status === null ? 'No plan' : (scheduleTexts[status] ?? inWords(status))

/** Reason of the status; null when the status is clear by itself. */
export function progressWords({
  status,
  status_reason,
  failure_code,
}: Pick<BessSchedule, 'status' | 'status_reason' | 'failure_code'>): string | null {
  const because = failure_code === null ? '.' : ` (${inSentence(inWords(failure_code))}).`
  if (status_reason === 'not_reported') {
    return status === 'failed' ? 'The edge reported no result.' : 'The edge has not reported yet.'
  }
  const words = status_reason === null ? undefined : progress[status_reason]
  return words ? `${words}${because}` : null
}

const progress: Partial<Record<string, string>> = {
  not_executed: 'Not carried out',
  interrupted: 'Interrupted',
  partly_executed: 'Partly carried out',
}

export const stateWords = ({ state, quality }: BatteryNow) => {
  if (quality === 'missing') return 'Never measured'
  if (quality === 'stale') return 'Communication lost'
  return state === null ? 'Unknown' : inWords(state)
}
