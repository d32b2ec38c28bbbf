/** A curtailment row: the limit of one plant for a time, with the progress of its execution. */
import { failureCodes, open_end_at, outsideSources } from '@heliograph/domain/curtailment'
import { significant } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import * as field from '../http/fields.ts'
import { LoggerId, Named } from '../http/params.ts'
import { At, edge_silence_s_max } from '../plant/frame.ts'
import { isReleasing, overAt } from '../storage/curtailment.ts'
import { type Stored, served } from '../storage/records.ts'

export const group_id_example = '0d9c7d3e-6a58-4f3f-9f2e-4f1f3b1c7a52'

/** A row that no edge acknowledged within this time after its start has `edge_offline`. */
const answer_s = 30

const sources = ['api', 'standing_order', 'edge_local', ...outsideSources] as const
const isFromOutside = (source: (typeof sources)[number]) =>
  outsideSources.some((outside) => outside === source)
export const rowScopes = ['site', 'logger'] as const
export const limitModes = ['percent', 'kw'] as const
export const rowStatuses = [
  'scheduled',
  'active',
  'releasing',
  'completed',
  'cancelled',
  'failed',
] as const
export type RowStatus = (typeof rowStatuses)[number]

export const openStatuses = ['scheduled', 'active', 'releasing'] as const satisfies RowStatus[]

const moneyReasons = ['no_contract', 'no_price', 'no_exchange_rate', 'forbidden_scope'] as const

export const releasingReasons = [
  'edge_unreachable',
  'raise_refused',
  'device_not_restored',
  'awaiting_confirmation',
] as const

const closedReasons = ['operator', 'edge_removed', 'end_at'] as const

export const statusRule =
  '`scheduled`: before its start. `active`: in force. `releasing`: the row was released or its end ' +
  'has passed, and the edge has not confirmed that the plant is restored (see `releasing_reason`). ' +
  "Only the edge's confirmation, the removal of the site's last edge, or an operator who closes " +
  'the record on the platform (`closed_reason`) ends this status; there is no timeout. ' +
  '`cancelled`: released. `completed`: its end has passed. `failed`: its end has passed and it was ' +
  'never applied. A row that was never sent to an edge needs no confirmation.'

