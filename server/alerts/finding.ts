/** What sources say of a site, round by round, and what they are asked with. */
import type { Queries } from '../storage/database.ts'
import type { AlertSeverity, Suppressor } from './rule.ts'
import type { AlertCode } from './rules.ts'
import type { AlertSettings } from './settings.ts'

export const sourceTypes = [
  'site',
  'edge',
  'logger',
  'inverter',
  'string',
  'combiner',
  'station',
  'meter',
  'node',
  'bess',
  'pcs',
  'market',
] as const
export type SourceType = (typeof sourceTypes)[number]

/** What an alert is of, beside its source. */
export interface Concerned {
  logger_id: number | null
  inverter_id: number | null
  string_index: number | null
  bess_id: number | null
  node_id: string | null
  location_id: number | null
}

/** A condition that holds now. */
export interface Finding
  extends Partial<{ [Name in keyof Concerned]: NonNullable<Concerned[Name]> }> {
  code: AlertCode
  source_type: SourceType
  /** `7`; `7.3` of string 3 of inverter 7, and of PCS 3 of battery 7. */
  source_id: string
  /** What tells two alerts of one code and source apart: an alarm code, a channel. */
  part?: string
  /** Since when the condition holds, as far as that is known. */
  since: Date
  message: string
  /** Where the finding knows better than the rule. */
  severity?: AlertSeverity
  value?: number
  threshold?: number
  unit?: string
  /** What could be produced now and is not, for this reason. */
  affected_power_kw?: number
  vendor_codes?: string[]
}

/** An alert that is active or acknowledged. */
export interface OpenAlert extends Concerned {
  alert_id: number
  code: AlertCode
  source_type: SourceType
  source_id: string
  part: string | null
  since: Date
}

export interface Look {
  findings: Finding[]
  /**
   * Open alerts that cannot be judged now, as there is no data: they neither clear nor count as
   * seen.
   */
  cannotTell(open: OpenAlert): boolean
}

export interface SourceContext {
  db: Queries
  site: {
    site_id: string
    timezone: string
    latitude: number
    longitude: number
    currency: string | null
  }
  settings: AlertSettings
  now: Date
}

/** Throws where it cannot look at all: then none of its alerts clears. */
export type AlertSource = (context: SourceContext) => Promise<Look>

/** What explains a finding now, as far as its rule lets it; null: nothing does. */
export type Suppression = (finding: Finding) => Suppressor | null
export type ReadSuppression = (context: SourceContext) => Promise<Suppression>

/** What tells an alert from all others; of open ones no two have the same. */
export function dedupKey({
  code,
  source_type,
  source_id,
  part,
}: Pick<Finding, 'code' | 'source_type' | 'source_id'> & { part?: string | null }): string {
  return [code, source_type, source_id, ...(part == null ? [] : [part])].join(':')
}
