/** The catalog of report templates. */
import { Type } from 'typebox'
import { ApiError, type Violation } from '../http/errors.ts'
import { type Validate, validators } from '../http/validate.ts'
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

/** All templates, in the order of the catalog. */
export const templates: readonly ReportTemplate[] = [
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

export interface Catalog {
  readonly templates: readonly ReportTemplate[]
  /** null for an unknown id. */
  find(template_id: string): ReportTemplate | null
  /** Fills in the defaults of the template, and returns violations as fields `parameters.…`. */
  checkParameters(template: ReportTemplate, parameters: Parameters): CheckedParameters
}

export type Parameters = Record<string, unknown>

interface CheckedParameters {
  /** Valid only without violations. */
  parameters: Parameters
  violations: readonly Violation[]
}

/** @throws Error for a repeated id */
export function createCatalog(list: readonly ReportTemplate[] = templates): Catalog {
  const byId = new Map(list.map((template) => [template.template_id, template]))
  if (byId.size < list.length) throw new Error('report templates: an id is repeated')
  const checks = new Map<string, Validate>()

  function checkOf({ template_id, parameters }: ReportTemplate): Validate {
    const known = checks.get(template_id)
    if (known) return known
    const body = Type.Object({ parameters }, { additionalProperties: false })
    const declared = { method: 'POST', body, returns: Type.Null() } as const
    const check = validators([declared])(declared)
    checks.set(template_id, check)
    return check
  }

  return {
    templates: list,
    find: (template_id) => byId.get(template_id) ?? null,
    checkParameters(template, given) {
      const body = { parameters: structuredClone(given) }
      const input = { params: {}, query: {}, body, body_bytes: 0 }
      try {
        checkOf(template)(input)
        return { parameters: body.parameters, violations: [] }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return { parameters: given, violations: error.details!['errors'] as Violation[] }
      }
    },
  }
}
