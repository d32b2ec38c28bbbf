/** The interface of alert sources: a source scans a site in every round and returns findings. */
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

/** The devices and the location that an alert concerns. */
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
  /** `7`; `7.3` for string 3 of inverter 7, or for PCS 3 of battery 7. */
  source_id: string
  /** Separates alerts of one code and source: an alarm code, a channel. */
  part?: string
  /** When the condition began, as far as known. */
  since: Date
  message: string
  /** Overrides the severity of the rule. */
  severity?: AlertSeverity
  value?: number
  threshold?: number
  unit?: string
  /** Power that could be produced now without this condition. */
  affected_power_kw?: number
  vendor_codes?: string[]
}

export const ofLogger = (logger_id: number) =>
  ({ source_type: 'logger', source_id: `${logger_id}`, logger_id }) as const
export const ofInverter = ({
  inverter_id,
  logger_id,
}: {
  inverter_id: number
  logger_id: number
}) => ({ source_type: 'inverter', source_id: `${inverter_id}`, inverter_id, logger_id }) as const
export const ofUnit = (bess_id: number) =>
  ({ source_type: 'bess', source_id: `${bess_id}`, bess_id }) as const
export const ofNode = (node_id: string) =>
  ({ source_type: 'node', source_id: node_id, node_id }) as const

export interface OpenAlert extends Concerned {
  alert_id: number
  code: AlertCode
  source_type: SourceType
  source_id: string
  part: string | null
}

export interface Scan {
  findings: Finding[]
  /**
   * True where the data to judge an open alert is missing. Such an alert does not clear, and its
   * `last_seen_at` stays.
   */
  isUnknown(open: OpenAlert): boolean
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

/** While a source throws, none of its alerts clears. */
export type AlertSource = (context: SourceContext) => Promise<Scan>

/** The reason to suppress a finding, among those that its rule allows; null for none. */
export type Suppression = (finding: Finding) => Suppressor | null
export type ReadSuppression = (context: SourceContext) => Promise<Suppression>

/** Identifies a condition: at most one unresolved alert has this key. */
export function dedupKey({
  code,
  source_type,
  source_id,
  part,
}: Pick<Finding, 'code' | 'source_type' | 'source_id'> & { part?: string | null }): string {
  return [code, source_type, source_id, ...(part == null ? [] : [part])].join(':')
}
