/**
 * Alert settings of a site: rules that are disabled or changed, and mail recipients. The rules give
 * the defaults.
 */
import { plainFaults } from '@heliograph/domain/schema-fault'
import { fieldOf, type SiteProblem } from '@heliograph/domain/site-check'
import { type TSchema, Type } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { parseDocument } from 'yaml'
import { MailInFile, type MailSettings, mailInForce, mailProblems } from './mail-settings.ts'
import { type AlertSeverity, alertSeverities } from './rule.ts'
import { type AlertCode, alertCodes, ruleOf, type ThresholdOf } from './rules.ts'

const closed = { additionalProperties: false } as const
const day_s = 86_400

export const reopen_window_s_default = 3600

const Severity = Type.Enum([...alertSeverities])
const Seconds = (maximum: number) => Type.Integer({ minimum: 0, maximum })

interface RuleOverride {
  enabled?: boolean
  severity?: AlertSeverity
  raise_delay_s?: number
  clear_delay_s?: number
  thresholds?: Record<string, number>
}

function ruleSchema(code: AlertCode): TSchema {
  const thresholds = Object.entries(ruleOf(code).thresholds).map(([name, { min, max }]) => [
    name,
    Type.Optional(Type.Number({ minimum: min, maximum: max })),
  ])
  return Type.Object(
    {
      enabled: Type.Optional(Type.Boolean()),
      severity: Type.Optional(Severity),
      raise_delay_s: Type.Optional(Seconds(day_s)),
      clear_delay_s: Type.Optional(Seconds(day_s)),
      thresholds: Type.Optional(Type.Object(Object.fromEntries(thresholds), closed)),
    },
    closed,
  )
}

const AlertingFile = Type.Object(
  {
    reopen_window_s: Type.Optional(Seconds(7 * day_s)),
    rules: Type.Optional(
      Type.Object(
        Object.fromEntries(alertCodes.map((code) => [code, Type.Optional(ruleSchema(code))])),
        closed,
      ),
    ),
    mail: Type.Optional(MailInFile),
  },
  closed,
)

export interface AlertingFile {
  reopen_window_s?: number
  rules?: Partial<Record<AlertCode, RuleOverride>>
  mail?: MailInFile
}

interface RuleSettings<Code extends AlertCode = AlertCode> {
  enabled: boolean
  /** null: the severity of the finding, else of the rule. */
  severity: AlertSeverity | null
  raise_delay_s: number
  clear_delay_s: number
  thresholds: { readonly [Name in ThresholdOf<Code>]: number }
}

/** Settings with all defaults filled in. */
export interface AlertSettings {
  /** A condition that returns this soon after its alert was resolved reopens the alert. */
  reopen_window_s: number
  rules: { readonly [Code in AlertCode]: RuleSettings<Code> }
  mail: MailSettings
}

export function settingsInForce(file: AlertingFile): AlertSettings {
  const rules = alertCodes.map((code) => [code, ruleInForce(code, file.rules?.[code] ?? {})])
  return {
    reopen_window_s: file.reopen_window_s ?? reopen_window_s_default,
    rules: Object.fromEntries(rules),
    mail: mailInForce(file.mail),
  }
}

function ruleInForce(code: AlertCode, override: RuleOverride): RuleSettings {
  const rule = ruleOf(code)
  const thresholds = Object.entries(rule.thresholds).map(([name, { value }]) => [
    name,
    override.thresholds?.[name] ?? value,
  ])
  return {
    enabled: override.enabled ?? true,
    severity: override.severity ?? null,
    raise_delay_s: override.raise_delay_s ?? rule.raise_delay_s,
    clear_delay_s: override.clear_delay_s ?? rule.clear_delay_s,
    thresholds: Object.fromEntries(thresholds),
  }
}

interface AlertingFault {
  /** `rules.soc_low.raise_delay_s`; empty for the whole file. */
  field: string
  message: string
}

/** Parses a settings file, YAML or JSON, and reports all of its faults. */
export function parseAlerting(
  text: string,
): { alerting: AlertingFile } | { faults: AlertingFault[] } {
  const document = parseDocument(text, { prettyErrors: true })
  if (document.errors.length > 0) {
    return { faults: document.errors.map(({ message }) => ({ field: '', message })) }
  }
  let value: unknown
  try {
    // An empty file means all defaults.
    value = document.toJS() ?? {}
  } catch (error) {
    return { faults: [{ field: '', message: (error as Error).message }] }
  }
  const problems = [...tagProblems(value), ...formProblems(value)]
  const alerting = value as AlertingFile
  if (problems.length === 0) problems.push(...mailProblems(alerting.mail))
  if (problems.length === 0) return { alerting }
  return { faults: problems.map(({ path, message }) => ({ field: fieldOf(path), message })) }
}

/** YAML tags make JavaScript sets and maps, whose content no schema would check. */
function tagProblems(value: unknown): SiteProblem[] {
  const seen = new Set<unknown>()
  const within = (part: unknown, path: SiteProblem['path']): SiteProblem[] => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return []
    seen.add(part)
    if (Array.isArray(part)) return part.flatMap((each, nth) => within(each, [...path, nth]))
    if (Object.getPrototypeOf(part) !== Object.prototype) {
      return [{ path, message: 'must be plain, without a tag such as !!set or !!omap' }]
    }
    return Object.entries(part).flatMap(([name, each]) => within(each, [...path, name]))
  }
  return within(value, [])
}

function formProblems(value: unknown): SiteProblem[] {
  const { maxErrors } = Settings.Get()
  try {
    Settings.Set({ maxErrors: 10_000 })
    return plainFaults(Value.Errors(AlertingFile, value), value).faults
  } finally {
    Settings.Set({ maxErrors })
  }
}
