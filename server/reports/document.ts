/**
 * What a template hands to a writer: a report as data, with nothing said about paper, sheets or
 * commas. Every instant is UTC; a writer shows it in the site's zone.
 */

/** A value of a table or a figure; null is "not known" and is never shown as a number. */
export type Cell = number | string | boolean | Date | null

/** A column of a table; `unit` stands in the header, `digits` are decimals. */
export interface Column {
  key: string
  label: string
  unit?: string
  kind: 'text' | 'number' | 'instant' | 'date'
  digits?: number
}

/** A number that the reader sees first, with its unit and what qualifies it. */
export interface Figure {
  label: string
  value: Cell
  unit?: string
  digits?: number
  note?: string
}

/** A line of a bar or line chart: one value per entry of the chart's `x`, null where unknown. */
interface ChartSeries {
  label: string
  values: (number | null)[]
  kind?: 'bar' | 'line'
  axis?: 'left' | 'right'
}

/** `values` of a heat map are rows of `y`, each with one value per entry of `x`. */
export type Chart =
  | {
      kind: 'bars' | 'lines'
      x: readonly string[]
      series: ChartSeries[]
      left_unit: string
      right_unit?: string
      stacked?: boolean
      /** The left axis ends here at the latest. */
      left_max?: number
      /** The left axis counts: it is marked at whole numbers only. */
      is_whole?: boolean
    }
  | {
      kind: 'heat'
      x: readonly string[]
      y: readonly string[]
      values: (number | null)[][]
      unit: string
      /** What the values are judged to be, in the place of each; shown instead of a scale. */
      grades?: HeatGrades
    }

export interface HeatGrades {
  /** From good to bad, five at most. */
  labels: readonly string[]
  /** The place of its label, for each value. */
  of: (number | null)[][]
}

/** A part of a report under its own heading. */
export type Section =
  | { kind: 'figures'; title: string; figures: Figure[] }
  | {
      kind: 'table'
      title: string
      columns: Column[]
      rows: Record<string, Cell>[]
      totals?: Record<string, Cell>
      note?: string
    }
  | { kind: 'chart'; title: string; chart: Chart; note?: string }
  | { kind: 'text'; title: string; text: string }

/** A whole report; the period is half open, [period_start_at, period_end_at). */
export interface ReportDocument {
  template_id: string
  title: string
  site_name: string
  timezone: string
  period_start_at: Date
  period_end_at: Date
  generated_at: Date
  language: 'en'
  currency: string | null
  data_completeness_pct: number | null
  /** Said on the first page: no data in the period, plants left out, provisional figures. */
  notes: string[]
  sections: Section[]
}

export type ReportFormat = 'pdf' | 'xlsx' | 'csv'

/** The file of a report; `page_count` is null where a format has no pages. */
export interface WrittenReport {
  bytes: Uint8Array
  content_type: string
  file_extension: ReportFormat
  page_count: number | null
}

/** Writes a document as a file; throws where a document cannot be written. */
export type WriteReport = (document: ReportDocument, format: ReportFormat) => Promise<WrittenReport>
