/**
 * Alert settings of a site: rules that are disabled or changed, and mail recipients. The rules give
 * the defaults.
 */

import { type Static, Type } from 'typebox'
import { parseYaml } from '../access/yaml-file.ts'
import { Closed } from '../http/params.ts'
import { MailInFile, type MailSettings, mailInForce, mailProblems } from './mail-settings.ts'
import { type AlertSeverity, alertSeverities } from './rule.ts'
import { type AlertCode, alertCodes, ruleOf, type ThresholdOf } from './rules.ts'

const day_s = 86_400

export const reopen_window_s_default = 3600

const Severity = Type.Enum([...alertSeverities])
const Seconds = (maximum: number) => Type.Integer({ minimum: 0, maximum })

function RuleOverride(code: AlertCode) {
  const thresholds = Object.entries(ruleOf(code).thresholds).map(([name, { min, max }]) => [
    name,
    Type.Optional(Type.Number({ minimum: min, maximum: max })),
  ])
  return Closed({
    enabled: Type.Optional(Type.Boolean()),
    severity: Type.Optional(Severity),
    raise_delay_s: Type.Optional(Seconds(day_s)),
    clear_delay_s: Type.Optional(Seconds(day_s)),
    thresholds: Type.Optional(Closed(Object.fromEntries(thresholds))),
  })
}
type RuleOverride = Omit<Static<ReturnType<typeof RuleOverride>>, 'thresholds'> & {
  thresholds?: Record<string, number>
}

const AlertingFile = Closed({
  reopen_window_s: Type.Optional(Seconds(7 * day_s)),
  rules: Type.Optional(
    Closed(Object.fromEntries(alertCodes.map((code) => [code, Type.Optional(RuleOverride(code))]))),
  ),
  mail: Type.Optional(MailInFile),
})

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

/** Parses a settings file. An empty file means all defaults. */
export const parseAlerting = (text: string) =>
  parseYaml<AlertingFile>(text, {
    schema: AlertingFile,
    check: ({ mail }) => mailProblems(mail),
    empty: {},
  })