export const CurtailmentRow = Named('CurtailmentRow', {
  id: field.Int('Unique within the site.', { minimum: 1, examples: [41] }),
  group_id: field.TextOrNull(
    'The command that created the row. Null for an order that the edge took from outside (see ' +
      '`source`): only its source ends it.',
    group_id_example,
  ),
  logger_id: LoggerId,
  status: field.OneOf(rowStatuses, statusRule, 'active'),
  is_active: field.Flag('Whether the row is in force now: its status is `active`.', true),
  applied: field.Flag('Whether `applied_at` is known.', true),
  restored: field.Flag('Whether `restored_at` is known.'),
  source: field.OneOf(
    sources,
    '`api`: a command to this API. `standing_order`: planned by a standing order of the platform ' +
      'for a low net price; `created_by` approved it. `edge_local`: reported by an edge to a server that was ' +
      'restored from a backup and no longer has the command. `grid_operator`, ' +
      '`direct_marketer`, `digital_input`: taken by the edge at the plant, from a control centre ' +
      'or from relay inputs; it ends when that source replaces it, or by the fall-back of the ' +
      'site file.',
  ),
  scope: field.OneOfOrNull(rowScopes, 'As requested; null if `edge_local`.', 'logger'),
  limit_mode: field.OneOfOrNull(limitModes, 'As requested; null if `edge_local`.', 'kw'),
  limit_value: field.NumOrNull('As requested, in % or kW by `limit_mode`; null if `edge_local`.'),
  start_at: At('Start, inclusive.'),
  end_at: field.AtOrNull(
    'End, exclusive, unless the row is released before. Null for an order from outside that is ' +
      'in force: see `holds_until`.',
    '2026-06-28T10:00:00.000Z',
  ),
  holds_until: field.OneOfOrNull(
    ['replaced'],
    '`replaced`: until its source orders another limit, for an order from outside. Null for ' +
      'commands, which end at `end_at`.',
  ),
  max_power_kw: field.FromZero('Limit of the plant, kW: whole watts, at most its rated power.'),
  requested_max_power_kw: field.FromZeroOrNull('Limit before it is rounded and capped, kW.', 240),
  rated_power_kw: field.NumOrNull('Rated power of the plant at the time of the command, kW.', 400),
  limit_pct_of_rated: field.FromZeroOrNull('`max_power_kw` as a percentage of `rated_power_kw`.'),
  created_at: At('When the command was received.'),
  acknowledged_at: field.AtOrNull('When the edge stored the row; from then on it needs no server.'),
  applied_at: field.AtOrNull(
    'When read-back proved that the limits of the devices together are within the limit.',
  ),
  verified_at: field.AtOrNull('When measured power was first at or below the limit after that.'),
  restore_started_at: field.AtOrNull('When the edge started to restore the plant.'),
  restored_at: field.AtOrNull(
    'When read-back proved it restored, within the permit and other rows.',
  ),
  release_requested_at: field.AtOrNull('When the release was requested; null without a release.'),
  releasing_reason: field.OneOfOrNull(
    releasingReasons,
    'What a `releasing` row waits for; null for other statuses. `edge_unreachable`: nothing ' +
      `was received from the edge for ${edge_silence_s_max} s. \`raise_refused\`: the edge may ` +
      'not raise the plant. `device_not_restored`: a device does not answer, refuses, or ' +
      'remains below its limit. Both have details in `failure_code` and `failure_message`. ' +
      '`awaiting_confirmation`: the edge is connected and has not reported yet.',
  ),
  cancelled_at: field.AtOrNull(
    'When the row became `cancelled`: its release was confirmed (not before `restored_at`), ' +
      'the row was never sent to an edge, or the record was closed (`closed_at`). Null for ' +
      'other statuses.',
  ),
  completed_at: field.AtOrNull(
    'When the row became `completed`: after its end, once the edge confirmed that the plant is ' +
      'restored, or the record was closed. Null for other statuses.',
  ),
  closed_at: field.AtOrNull(
    'When the record was closed without confirmation by the edge: the plant may still have ' +
      'been limited. Null for all other rows.',
  ),
  closed_reason: field.OneOfOrNull(
    closedReasons,
    '`operator`: a person closed the record on the platform. `edge_removed`: the last edge ' +
      'of the site was revoked. `end_at`: closed by an older version of the server, which ' +
      'closed rows after their end.',
  ),
  closed_by: field.TextOrNull('Name of the person who closed the record.'),
  close_note: field.TextOrNull('Reason given by that person.'),
  apply_latency_ms: field.FromZeroOrNull(
    'Time from the start, or a later command, to `applied_at`.',
  ),
  last_checked_at: field.AtOrNull('When the edge last checked limit and power.'),
  observed_limit_kw: field.FromZeroOrNull(
    'What the limits of the devices let the plant deliver at most, kW; a device that does not ' +
      'answer counts with all that it can deliver.',
  ),
  observed_power_kw: field.NumOrNull('Measured power at the last check, kW.', 239.4),
  compliance_pct: field.NumOrNull('Checks since `applied_at` with power at or below the limit, %.'),
  violation_s: field.FromZero('Time above the limit since `applied_at`, s.'),
  retry_count: field.Count('Failed attempts so far.'),
  failure_code: field.OneOfOrNull(
    failureCodes,
    'Why the row is not applied or not restored; the edge keeps trying. `edge_offline`: no ' +
      `edge had acknowledged the row ${answer_s} s after its start; it is applied once one ` +
      'has. `device_rejected`: a device refuses its limit, or delivers more. ' +
      '`readback_mismatch`: the limit read back from a device differs. `timeout`: a device ' +
      'does not answer. `driver_error`: a device cannot be limited for another reason. ' +
      '`raise_refused`: the row is over, and the edge may not raise the plant: it has no grid ' +
      'permit for the plant, its clock jumped within the last minute, or its disk accepts no ' +
      'writes. It raises the plant as soon as it may. `device_below_limit`: the row is over, ' +
      'and a device holds another limit than it was set to; `failure_message` has both values. ' +
      'Ends when the device is restored, or when an operator declares on site that nobody else ' +
      'set that limit.',
  ),
  failure_message: field.TextOrNull('Description of the failure.'),
  available_power_kw: field.NumOrNull(
    'Available power without limits, kW, of the inverters that report it, at the last check ' +
      'while the row was in force; null where none reports it.',
  ),
  curtailed_energy_kwh: field.FromZeroOrNull(
    'Energy curtailed so far, kWh: available less delivered energy of inverters that were ' +
      '`limited_by` `curtailment` while the row was applied and the lowest in force. Gaps in ' +
      'the readings are left out. Includes what the grid permit alone would have curtailed, ' +
      'since the server does not know the permit. Null where no inverter reports available ' +
      'power and what limits it.',
  ),
  lost_revenue_amount: field.FromZeroOrNull(
    'Lost revenue for that energy under the contract of the plant, before fees, over quarter ' +
      'hours with a positive price. Uses the newest prices and changes with them. Null where the ' +
      'energy is unknown, and with a `money_reason`. Rows add up to `curtailment_loss_amount` of ' +
      '/earnings/summary where curtailment alone limits the plant and no irradiance is measured; ' +
      'with measured irradiance, earnings use that instead of available power.',
  ),
  avoided_cost_amount: field.FromZeroOrNull(
    'Cost of delivering that energy in quarter hours with a negative contract price. Not ' +
      'part of the lost revenue, and null where that is null.',
  ),
  currency: field.TextOrNull('ISO 4217, of the contract; null without an amount.', 'EUR'),
  money_reason: field.OneOfOrNull(
    moneyReasons,
    'Why the amounts are unknown for some or all of the energy. `no_contract`: the plant has no ' +
      'contract. `no_price`: the market has not published a price. `no_exchange_rate`: between ' +
      'the currencies of market and contract, or of several contracts and the site. ' +
      '`forbidden_scope`: the key lacks `earnings:read`, or the plan lacks the module `earnings`.',
  ),
  created_by: field.TextOrNull('Name of the key that created the row; null if `edge_local`.'),
  cancelled_by: field.TextOrNull('Name of the key that released the row.'),
  idempotency_key: field.TextOrNull('`Idempotency-Key` of the command.'),
  request_id: field.TextOrNull('`X-Request-Id` of the command.'),
})
export type CurtailmentRow = Static<typeof CurtailmentRow>

