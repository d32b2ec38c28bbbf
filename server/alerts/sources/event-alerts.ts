/**
 * Which alert an event makes: of each code of docs/operating.md, those of the edge and those of the
 * server. What rises holds until it falls; what happens once holds until a person has seen to it,
 * or for a day.
 */
import type { Severity } from '@heliograph/domain/link'
import type { AlertSeverity } from '../rule.ts'
import type { AlertCode } from '../rules.ts'

export interface ToldEvent {
  source_kind: string
  source_id: string
  code: string
  severity: Severity
  message: string
  at: Date
}

interface Mapped {
  alert: AlertCode
  /** Where several events make this alert, and differ in how bad they are. */
  severity?: AlertSeverity | 'as_told'
  /**
   * Instead of the words of the event. Whatever has to do with the permit has words of its own, so
   * that no figure of it can come to the server through an alert.
   */
  words?: (source: string) => string
}

/** Why nobody needs an alert of it. */
type Unmapped =
  | 'another source finds it'
  | 'somebody did it'
  | 'another event tells what follows of it'

/** What no line below knows, of an edge that is newer than this server. */
const unknown: Mapped = { alert: 'edge_condition', severity: 'as_told' }

const edgeCondition: Mapped = { alert: 'edge_condition', severity: 'as_told' }
const journal: Mapped = { alert: 'journal_overflow', severity: 'as_told' }

/** By the code of the event up to its first colon. */
export const eventAlerts = {
  device_offline: 'another source finds it',
  edge_offline: 'another source finds it',
  alarm: 'another source finds it',
  heartbeat_lost: 'another source finds it',
  fire_system_warning: 'another source finds it',
  fire_system_fault: 'another source finds it',
  fire_system_alarm: 'another source finds it',

  agent_started: 'another event tells what follows of it',
  clock_jumped: 'another event tells what follows of it',
  device_retired: 'somebody did it',
  edge_token_revoked: 'somebody did it',
  permit_changed: 'somebody did it',
  relay: 'somebody did it',
  safe_mode: 'somebody did it',
  server_restored: 'somebody did it',
  work_approval: 'somebody did it',

  channels_renumbered: edgeCondition,
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
  removed_device_counts: edgeCondition,
  site_file_rejected: edgeCondition,

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
    words: (source) => `Another master changes the limit of ${source}.`,
  },
  foreign_control: {
    alert: 'control_contention',
    words: (source) => `The controller of ${source} obeys someone else than the edge.`,
  },
  device_below_limit: {
    alert: 'device_below_limit',
    words: (source) => `A lower limit than was set stays at ${source}.`,
  },
  curtailment_not_effective: {
    alert: 'curtailment_not_effective',
    words: (source) =>
      `More is delivered by ${source} than its limit allows; it counts with all that it can deliver.`,
  },
  control_fault: {
    alert: 'control_fault',
    severity: 'critical',
    words: () => 'Control at the edge fails: nothing is raised. The log of the edge says why.',
  },
  control_log_failed: {
    alert: 'control_fault',
    severity: 'critical',
    words: () => 'The control log of the edge cannot be written: nothing is raised until it can.',
  },
  control_rows_lost: {
    alert: 'control_fault',
    severity: 'major',
    words: () =>
      'The edge has lost rows of curtailment: nothing is raised until the server has told them again.',
  },
  control_state_lost: {
    alert: 'control_fault',
    severity: 'major',
    words: () =>
      'A file of what control at the edge knew was lost: look at the limits of its devices.',
  },
  permit_file_rejected: {
    alert: 'control_fault',
    severity: 'major',
    words: () =>
      'The permit file on the edge is wrong and not in force; the log of the edge says where.',
  },
  permit_exceeded: {
    alert: 'permit_exceeded',
    words: (source) => `More power was measured at ${source} than its permit leaves it.`,
  },
  permit_missing: {
    alert: 'permit_missing',
    words: (source) => `No permit is known for ${source}: nothing of it is raised.`,
  },
  permit_unenforceable: {
    alert: 'permit_unenforceable',
    words: (source) => `What cannot be limited now may alone exceed the permit of ${source}.`,
  },
} as const satisfies Record<string, Mapped | Unmapped>

/** Every alert that is found by events. */
export const alertsOfEvents: readonly AlertCode[] = [
  ...new Set(
    Object.values<Mapped | Unmapped>(eventAlerts).flatMap((to) =>
      typeof to === 'string' ? [] : to.alert,
    ),
  ),
]

interface EventAlert {
  code: AlertCode
  /** What tells it from alerts of the same code and source that other events make. */
  part: string | null
  severity: AlertSeverity | null
  message: string
}

/** The alert of an event; null where nobody needs one of it. */
export function alertOf(event: ToldEvent): EventAlert | null {
  const [family = ''] = event.code.split(':', 1)
  const to: Mapped | Unmapped = Object.hasOwn(eventAlerts, family)
    ? eventAlerts[family as keyof typeof eventAlerts]
    : unknown
  if (typeof to === 'string') return null
  const severity = to.severity === 'as_told' ? alertSeverity(event.severity) : to.severity
  return {
    code: to.alert,
    part: event.code === to.alert ? null : event.code,
    severity: severity ?? null,
    message: to.words?.(nameOf(event)) ?? sentence(event.message),
  }
}

/** Alerts know no `minor`: what devices in general call so is a warning. */
const alertSeverity = (severity: Severity): AlertSeverity =>
  severity === 'minor' ? 'warning' : severity

function nameOf({ source_kind, source_id }: ToldEvent): string {
  if (source_kind === 'edge') return 'the common connection'
  return `${source_kind === 'logger' ? 'plant' : source_kind} ${source_id}`
}

/** Of words that a device or a program says: with a capital and a full stop. */
function sentence(text: string): string {
  const trimmed = text.trim()
  const end = /[.!?…]$/.test(trimmed) ? '' : '.'
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + end
}
