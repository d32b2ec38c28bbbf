/** A template builds one kind of report, for any file format. `catalog.ts` lists them. */
import type { TObject } from 'typebox'
import type { Module, Scope } from '../http/endpoint.ts'
import type { Queries } from '../storage/database.ts'
import type { ReportDocument, ReportFormat } from './document.ts'

export const templateCategories = [
  'production',
  'performance',
  'financial',
  'om',
  'compliance',
  'bess',
  'alerts',
  'curtailment',
] as const
type TemplateCategory = (typeof templateCategories)[number]

export const templatePeriods = ['day', 'week', 'month', 'quarter', 'year', 'custom'] as const
export type TemplatePeriod = (typeof templatePeriods)[number]

interface ReportSite {
  site_id: string
  name: string
  /** IANA name; `UTC` before the edge has announced the site. */
  timezone: string
}

export interface ReportOrder {
  site: ReportSite
  /** [start_at, end_at), whole days of `timezone`. */
  period: { start_at: Date; end_at: Date }
  /** IANA name of the zone of the report, which may differ from the zone of the site. */
  timezone: string
  /** Present or former plants of the site; null for all. */
  logger_ids: readonly number[] | null
  /** Valid by the schema of the template, with defaults. */
  parameters: Readonly<Record<string, unknown>>
  /** Scopes of the key or person that ordered the report; they cover at least one part. */
  may_read: ReadonlySet<Scope>
  now: Date
}

/** Sections, or columns of sections, that need the same scopes. */
export interface ReportPart {
  /** Title for readers: `Work orders and defects`. */
  name: string
  scopes: readonly Scope[]
}

export const scopesOfParts = (parts: readonly ReportPart[]): Scope[] => [
  ...new Set(parts.flatMap(({ scopes }) => scopes)),
]

export interface ReportTemplate {
  /** `production_daily`: never reused. */
  template_id: string
  name: string
  description: string
  category: TemplateCategory
  formats: readonly ReportFormat[]
  periods: readonly TemplatePeriod[]
  /** Closed; every property has a description, optional ones have a default. */
  parameters: TObject
  /** Parts that are omitted when the reader lacks a scope; at least one. */
  parts: readonly ReportPart[]
  required_module: Module
  /** Version of the content, `1.0.0`. */
  version: string
  /**
   * Runs in a read-only snapshot. A period without data gives a document with a note, never an
   * error.
   */
  build(db: Queries, order: ReportOrder): Promise<ReportDocument>
}