export type RowMoney = Pick<
  CurtailmentRow,
  'lost_revenue_amount' | 'avoided_cost_amount' | 'currency' | 'money_reason'
>

export const noMoney: RowMoney = {
  lost_revenue_amount: null,
  avoided_cost_amount: null,
  currency: null,
  money_reason: null,
}

/** For a caller without `earnings:read`. */
export const hiddenMoney: RowMoney = { ...noMoney, money_reason: 'forbidden_scope' }

/**
 * SQL: the status of `r`, a row of `curtailment_rows`. The status is derived and never stored.
 * `told_at` stays null where an edge receives a row only after its release: it never applied it.
 */
const rowStatus = (now: string) => `
  case
    when ${isReleasing(now)} then 'releasing'
    when r.released_at is not null then 'cancelled'
    when ${now} < r.start_at then 'scheduled'
    when ${now} < r.end_at then 'active'
    when r.applied_at is not null then 'completed'
    else 'failed'
  end`

const releasingReason = (now: string) => `
  case
    when not ${isReleasing(now)} then null
    when not exists (
      select from edges e
      where e.site_id = $1 and e.revoked_at is null
        and e.last_seen_at >= ${now} - interval '${edge_silence_s_max} seconds'
    ) then 'edge_unreachable'
    when r.failure_code = 'raise_refused' then 'raise_refused'
    when r.failure_code is not null then 'device_not_restored'
    else 'awaiting_confirmation'
  end`

