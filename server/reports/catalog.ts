import { cached } from '@heliograph/domain/cached'
import { Type } from 'typebox'
import { ApiError, type Violation } from '../http/errors.ts'
import { Closed } from '../http/params.ts'
import { validators } from '../http/validate.ts'
import type { ReportTemplate } from './template.ts'
import { availability } from './templates/availability.ts'
import { battery } from './templates/battery.ts'
import { curtailment } from './templates/curtailment.ts'
import { earnings } from './templates/earnings.ts'
import { losses } from './templates/losses.ts'
import { operations } from './templates/operations.ts'
import { performanceMonthly } from './templates/performance-monthly.ts'
import { productionDaily } from './templates/production-daily.ts'
import { stringHealth } from './templates/string-health.ts'

export type Catalog = readonly ReportTemplate[]

export const templates: Catalog = [
  productionDaily,
  performanceMonthly,
  availability,
  losses,
  stringHealth,
  curtailment,
  battery,
  earnings,
  operations,
]

export const findTemplate = (catalog: Catalog, id: string): ReportTemplate | null =>
  catalog.find(({ template_id }) => template_id === id) ?? null

export type Parameters = Record<string, unknown>

const checkOf = cached(({ parameters }: ReportTemplate) => {
  const body = Closed({ parameters })
  const declared = { method: 'POST', body, returns: Type.Null() } as const
  return validators([declared])(declared)
})

/** Parameters with the defaults of the template, and violations as fields `parameters.…`. */
export function checkParameters(
  template: ReportTemplate,
  given: Parameters,
): { parameters: Parameters; violations: readonly Violation[] } {
  const body = { parameters: structuredClone(given) }
  try {
    checkOf(template)({ params: {}, query: {}, body, body_bytes: 0 })
    return { parameters: body.parameters, violations: [] }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { parameters: given, violations: error.details!['errors'] as Violation[] }
  }
}
