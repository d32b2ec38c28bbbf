import type { Alert } from '@heliograph/sdk'
import { formatDuration } from '../../ui/duration.ts'
import { Facts } from '../../ui/facts.tsx'
import { formatEnergy, formatMoney, formatPower, formatQuantity } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { inWords } from '../../ui/words.ts'

/** Losses count from the time the alert was raised, not from the start of its condition. */
export const lostWords = ({
  started_at,
  detected_at,
}: Pick<Alert, 'started_at' | 'detected_at'>) =>
  Date.parse(detected_at) - Date.parse(started_at) > late_ms
    ? 'Energy lost since raised'
    : 'Energy lost'

const late_ms = 600_000

export function AlertFacts({ alert }: { alert: Alert }) {
  const time = (at: string | null) => (at === null ? null : <Time at={at} />)
  const by = (at: string | null, who: string | null) =>
    at === null ? null : (
      <>
        {time(at)}
        {who && ` by ${who === 'system' ? 'the system' : who}`}
      </>
    )
  const quantity = (value: number | null) =>
    value === null ? null : formatQuantity(value, alert.unit ?? '', 2)
  return (
    <Facts
      left_out
      rows={[
        ['Measured', quantity(alert.value)],
        ['Threshold', quantity(alert.threshold)],
        [
          alert.status === 'resolved' ? 'Last power loss' : 'Power loss now',
          formatPower(alert.affected_power_kw),
        ],
        [lostWords(alert), formatEnergy(alert.lost_energy_kwh)],
        ['Revenue lost', formatMoney(alert.lost_amount, alert.currency)],
        ['Duration', formatDuration(alert.duration_s)],
        ['Started', time(alert.started_at)],
        ['Last detected', time(alert.last_seen_at)],
        ['Raised', time(alert.detected_at)],
        ['Ended', time(alert.ended_at)],
        ['Occurrences', alert.occurrence_count],
        ['Suppressed by', alert.suppressed ? alert.suppressed_reason : null],
        ['Acknowledged', by(alert.acknowledged_at, alert.acknowledged_by)],
        ['Acknowledgement note', alert.ack_note],
        ['Resolved', by(alert.resolved_at, alert.resolved_by)],
        ['Resolution note', alert.resolution_note],
        ['Manufacturer codes', alert.vendor_codes.join(', ') || null],
        ['Category', inWords(alert.category)],
        ['Rule', alert.code],
        ['Alert id', alert.alert_id],
      ]}
    />
  )
}
