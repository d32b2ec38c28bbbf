/**
 * The alert of each event code of docs/operating.md. A `rising` event holds until it falls; a
 * single event holds for a day, or until a person resolves its alert.
 */
import type { Severity } from '@heliograph/domain/link'
import type { AlertSeverity } from '../rule.ts'
import type { AlertCode } from '../rules.ts'

export interface SourceEvent {
  source_kind: string
  source_id: string
  code: string
  severity: Severity
  message: string
  at: Date
}

interface Mapped {
  alert: AlertCode
  /** Where events of different severity share an alert. */
  severity?: AlertSeverity | 'as_reported'
  /** Replaces the message of the event. */
  message?: (source: string) => string
}

/** Why an event makes no alert. */
type Unmapped =
  | 'reported by another source'
  | 'an action of a person'
  | 'its consequences have events of their own'

const edgeCondition: Mapped = { alert: 'edge_condition', severity: 'as_reported' }
const journal: Mapped = { alert: 'journal_overflow', severity: 'as_reported' }

/** By event code up to the first colon. */
export const eventAlerts = {
  device_offline: 'reported by another source',
  edge_offline: 'reported by another source',
  alarm: 'reported by another source',
  heartbeat_lost: 'reported by another source',
  fire_system_warning: 'reported by another source',
  fire_system_fault: 'reported by another source',
  fire_system_alarm: 'reported by another source',

  agent_started: 'its consequences have events of their own',
  no_permit_entry: 'its consequences have events of their own',
  clock_jumped: 'its consequences have events of their own',
  device_retired: 'an action of a person',
  edge_token_revoked: 'an action of a person',
  permit_changed: 'an action of a person',
  relay: 'an action of a person',
  safe_mode: 'an action of a person',
  server_restored: 'an action of a person',
  work_approval: 'an action of a person',

  channels_renumbered: edgeCondition,
  control_centre_clock: edgeCondition,
  control_centre_silent: edgeCondition,
  device_identity_changed: edgeCondition,
  frame_rejected: edgeCondition,
  frames_missing: edgeCondition,
  inventory_rejected: edgeCondition,
  inventory_values_unknown: edgeCondition,
  journal_file: edgeCondition,
  mqtt_disconnected: edgeCondition,
  nonsense_value: edgeCondition,
  pcs_counts_in_full: edgeCondition,
  rating_differs: edgeCondition,
  relay_inputs_silent: edgeCondition,
  removed_device_counts: edgeCondition,
  site_file_rejected: edgeCondition,
  telecontrol_not_listening: edgeCondition,

  journal_cut: journal,
  journal_damaged: journal,
  journal_dropped: journal,
  journal_write_failed: journal,

  clock_untrusted: { alert: 'clock_untrusted' },
  limit_not_armed: { alert: 'limit_not_armed' },
  setpoint_not_armed: { alert: 'limit_not_armed' },
  setpoint_not_taken: { alert: 'setpoint_not_taken' },
  pcs_contrary: { alert: 'setpoint_not_taken' },

  control_contention: {
    alert: 'control_contention',
    message: (source) => `Another controller changes the limit of ${source}.`,
  },
  foreign_control: {
    alert: 'control_contention',
    message: (source) => `The controller of ${source} follows another master than the edge.`,
  },
  limit_not_as_set: { alert: 'limit_not_as_set' },
  // The same, of edges up to 0.1.0.
  device_below_limit: { alert: 'limit_not_as_set' },
  curtailment_not_effective: {
    alert: 'curtailment_not_effective',
    message: (source) =>
      `The output of ${source} exceeds its limit; the edge counts it with its full power.`,
  },
  control_fault: {
    alert: 'control_fault',
    severity: 'critical',
    message: () => 'Control at the edge fails: no limit is raised. See the log of the edge.',
  },
  control_log_failed: {
    alert: 'control_fault',
    severity: 'critical',
    message: () =>
      'The control log of the edge cannot be written: no limit is raised until it can.',
  },
  control_rows_lost: {
    alert: 'control_fault',
    severity: 'major',
    message: () =>
      'The edge has lost curtailment orders: no limit is raised until the server has sent them again.',
  },
  control_state_lost: {
    alert: 'control_fault',
    severity: 'major',
    message: () =>
      'The edge has lost a file of its control state: check the limits of its devices.',
  },
  permit_file_rejected: {
    alert: 'control_fault',
    severity: 'major',
    message: () =>
      'The permit file on the edge is invalid and not in force; see the log of the edge.',
  },
  permit_exceeded: { alert: 'permit_exceeded' },
  permit_missing: {
    alert: 'permit_missing',
    message: (source) => `There is no permit for ${source}: no limit of it is raised.`,
  },
  permit_unenforceable: {
    alert: 'permit_unenforceable',
    message: (source) =>
      `Devices that cannot be limited now may exceed the permit of ${source} by themselves.`,
  },
} as const satisfies Record<string, Mapped | Unmapped>

export const alertsOfEvents: readonly AlertCode[] = [
  ...new Set(
    Object.values<Mapped | Unmapped>(eventAlerts).flatMap((to) =>
      typeof to === 'string' ? [] : to.alert,
    ),
  ),
]

interface EventAlert {
  code: AlertCode
  /** Separates alerts of one code and source that different events make. */
  part: string | null
  severity: AlertSeverity | null
  message: string
}

export function alertOf(event: SourceEvent): EventAlert | null {
  const [family = ''] = event.code.split(':', 1)
  const to: Mapped | Unmapped = Object.hasOwn(eventAlerts, family)
    ? eventAlerts[family as keyof typeof eventAlerts]
    : // An edge that is newer than this server has further codes.
      edgeCondition
  if (typeof to === 'string') return null
  const severity = to.severity === 'as_reported' ? alertSeverity(event.severity) : to.severity
  return {
    code: to.alert,
    part: event.code === to.alert ? null : event.code,
    severity: severity ?? null,
    message: to.message?.(nameOf(event)) ?? sentence(event.message),
  }
}

/** Alerts have no severity `minor`: it becomes a warning. */
export const alertSeverity = (severity: Severity): AlertSeverity =>
  severity === 'minor' ? 'warning' : severity

export function nameOf({
  source_kind,
  source_id,
}: Pick<SourceEvent, 'source_kind' | 'source_id'>): string {
  if (source_kind === 'edge') return 'the grid connection'
  return `${source_kind === 'logger' ? 'plant' : source_kind} ${source_id}`
}

/** Adds a capital letter and a full stop. */
function sentence(text: string): string {
  const trimmed = text.trim()
  const end = /[.!?…]$/.test(trimmed) ? '' : '.'
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + end
}
