/** A battery in words. */
import type { BatteryDeviation, BatteryEnvelope, BatteryNow, BessSchedule } from '@heliograph/sdk'
import { formatPower, none } from '../../../ui/format.ts'
import { inWords } from '../../../ui/words.ts'

/** `Charging with 120.0 kW`: power is positive when it discharges. */
export function powerWords(power_kw: number | null): string {
  if (power_kw === null) return none
  if (Math.abs(power_kw) < 0.5) return 'Idle'
  return power_kw > 0
    ? `Discharging ${formatPower(power_kw)}`
    : `Charging ${formatPower(-power_kw)}`
}

/** The same within a sentence. */
export const inSentence = (words: string) => words.charAt(0).toLowerCase() + words.slice(1)

type Limitation = BatteryEnvelope['limited_by_charge']

const limitations: Record<Limitation, string> = {
  none: 'Its full power',
  communication: 'It does not answer',
  alarm: 'It is in fault, off or starting',
  soc: 'State of charge: the end of its window, or not known',
  pcs: 'Its power conversion holds it back',
  temperature: 'Cells are too cold or too hot',
  bms: 'Its management system holds it back',
  site: 'The limit of the connection holds it back',
}

export const limitationWords = (limited_by: Limitation) => limitations[limited_by]

const reasons: Partial<Record<NonNullable<BatteryDeviation['reason']>, string>> = {
  none: 'As planned',
  pcs_fault: 'Power conversion in fault',
  alarm: 'An alarm',
  comm_loss: 'It did not answer',
  permit: 'The grid permit',
  operator: 'An operator',
  grid_limit: 'A limit of the grid',
  soc_limit: 'End of the charge window',
  temperature_derating: 'Temperature of the cells',
  power_limit: 'Its power limit',
  unplanned: 'Nothing was planned',
  unknown: 'Reason not known',
}

export const deviationReason = (reason: BatteryDeviation['reason']) =>
  reason === null ? none : (reasons[reason] ?? inWords(reason))

export const statusColors: Record<string, string> = {
  online: 'teal',
  standby: 'teal',
  fault: 'red',
  maintenance: 'yellow',
  offline: 'red',
  unknown: 'gray',
}

export const scheduleColors: Record<string, string> = {
  proposed: 'yellow',
  approved: 'teal',
  dispatching: 'blue',
  completed: 'gray',
  rejected: 'red',
  superseded: 'gray',
  expired: 'gray',
  failed: 'red',
}

const scheduleTexts: Record<string, string> = {
  proposed: 'To be decided',
  approved: 'Approved',
  dispatching: 'Running',
  completed: 'Completed',
  rejected: 'Rejected',
  superseded: 'Replaced',
  expired: 'Expired',
  failed: 'Failed',
}

export const scheduleWords = (status: string | null) =>
  status === null ? 'No plan' : (scheduleTexts[status] ?? inWords(status))

/** Why a schedule has the status that it has; null where the status says it all. */
export function progressWords({
  status,
  status_reason,
  failure_code,
}: Pick<BessSchedule, 'status' | 'status_reason' | 'failure_code'>): string | null {
  const because = failure_code === null ? '.' : ` (${inSentence(inWords(failure_code))}).`
  switch (status_reason) {
    case 'not_reported':
      return status === 'failed'
        ? 'The edge reported nothing of it.'
        : 'The edge has not reported on it yet.'
    case 'not_executed':
      return `The edge could not carry it out${because}`
    case 'interrupted':
      return `Interrupted: the edge cannot carry it out now${because}`
    case 'partly_executed':
      return `Carried out in part${because}`
    default:
      return null
  }
}

export const stateWords = ({ state, quality }: BatteryNow) => {
  if (quality === 'missing') return 'Never measured'
  if (quality === 'stale') return 'Does not answer'
  return state === null ? 'State not known' : inWords(state)
}
