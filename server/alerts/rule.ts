/** The vocabulary of alerts, and the shape of a rule. docs/alerts.md has the conditions. */

export const alertCategories = [
  'communication',
  'production',
  'equipment',
  'safety',
  'weather',
  'market',
  'control',
  'battery',
  'data_quality',
  'security',
] as const

/** In ascending order. */
export const alertSeverities = ['info', 'warning', 'major', 'critical'] as const
export type AlertSeverity = (typeof alertSeverities)[number]

export const alertStatuses = ['active', 'acknowledged', 'resolved'] as const
export type AlertStatus = (typeof alertStatuses)[number]

export const unresolvedStatuses = ['active', 'acknowledged'] as const

export const resolutions = ['auto', 'manual'] as const

/** Reasons to suppress an alert: it is listed, and no mail or notification is sent. */
export const suppressors = ['night', 'maintenance', 'curtailment'] as const
export type Suppressor = (typeof suppressors)[number]

/** `min` and `max` bound the settings of a site. */
export const threshold = (
  value: number,
  unit: string,
  [min, max]: readonly [number, number],
  meaning: string,
) => ({ value, unit, min, max, meaning })

export interface Rule {
  /** The problem in a few words; the message of an alert adds the device and the values. */
  title: string
  category: (typeof alertCategories)[number]
  /** Unless the finding has its own. */
  severity: AlertSeverity
  /** An alert is raised once the condition has held this long. */
  raise_delay_s: number
  /** The alert resolves once the condition has been gone this long. */
  clear_delay_s: number
  thresholds?: Readonly<Record<string, ReturnType<typeof threshold>>>
  suppressed_by?: readonly Suppressor[]
  recommended_action: string
  /** Alerts store no value, threshold or power: their message has what was measured. */
  without_values?: true
}

/** A rule with its delays, s, before an alert is raised and before it resolves. */
export const rule = <const Of extends Pick<Rule, 'title' | 'recommended_action'> & Partial<Rule>>(
  category: Rule['category'],
  severity: Rule['severity'],
  [raise_delay_s, clear_delay_s]: readonly [raise_delay_s: number, clear_delay_s: number],
  of: Of,
) => ({ category, severity, raise_delay_s, clear_delay_s, ...of })