const isUnanswered = (now: string) => `
  r.acknowledged_at is null and r.released_at is null
  and ${now} >= greatest(r.start_at, g.created_at) + interval '${answer_s} seconds'`

/** SQL: the columns of a `StoredRow` of site $1, from `curtailment_rows r` and its group `g`. */
export const rowColumns = (now: string) => `
  r.row_id as id, r.group_id, r.logger_id, ${rowStatus(now)} as status,
  g.source, g.scope, g.limit_mode, g.limit_value, r.start_at, r.end_at, r.max_power_kw,
  r.requested_max_power_kw, r.rated_power_kw, g.created_at, r.acknowledged_at, r.applied_at,
  r.verified_at, r.restore_started_at, r.restored_at, r.released_at as release_requested_at,
  ${releasingReason(now)} as releasing_reason, ${overAt} as over_at,
  r.closed_at, r.closed_reason, r.closed_by, r.close_note, r.last_checked_at,
  r.observed_limit_kw, r.observed_power_kw, r.samples, r.compliant_samples, r.violation_s,
  r.retry_count, r.failure_message, r.available_power_kw,
  case when ${isUnanswered(now)} then 'edge_offline' else r.failure_code end as failure_code,
  (select sum(h.curtailed_energy_kwh) from curtailment_hours h
   where h.site_id = $1 and h.group_id = r.group_id and h.logger_id = r.logger_id)
    as curtailed_energy_kwh,
  g.created_by, g.cancelled_by, g.idempotency_key, g.request_id`

type Derived =
  | 'is_active'
  | 'applied'
  | 'restored'
  | 'limit_pct_of_rated'
  | 'group_id'
  | 'end_at'
  | 'holds_until'
  | 'cancelled_at'
  | 'completed_at'
  | 'apply_latency_ms'
  | 'compliance_pct'
  | keyof RowMoney

/** A row as `rowColumns` select it. */
export interface StoredRow extends Stored<Omit<CurtailmentRow, Derived>> {
  group_id: string
  end_at: Date
  /** When the row became over; of no meaning before. */
  over_at: Date
  samples: number
  compliant_samples: number
}

export function rowRecord(row: StoredRow, money: RowMoney): CurtailmentRow {
  const { over_at, samples, compliant_samples, applied_at, rated_power_kw, status } = row
  const requested_ms = Math.max(row.start_at.getTime(), row.created_at.getTime())
  const is_from_outside = isFromOutside(row.source)
  const is_open = is_from_outside && row.end_at.getTime() === open_end_at
  const is_offline = row.failure_code === 'edge_offline' && row.failure_message === null
  return served(CurtailmentRow, {
    ...row,
    group_id: is_from_outside ? null : row.group_id,
    end_at: is_open ? null : row.end_at,
    holds_until: is_from_outside ? 'replaced' : null,
    is_active: status === 'active',
    applied: applied_at !== null,
    restored: row.restored_at !== null,
    cancelled_at: status === 'cancelled' ? over_at : null,
    completed_at: status === 'completed' ? over_at : null,
    limit_pct_of_rated: rated_power_kw && significant((100 * row.max_power_kw) / rated_power_kw),
    // The clocks of edge and server may differ by more than the latency.
    apply_latency_ms: applied_at && Math.max(0, applied_at.getTime() - requested_ms),
    compliance_pct: samples > 0 ? significant((100 * compliant_samples) / samples) : null,
    failure_message: is_offline ? 'no edge has reported that it has this row' : row.failure_message,
    ...money,
  })
}
