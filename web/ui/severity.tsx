import { Badge } from '@mantine/core'
import { inWords } from './words.ts'

/** Badges are never truncated. */
const whole = { flexShrink: 0, minWidth: 'max-content' }

const colors: Record<string, string> = {
  critical: 'red',
  major: 'orange',
  warning: 'yellow',
  info: 'blue',
  urgent: 'red',
  high: 'orange',
  normal: 'blue',
  medium: 'yellow',
  low: 'gray',
}

/** Severity of an alert or a defect, or priority of a work order. */
export const SeverityBadge = ({ severity }: { severity: string }) => (
  <Badge color={colors[severity] ?? 'gray'} style={whole}>
    {inWords(severity)}
  </Badge>
)

const states: Record<string, string> = {
  active: 'red',
  acknowledged: 'yellow',
  resolved: 'teal',
  open: 'red',
  assigned: 'orange',
  in_progress: 'blue',
  on_hold: 'yellow',
  completed: 'teal',
  approved: 'green',
  verified: 'green',
  dismissed: 'gray',
  cancelled: 'gray',
  queued: 'gray',
  running: 'blue',
  succeeded: 'teal',
  failed: 'red',
  expired: 'gray',
  backfilling: 'blue',
  backfilled: 'teal',
  unrecoverable: 'gray',
  pending: 'gray',
  passed: 'teal',
  not_applicable: 'gray',
}

export const StateBadge = ({ state }: { state: string }) => (
  <Badge color={states[state] ?? 'gray'} style={whole}>
    {inWords(state)}
  </Badge>
)
