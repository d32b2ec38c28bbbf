/** What a rule says of the alerts that it raises. */

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
export type AlertCategory = (typeof alertCategories)[number]

/** From the least to the worst. */
export const alertSeverities = ['info', 'warning', 'major', 'critical'] as const
export type AlertSeverity = (typeof alertSeverities)[number]

/** What explains a condition, so that nobody needs to be told of it. */
export const suppressors = ['night', 'maintenance', 'curtailment'] as const
export type Suppressor = (typeof suppressors)[number]

interface Threshold {
  value: number
  unit: string
  /** What a site may set it to. */
  min: number
  max: number
  meaning: string
}

export interface Rule {
  /** What is wrong, in a few words; the message of an alert says of what and how much. */
  title: string
  /** When the condition holds, for the documents. */
  holds: string
  category: AlertCategory
  /** Where the finding does not know better. */
  severity: AlertSeverity
  /** The condition holds at least this long before there is an alert. */
  raise_delay_s: number
  /** It is gone at least this long before the alert resolves by itself. */
  clear_delay_s: number
  thresholds: Readonly<Record<string, Threshold>>
  suppressed_by: readonly Suppressor[]
  recommended_action: string
  /** No figure of such an alert is kept: it could be one of the grid permit. */
  without_figures?: true
}
