/** Every rule by its code. A line here and a source that finds it make a new alert. */
import { controlRules } from './control-rules.ts'
import { plantRules } from './plant-rules.ts'
import type { Rule } from './rule.ts'

export const rules = { ...plantRules, ...controlRules } as const satisfies Record<string, Rule>

export type AlertCode = keyof typeof rules
export const alertCodes = Object.keys(rules) as AlertCode[]

export const isAlertCode = (text: string): text is AlertCode => Object.hasOwn(rules, text)

/** The rule of a code, without what is only known of that one code. */
export const ruleOf = (code: AlertCode): Rule => rules[code]

/** The names of the thresholds of a code. */
export type ThresholdOf<Code extends AlertCode> = keyof (typeof rules)[Code]['thresholds'] & string
