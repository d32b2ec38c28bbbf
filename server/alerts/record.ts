import { rounded, significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { type Stored, served } from '../storage/records.ts'
import { activeSeconds } from './durations.ts'
import { sourceTypes } from './finding.ts'
import {
  alertCategories,
  alertSeverities,
  alertStatuses,
  resolutions,
  suppressors,
} from './rule.ts'
import { isAlertCode, ruleOf } from './rules.ts'

const Device = (what: string, example?: number) =>
  field.CountOrNull(`${what}; null where the alert concerns none.`, example)

const identity = {
  alert_id: Type.Integer({ minimum: 1, examples: [118] }),
  code: field.Text(
    'The code of the rule. Codes are stable; docs/alerts.md lists them.',
    'string_zero_current',
  ),
  title: field.Text(
    'The problem, the same for all alerts of one `code`.',
    'A string delivers no current',
  ),
  message: field.Text(
    'The problem with the device and the measured values.',
    'String 3 of inverter 7 carries 0 A, the others of its inverter 8.2 A.',
  ),
  category: Type.Enum([...alertCategories], { examples: ['production'] }),
  severity: Type.Enum([...alertSeverities], { examples: ['major'] }),
  status: field.OneOf(
    alertStatuses,
    '`active`, then `acknowledged` by a person, then `resolved` by a person or automatically ' +
      'when the condition is gone. A condition that returns within the reopen window makes the ' +
      'same alert `active` again.',
  ),
  source_type: Type.Enum([...sourceTypes], { examples: ['string'] }),
  source_id: field.Text(
    'The id of the source; `7.3` for string 3 of inverter 7, or for PCS 3 of battery unit 7.',
    '7.3',
  ),
  logger_id: Device('The plant', 2),
  inverter_id: Device('The inverter', 7),
  string_index: Device('The string of the inverter, counted from 0', 3),
  bess_id: Device('The battery unit'),
  node_id: field.TextOrNull('The sensor node; null where the alert concerns none.'),
  location_id: Device('The location of the device', 4),
}

const times = {
  started_at: At('When the condition began, in the first occurrence.', '2026-06-21T08:10:00.000Z'),
  detected_at: At('When the first occurrence was raised, after the raise delay of the rule.'),
  last_seen_at: At('When the condition was last known to hold.'),
  ended_at: Nullable(
    At('Since when the condition is known to be gone; null while it holds or cannot be judged.'),
  ),
  duration_s: field.FromZero(
    'From the start to the end of the condition, else to the resolution, else until now. ' +
      'Repeated occurrences add up, without the time between.',
    6600,
  ),
  occurrence_count: field.Int(
    'The number of occurrences, each within the reopen window of the one before.',
    { minimum: 1 },
  ),
}

const amounts = {
  value: field.NumOrNull('The last measured value, in `unit`.', 0),
  threshold: field.NumOrNull('The threshold for `value`, in `unit`.', 0.1),
  unit: field.TextOrNull('The unit of `value` and `threshold`.', 'A'),
  affected_power_kw: field.NumOrNull(
    'Power that could be produced without this problem, when the condition was last seen.',
    5.1,
  ),
  lost_energy_kwh: field.NumOrNull(
    '`affected_power_kw` over the observed time of all occurrences.',
    8.075,
  ),
  lost_amount: field.NumOrNull(
    'Revenue of the lost energy by the contract of the plant; null where a price is unknown, or ' +
      'for the reason in `lost_amount_reason`.',
    0.73,
  ),
  lost_amount_reason: field.OneOfOrNull(
    ['forbidden_scope'],
    'An extension. `forbidden_scope`: the key lacks `earnings:read`, or the plan lacks the ' +
      'module `earnings`. Null where `lost_amount` is served.',
  ),
  currency: field.TextOrNull('The currency of `lost_amount`, ISO 4217.', 'EUR'),
}

const handling = {
  acknowledged_at: Nullable(
    At('When a person last acknowledged the alert, possibly in an earlier occurrence.'),
  ),
  acknowledged_by: field.TextOrNull('The name of the key of that acknowledgement.'),
  ack_note: field.TextOrNull('The note of that acknowledgement.'),
  resolved_at: Nullable(At('When the alert was last resolved.')),
  resolved_by: field.TextOrNull('The name of the key; `system` for an automatic resolution.'),
  resolution: Nullable(Type.Enum([...resolutions])),
  resolution_note: field.TextOrNull('The note of the resolution.'),
  suppressed: field.Flag(
    'Whether mails and notifications are suppressed; see `suppressed_reason`.',
  ),
  suppressed_reason: Nullable(Type.Enum([...suppressors])),
  vendor_codes: Type.Array(Type.String(), {
    description: 'Alarm codes of the device, as its maker names them.',
    examples: [[]],
  }),
  recommended_action: field.TextOrNull(
    'What to do; null for a rule of an older version.',
    'Check fuse, connectors and cable of the string.',
  ),
  work_order_id: field.IntOrNull('The newest work order that is not cancelled.', { minimum: 1 }),
  defect_id: field.IntOrNull('The newest defect that is not dismissed.', { minimum: 1 }),
  rule_id: field.TextOrNull('The name of the rule in the settings of the site, equal to `code`.'),
  dedup_key: field.Text(
    'Identifies the condition: at most one unresolved alert has this key.',
    'string_zero_current:string:7.3',
  ),
  created_at: At('When the alert was stored.', '2026-06-21T08:25:00.000Z'),
  updated_at: At('When the alert was last updated: every minute while the condition holds.'),
}

export type AlertRecord = Static<typeof AlertRecord>
export const AlertRecord = Named('Alert', { ...identity, ...times, ...amounts, ...handling })

type ComputedField =
  | 'duration_s'
  | 'lost_amount_reason'
  | 'suppressed'
  | 'recommended_action'
  | 'rule_id'
type LinkField = 'work_order_id' | 'defect_id'
type TableTime = 'created_at' | 'updated_at'

export interface StoredAlert
  extends Stored<Omit<AlertRecord, ComputedField | LinkField | TableTime>> {
  /** See `Finding`. */
  part: string | null
  /** When the present occurrence began; null in the first occurrence. */
  reopened_at: Date | null
  /** Seconds that earlier occurrences lasted. */
  held_before_s: number
  /** Resolved manually while the condition may still hold: reopened only after it was gone. */
  awaits_end: boolean
  /** Since when the alert is critical, active and not suppressed; null where it is not. */
  urgent_since: Date | null
}

export type ListedAlert = StoredAlert & Stored<Pick<AlertRecord, LinkField | TableTime>>

/** `has_money`: the caller has `earnings:read`. */
export function alertRecord(
  row: ListedAlert,
  { now, has_money }: { now: Date; has_money: boolean },
): AlertRecord {
  const { code, ended_at, resolved_at, suppressed_reason } = row
  return {
    ...served(AlertRecord, row),
    duration_s: activeSeconds(row, ended_at ?? resolved_at ?? now),
    value: shown(row.value),
    threshold: shown(row.threshold),
    affected_power_kw: shown(row.affected_power_kw),
    lost_energy_kwh: rounded(row.lost_energy_kwh, 3),
    lost_amount: has_money ? rounded(row.lost_amount, 2) : null,
    lost_amount_reason: has_money ? null : 'forbidden_scope',
    currency: has_money ? row.currency : null,
    suppressed: suppressed_reason !== null,
    recommended_action: isAlertCode(code) ? ruleOf(code).recommended_action : null,
    rule_id: code,
  }
}

const shown = (value: number | null) => value && significant(value)
