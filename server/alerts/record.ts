/** An alert as the API shows it. */
import { rounded, significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At, iso } from '../plant/frame.ts'
import { sourceTypes } from './finding.ts'
import { heldSeconds } from './held.ts'
import { alertStatuses, resolutions, type StoredAlert } from './listener.ts'
import { alertCategories, alertSeverities, suppressors } from './rule.ts'
import { isAlertCode, ruleOf } from './rules.ts'

const Device = (what: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `${what}; null where it is of none.` }))
const Figure = (description: string) => Nullable(Type.Number({ description }))
const Text = (description: string) => Nullable(Type.String({ description }))

const what = {
  alert_id: Type.Integer({ minimum: 1 }),
  code: Type.String({
    description: 'The rule that it is of; stable. docs/alerts.md lists them.',
    examples: ['string_zero_current'],
  }),
  title: Type.String({ description: 'What is wrong, the same for all of one `code`.' }),
  message: Type.String({ description: 'What is wrong, of this source, for people.' }),
  category: Type.Enum([...alertCategories]),
  severity: Type.Enum([...alertSeverities]),
  status: Type.Enum([...alertStatuses], {
    description:
      '`active`, then `acknowledged` by a person, then `resolved`: by a person, or by itself when ' +
      'the condition is gone. What comes again soon after is the same alert, once more `active`.',
  }),
  source_type: Type.Enum([...sourceTypes]),
  source_id: Type.String({
    description: 'The id of the source; `7.3` of string 3 of inverter 7, and of PCS 3 of unit 7.',
  }),
  logger_id: Device('The plant'),
  inverter_id: Device('The inverter'),
  string_index: Device('The string of the inverter, from 0'),
  bess_id: Device('The battery unit'),
  node_id: Text('The sensor node; null where it is of none.'),
  location_id: Device('Where that stands'),
}

const when = {
  started_at: At('When the condition began, as far as that is known; of the first occurrence.'),
  detected_at: At('When the first occurrence was raised, after the delay of its rule.'),
  last_seen_at: At('When the condition was known to hold last.'),
  ended_at: Nullable(
    At('Since when it is known to be gone; null while it holds, or cannot be judged.'),
  ),
  duration_s: Type.Number({
    minimum: 0,
    description:
      'From its start to its end, else until it was resolved, else now; of one that came again all ' +
      'occurrences, without the time between.',
  }),
  occurrence_count: Type.Integer({
    minimum: 1,
    description: 'How often it came, counting those within the reopen window of the one before.',
  }),
}

const howMuch = {
  value: Figure('What was measured last, in `unit`.'),
  threshold: Figure('What that is held against, in `unit`.'),
  unit: Text('Of `value` and `threshold`.'),
  affected_power_kw: Figure(
    'What could have been produced and was not for this reason, when it was seen last.',
  ),
  lost_energy_kwh: Figure('The same over the time that it was watched, of all occurrences.'),
  lost_amount: Figure(
    'What the contract of the plant would have paid for that; null where a price is not known ' +
      'and for `lost_amount_reason`.',
  ),
  lost_amount_reason: Nullable(
    Type.Enum(['forbidden_scope'], {
      description:
        'An extension. `forbidden_scope`: the key lacks `earnings:read`, or the plan the module ' +
        '`earnings`. Null: `lost_amount` is served.',
    }),
  ),
  currency: Text('Of `lost_amount`, ISO 4217.'),
}

const people = {
  acknowledged_at: Nullable(
    At('When a person took note last; of one that is `active` again, of an occurrence before.'),
  ),
  acknowledged_by: Text('The name of the key, of that time.'),
  ack_note: Text('What was said with it.'),
  resolved_at: Nullable(At('When it was resolved last.')),
  resolved_by: Text('The name of the key; `system` where it resolved by itself.'),
  resolution: Nullable(Type.Enum([...resolutions])),
  resolution_note: Text('What was said with it.'),
  suppressed: Type.Boolean({ description: 'Nobody is told of it, as something explains it.' }),
  suppressed_reason: Nullable(Type.Enum([...suppressors])),
  vendor_codes: Type.Array(Type.String(), { description: 'As the maker of the device has them.' }),
  recommended_action: Text('What to do; null where the rule is of an older version.'),
  work_order_id: Nullable(
    Type.Integer({ minimum: 1, description: 'The newest that sees to it, not cancelled.' }),
  ),
  defect_id: Nullable(
    Type.Integer({ minimum: 1, description: 'The newest that it belongs to, not dismissed.' }),
  ),
  rule_id: Text('The rule as the settings of the site name it: its `code`.'),
  dedup_key: Type.String({
    description: 'Of alerts that are not resolved no two have the same.',
  }),
  created_at: At('When it was stored.'),
  updated_at: At('When it was stored last: each minute that it lasts.'),
}

export type AlertRecord = Static<typeof AlertRecord>
export const AlertRecord = Type.Object(
  { ...what, ...when, ...howMuch, ...people },
  { additionalProperties: false, $id: 'Alert' },
)

/** With what other tables tell of it. */
export interface ListedAlert extends StoredAlert {
  work_order_id: number | null
  defect_id: number | null
  created_at: Date
  updated_at: Date
}

/** `has_money`: for a reader with `earnings:read`. */
export function alertRecord(
  row: ListedAlert,
  { now, has_money }: { now: Date; has_money: boolean },
): AlertRecord {
  const { started_at, ended_at, resolved_at } = row
  return {
    alert_id: row.alert_id,
    code: row.code,
    title: row.title,
    message: row.message,
    category: row.category,
    severity: row.severity,
    status: row.status,
    source_type: row.source_type,
    source_id: row.source_id,
    logger_id: row.logger_id,
    inverter_id: row.inverter_id,
    string_index: row.string_index,
    bess_id: row.bess_id,
    node_id: row.node_id,
    location_id: row.location_id,
    started_at: started_at.toISOString(),
    detected_at: row.detected_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    ended_at: iso(ended_at),
    duration_s: heldSeconds(row, ended_at ?? resolved_at ?? now),
    occurrence_count: row.occurrence_count,
    value: figure(row.value),
    threshold: figure(row.threshold),
    unit: row.unit,
    affected_power_kw: figure(row.affected_power_kw),
    lost_energy_kwh: rounded(row.lost_energy_kwh, 3),
    lost_amount: has_money ? rounded(row.lost_amount, 2) : null,
    lost_amount_reason: has_money ? null : 'forbidden_scope',
    currency: has_money ? row.currency : null,
    acknowledged_at: iso(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    ack_note: row.ack_note,
    resolved_at: iso(resolved_at),
    resolved_by: row.resolved_by,
    resolution: row.resolution,
    resolution_note: row.resolution_note,
    suppressed: row.suppressed_reason !== null,
    suppressed_reason: row.suppressed_reason,
    vendor_codes: row.vendor_codes,
    recommended_action: isAlertCode(row.code) ? ruleOf(row.code).recommended_action : null,
    work_order_id: row.work_order_id,
    defect_id: row.defect_id,
    rule_id: row.code,
    dedup_key: row.dedup_key,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

const figure = (value: number | null) => value && significant(value)
