/**
 * A template knows what one kind of report says: from the database to a document, whatever the
 * file it is written to. `catalog.ts` lists them all.
 */
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

/** The lengths of time that a template makes sense over. */
export const templatePeriods = ['day', 'week', 'month', 'quarter', 'year', 'custom'] as const
export type TemplatePeriod = (typeof templatePeriods)[number]

/** The site as its edge announced it; the facts are null until it did. */
export interface ReportSite {
  site_id: string
  name: string
  /** IANA name; `UTC` until the edge has announced the inventory. */
  timezone: string
  latitude: number | null
  longitude: number | null
}

export interface ReportOrder {
  site: ReportSite
  /** Half open; whole days of `timezone`. */
  period: { start_at: Date; end_at: Date }
  /** IANA name: whose days the report counts and shows, which need not be the site's own. */
  timezone: string
  /** Plants to report on, each of which the site has or had; null: all. */
  logger_ids: readonly number[] | null
  /** Valid by the template's own schema, its defaults filled in. */
  parameters: Readonly<Record<string, unknown>>
  /** Of whoever ordered the report; all scopes of at least one part are in it. */
  may_read: ReadonlySet<Scope>
  now: Date
}

/** Sections, or columns of sections, that need the same scopes. */
export interface ReportPart {
  /** As a reader of the report knows it: `Work orders and defects`. */
  name: string
  scopes: readonly Scope[]
}

export const scopesOfParts = (parts: readonly ReportPart[]): Scope[] => [
  ...new Set(parts.flatMap(({ scopes }) => scopes)),
]

export interface ReportTemplate {
  /** `production_daily`: never used again for another. */
  template_id: string
  name: string
  description: string
  category: TemplateCategory
  formats: readonly ReportFormat[]
  periods: readonly TemplatePeriod[]
  /** Closed, every property with a description; those that are optional have a default. */
  parameters: TObject
  /** What is left out of a report for a reader that lacks a scope: at least one part. */
  parts: readonly ReportPart[]
  required_module: Module
  /** Of the contents, `1.0.0`. */
  version: string
  /**
   * Reads what there is and says what there is not: a period without data is a document with a
   * note, never an error. Reads only; it runs in a transaction that sees one instant.
   */
  build(db: Queries, order: ReportOrder): Promise<ReportDocument>
}
