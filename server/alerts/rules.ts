/** All rules by code. A new alert needs a rule here and a source that finds its condition. */
import { controlRules } from './control-rules.ts'
import { plantRules } from './plant-rules.ts'
import type { Rule } from './rule.ts'

export const rules = { ...plantRules, ...controlRules } as const satisfies Record<string, Rule>

export type AlertCode = keyof typeof rules
export const alertCodes = Object.keys(rules) as AlertCode[]

export const isAlertCode = (text: string): text is AlertCode => Object.hasOwn(rules, text)

type CompleteRule = Rule & Required<Pick<Rule, 'thresholds' | 'suppressed_by'>>

export const ruleOf = (code: AlertCode): CompleteRule => ({
  thresholds: {},
  suppressed_by: [],
  ...rules[code],
})

export type ThresholdOf<Code extends AlertCode> = (typeof rules)[Code] extends {
  thresholds: infer Own
}
  ? keyof Own & string
  : never
