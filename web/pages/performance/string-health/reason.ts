import type { StringHealth } from '@heliograph/sdk'
import { formatNumber, formatTime, inWords } from '../../../ui/format.ts'
import { healthNames } from '../../../ui/health-names.ts'

const excluded: Record<string, string> = {
  no_daylight: 'no daylight',
  insufficient_data: 'insufficient data',
  not_connected: 'input not connected',
  no_samples: 'no measurements',
  no_light: 'low irradiance',
  limited: 'the inverter was limited all the time',
  stale: 'stale values',
  low_coverage: 'less than half of the daylight measured',
  too_few_samples: 'too few values in daylight',
  too_few_peers: 'too few strings for a comparison',
  peers_bad: 'its peers are unhealthy as well',
  not_producing: 'the inverter did not produce',
  unknown: 'unknown reason',
}

const causes: Record<string, string> = {
  soiling: 'soiling',
  shading: 'shading',
  fuse: 'a blown fuse',
  connector: 'a bad connector',
  bypass_diode: 'a bypass diode',
  tracker: 'tracker misalignment',
  snow: 'snow',
}

/** Only an inspection can tell which of them it is. */
export const open_circuit = 'open circuit: a fuse, a connector or a cable'

const dateOf = (date: string) => formatTime(date, 'UTC', 'date')

export function reasonOf(string: StringHealth): string {
  const { status, excluded_reason, deviation_pct, suspected_cause, confidence_pct } = string
  if (status === 'no_data') {
    const why = excluded_reason ?? 'unknown'
    return `No data: ${excluded[why] ?? inWords(why).toLowerCase()}`
  }
  const parts = [healthNames[status] ?? inWords(status)]
  if (deviation_pct !== null) {
    const than = string.compared_with === 'expected' ? 'expected' : 'its peers'
    const much = formatNumber(Math.abs(deviation_pct))
    const words = deviation_pct < 0 ? 'less' : 'more'
    parts.push(much === '0.0' ? `same power as ${than}` : `${much} % ${words} power than ${than}`)
  }
  if (status === 'dead' && (suspected_cause === 'fuse' || suspected_cause === 'connector')) {
    parts.push(open_circuit)
  } else if (suspected_cause && suspected_cause !== 'unknown') {
    const sure = confidence_pct === null ? '' : ` (${formatNumber(confidence_pct, 0)} % confidence)`
    parts.push(`possibly ${causes[suspected_cause] ?? inWords(suspected_cause)}${sure}`)
  }
  if (string.affected_by_string_index !== null) {
    parts.push(`affected by string ${string.affected_by_string_index} of its MPPT`)
  }
  if (string.below_since_date) parts.push(`since ${dateOf(string.below_since_date)}`)
  if (string.step_loss_pct !== null) {
    const since = string.step_loss_since_date ? ` since ${dateOf(string.step_loss_since_date)}` : ''
    parts.push(`permanent loss of ${formatNumber(string.step_loss_pct)} %${since}`)
  }
  return parts.join(', ')
}
