/** A report as data, from a template to a writer. Instants are UTC; a writer shows local times. */

/** null is unknown, and never shown as a number. */
export type Cell = number | string | boolean | Date | null

export interface Column {
  key: string
  label: string
  unit?: string | undefined
  kind: 'text' | 'number' | 'instant' | 'date'
  digits?: number
}

export interface Metric {
  label: string
  value: Cell
  unit?: string | undefined
  digits?: number
  note?: string | undefined
}

/** One value per entry of `x` of the chart; null when unknown. */
interface ChartSeries {
  label: string
  values: (number | null)[]
  kind?: 'bar' | 'line'
  axis?: 'left' | 'right'
}

export type Chart =
  | {
      kind: 'bars' | 'lines'
      x: readonly string[]
      series: ChartSeries[]
      left_unit: string
      right_unit?: string
      stacked?: boolean
      /** Upper end of the left axis. */
      left_max?: number
      /** Only whole numbers on the left axis. */
      is_whole?: boolean
    }
  | {
      kind: 'heat'
      x: readonly string[]
      y: readonly string[]
      /** Rows of `y` with one value per entry of `x`. */
      values: (number | null)[][]
      unit: string
      /** Colours of the cells; defaults to a scale of the values. */
      grades?: HeatGrades
    }

export interface HeatGrades {
  /** From good to bad, at most five. */
  labels: readonly string[]
  /** Index of the label of each cell. */
  of: (number | null)[][]
}

export type Section =
  | { kind: 'metrics'; title: string; metrics: Metric[] }
  | {
      kind: 'table'
      title: string
      columns: Column[]
      rows: Record<string, Cell>[]
      /** Last row; columns without a total are absent. */
      totals?: Record<string, Cell>
      note?: string | undefined
    }
  | { kind: 'chart'; title: string; chart: Chart; note?: string | undefined }
  | { kind: 'text'; title: string; text: string }

export type SectionOf<Kind extends Section['kind']> = Extract<Section, { kind: Kind }>

/** The period is [period_start_at, period_end_at). */
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
  /** Shown on the first page, such as excluded plants and provisional prices. */
  notes: string[]
  sections: Section[]
}

export type ReportFormat = 'pdf' | 'xlsx' | 'csv'

export interface WrittenReport {
  bytes: Uint8Array
  content_type: string
  file_extension: ReportFormat
  /** null for a format without pages. */
  page_count: number | null
}

export type WriteReport = (document: ReportDocument, format: ReportFormat) => Promise<WrittenReport>
