import type { StringHealth } from '@heliograph/sdk'
import { formatNumber, formatTime } from '../../../ui/format.ts'
import { healthNames } from '../../../ui/health-names.ts'
import { inWords } from '../../../ui/words.ts'

const excluded: Record<string, string> = {
  no_daylight: 'the sun was not up',
  insufficient_data: 'too little was measured',
  not_connected: 'nothing is connected to this input',
  no_samples: 'nothing was measured',
  no_light: 'there was too little light',
  limited: 'the inverter was limited all the time',
  stale: 'its values stand still',
  low_coverage: 'less than half of the daylight is known',
  too_few_samples: 'too few values were measured in light',
  too_few_peers: 'too few strings to compare it with',
  peers_bad: 'its peers are bad, too',
  not_producing: 'the inverter did not produce',
  unknown: 'the reason is not known',
}

const causes: Record<string, string> = {
  soiling: 'dirt',
  shading: 'shade',
  fuse: 'a blown fuse',
  connector: 'a bad connector',
  bypass_diode: 'a bypass diode',
  tracker: 'a tracker that stands wrong',
  snow: 'snow',
}

/** Which of them it is shows on site alone. */
export const open_circuit = 'open circuit: a fuse, a connector or a cable'

/** A date of the site, which no clock moves. */
const dateOf = (date: string) => formatTime(date, 'UTC', 'date')

/** Why a string has its verdict, in a sentence. */
export function reasonOf(string: StringHealth): string {
  const { status, excluded_reason, deviation_pct, suspected_cause, confidence_pct } = string
  if (status === 'no_data') {
    const why = excluded_reason ?? 'unknown'
    return `No verdict: ${excluded[why] ?? inWords(why).toLowerCase()}`
  }
  const parts = [healthNames[status] ?? inWords(status)]
  if (deviation_pct !== null) {
    const than = string.compared_with === 'expected' ? 'what the sun lets expect' : 'its peers'
    const much = formatNumber(Math.abs(deviation_pct))
    const words = deviation_pct < 0 ? 'less' : 'more'
    parts.push(
      much === '0.0' ? `as much power as ${than}` : `${much} % ${words} power than ${than}`,
    )
  }
  if (status === 'dead' && (suspected_cause === 'fuse' || suspected_cause === 'connector')) {
    parts.push(open_circuit)
  } else if (suspected_cause && suspected_cause !== 'unknown') {
    const sure = confidence_pct === null ? '' : ` (${formatNumber(confidence_pct, 0)} % sure)`
    parts.push(`perhaps ${causes[suspected_cause] ?? inWords(suspected_cause)}${sure}`)
  }
  if (string.affected_by_string_index !== null) {
    parts.push(`held back by string ${string.affected_by_string_index} of its MPPT`)
  }
  if (string.below_since_date) parts.push(`since ${dateOf(string.below_since_date)}`)
  if (string.step_loss_pct !== null) {
    const since = string.step_loss_since_date ? ` since ${dateOf(string.step_loss_since_date)}` : ''
    parts.push(`a lasting loss of ${formatNumber(string.step_loss_pct)} %${since}`)
  }
  return parts.join(', ')
}
