/** A curtailment row: one plant held below a limit for a time, and how far that has come. */
import { failureCodes, type reportInstants } from '@heliograph/domain/curtailment'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { LoggerId, Nullable } from '../http/params.ts'
import { At, edge_silence_s_max, iso } from '../plant/frame.ts'
import { isReleasing, overAt } from '../storage/curtailment.ts'

const closed = { additionalProperties: false } as const
const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** Without a sign of the edge for so long after its start a row says so. */
const answer_s = 30

const sources = ['api', 'edge_local'] as const
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

/** Those of rows that are not over. */
export const openStatuses = ['scheduled', 'active', 'releasing'] as const satisfies RowStatus[]

const moneyReasons = ['no_contract', 'no_price', 'no_exchange_rate', 'forbidden_scope'] as const

/** What a row that is `releasing` waits for. */
export const releasingReasons = [
  'edge_unreachable',
  'raise_refused',
  'device_not_restored',
  'awaiting_confirmation',
] as const

const closedReasons = ['operator', 'edge_removed', 'end_at'] as const

export const statusRule =
  '`scheduled`: before its start. `active`: in force. `releasing`: its release was requested or ' +
  'its end came, and the edge, which was sent the row and may hold it, has not confirmed that the ' +
  'plant is restored: see `releasing_reason`. No time ends that, but the confirmation of the edge, ' +
  "the removal of the site's last edge, or an operator who closes the record on the platform " +
  '(`closed_reason`). `cancelled`: released. `completed`: its end came. `failed`: its end came and ' +
  'it never was applied. A row that no edge was sent needs no confirmation.'

export const CurtailmentRow = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'Unique within the site.' }),
    group_id: Type.String({ description: 'Of the command that made it.' }),
    logger_id: LoggerId,
    status: Type.Enum([...rowStatuses], { description: statusRule }),
    is_active: Type.Boolean({ description: 'In force now: its status is `active`.' }),
    applied: Type.Boolean({ description: 'Whether `applied_at` is known.' }),
    restored: Type.Boolean({ description: 'Whether `restored_at` is known.' }),
    source: Type.Enum([...sources], {
      description:
        '`api`; `edge_local`: the edge carried it out and the server, restored from a backup, ' +
        'learned of it from there.',
    }),
    scope: Nullable(Type.Enum([...rowScopes], { description: 'As asked; null if `edge_local`.' })),
    limit_mode: Nullable(
      Type.Enum([...limitModes], { description: 'As asked; null if `edge_local`.' }),
    ),
    limit_value: Nullable(
      Type.Number({ description: 'As asked, in % or kW by `limit_mode`; null if `edge_local`.' }),
    ),
    start_at: At('From when on it holds.'),
    end_at: At('Until when it holds, unless it is released before.'),
    max_power_kw: Type.Number({
      minimum: 0,
      description: 'What the plant may deliver at most, kW: whole watts, at most its rated power.',
    }),
    requested_max_power_kw: Nullable(
      Type.Number({ minimum: 0, description: 'The same before it was capped, kW.' }),
    ),
    rated_power_kw: Nullable(
      Type.Number({ description: 'Rated power of the plant when it was asked, kW.' }),
    ),
    limit_pct_of_rated: Nullable(
      Type.Number({ minimum: 0, description: '`max_power_kw` by `rated_power_kw`, %.' }),
    ),
    created_at: At('When it was asked for.'),
    acknowledged_at: Nullable(At('When the edge had it on disk; from then on it needs no server.')),
    applied_at: Nullable(
      At('When registers read back proved that the devices may not deliver more together.'),
    ),
    verified_at: Nullable(At('When measured power after that was at or below the limit.')),
    restore_started_at: Nullable(At('When the edge began to lift it.')),
    restored_at: Nullable(
      At('When registers read back proved that; to the permit and other rows at most.'),
    ),
    release_requested_at: Nullable(At('When its release was requested; null without a release.')),
    releasing_reason: Nullable(
      Type.Enum([...releasingReasons], {
        description:
          'What a `releasing` row waits for; null for other statuses. `edge_unreachable`: nothing ' +
          `was received from the edge for ${edge_silence_s_max} s. \`raise_refused\`: the edge may ` +
          'not raise the plant. `device_not_restored`: a device does not answer, refuses, or stays ' +
          'below its limit. Both have details in `failure_code` and `failure_message`. ' +
          '`awaiting_confirmation`: the edge is connected and has not reported yet.',
      }),
    ),
    cancelled_at: Nullable(
      At(
        'When the row became `cancelled`: its release is confirmed (not before `restored_at`), or ' +
          'no edge was sent the row, or the record was closed (`closed_at`). Null for other ' +
          'statuses.',
      ),
    ),
    completed_at: Nullable(
      At(
        'When the row became `completed`: after its end, once the edge confirmed that the plant is ' +
          'restored, or the record was closed. Null for other statuses.',
      ),
    ),
    closed_at: Nullable(
      At(
        'When the record was closed without a confirmation of the edge: the plant may still have ' +
          'been limited. Null for all other rows.',
      ),
    ),
    closed_reason: Nullable(
      Type.Enum([...closedReasons], {
        description:
          '`operator`: a person closed the record on the platform. `edge_removed`: the last edge ' +
          'of the site was revoked. `end_at`: a row of an older version of the server, which ' +
          'closed rows after their end.',
      }),
    ),
    closed_by: Nullable(Type.String({ description: 'Name of the person who closed the record.' })),
    close_note: Nullable(Type.String({ description: 'Reason that the person gave.' })),
    apply_latency_ms: Nullable(
      Type.Number({ minimum: 0, description: 'From its start, or from asking, to `applied_at`.' }),
    ),
    last_checked_at: Nullable(At('When the edge looked at limit and power last.')),
    observed_limit_kw: Nullable(
      Type.Number({
        minimum: 0,
        description: 'The most that the limits of the devices allow, kW; never below the row.',
      }),
    ),
    observed_power_kw: Nullable(Type.Number({ description: 'Power at the last look, kW.' })),
    compliance_pct: Nullable(
      Type.Number({ description: 'Looks since `applied_at` at or below the limit, %.' }),
    ),
    violation_s: Type.Number({ minimum: 0, description: 'Time above the limit since then.' }),
    retry_count: Count('Attempts that failed so far.'),
    failure_code: Nullable(
      Type.Enum([...failureCodes], {
        description:
          'What keeps it from being applied or restored; the edge goes on trying. `edge_offline`: ' +
          `no edge had it ${answer_s} s after its start; it is carried out as soon as one has. ` +
          '`device_rejected`: a device refuses its limit, or delivers more. `readback_mismatch`: ' +
          'its limit reads back as another. `timeout`: it does not answer. `driver_error`: it ' +
          'cannot be limited for another reason. `raise_refused`: the row is over, and the edge ' +
          'may not raise the plant, above all while it knows no grid permit of it; also for a ' +
          'minute after its clock jumped, and while its disk takes nothing. It does once it may. ' +
          '`device_below_limit`: the row is over, and a device still holds a lower limit than it ' +
          'should, which it made of a command; `failure_message` has both figures where they tell ' +
          'nothing of the permit. It ends when the device is back, or when somebody at the site ' +
          'declares how it rounds or whose the limit is.',
      }),
    ),
    failure_message: Nullable(Type.String({ description: 'The same in words.' })),
    available_power_kw: Nullable(
      Type.Number({
        description:
          'What the inverters that tell it could deliver without limits, kW, when it was looked ' +
          'at last while the row was in force; null where none tells.',
      }),
    ),
    curtailed_energy_kwh: Nullable(
      Type.Number({
        minimum: 0,
        description:
          'Energy that it kept back so far, kWh: what inverters could have delivered less what ' +
          'they did, while they were `limited_by` `curtailment` and it was applied and the lowest ' +
          'of the rows in force; not across gaps in the readings. The permit is not known here: ' +
          'what it would have kept back anyway counts too. null where no inverter tells what it ' +
          'could deliver and by what it is limited.',
      }),
    ),
    lost_revenue_amount: Nullable(
      Type.Number({
        minimum: 0,
        description:
          'What the contract of the plant would have paid for that energy, quarter by quarter, ' +
          'where it pays, before fees; by the newest prices, so it may change with them. null ' +
          'where the energy is not known, and for `money_reason`. Rows add up to ' +
          '`curtailment_loss_amount` of /earnings/summary where rows alone hold the plant and no ' +
          'light is measured: where it is, earnings go by that, and not by what inverters tell.',
      }),
    ),
    avoided_cost_amount: Nullable(
      Type.Number({
        minimum: 0,
        description:
          'What delivering that energy would have cost, in quarters whose price is negative ' +
          'under the contract; beside the lost revenue, and null where that is.',
      }),
    ),
    currency: Nullable(
      Type.String({ description: 'ISO 4217, of the contract; null where no amount is known.' }),
    ),
    money_reason: Nullable(
      Type.Enum([...moneyReasons], {
        description:
          'What keeps the amounts from being known, for all or a part of the energy. ' +
          '`no_contract`: the plant sells under none. `no_price`: the market has published none. ' +
          '`no_exchange_rate`: from the currency of the market into that of the contract, or of ' +
          'several contracts into that of the site. `forbidden_scope`: the key lacks ' +
          '`earnings:read`, or the plan the module `earnings`.',
      }),
    ),
    created_by: Nullable(Type.String({ description: 'Name of the key; null if `edge_local`.' })),
    cancelled_by: Nullable(Type.String({ description: 'Name of the key that released it.' })),
    idempotency_key: Nullable(Type.String({ description: 'Of the request that made it.' })),
    request_id: Nullable(Type.String({ description: 'Of the request that made it.' })),
  },
  { ...closed, $id: 'CurtailmentRow' },
)
export type CurtailmentRow = Static<typeof CurtailmentRow>

/** What its energy was worth. */
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
 * `told_at` stays null where an edge first hears of a row with its release: it never held the row.
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
      where e.site_id = r.site_id and e.revoked_at is null
        and e.last_seen_at >= ${now} - interval '${edge_silence_s_max} seconds'
    ) then 'edge_unreachable'
    when r.failure_code = 'raise_refused' then 'raise_refused'
    when r.failure_code is not null then 'device_not_restored'
    else 'awaiting_confirmation'
  end`

const isUnanswered = (now: string) => `
  r.acknowledged_at is null and r.released_at is null
  and ${now} >= greatest(r.start_at, g.created_at) + interval '${answer_s} seconds'`

/** Of `curtailment_rows r` and its `curtailment_groups g`, for `rowRecord`. */
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
   where h.site_id = r.site_id and h.group_id = r.group_id and h.logger_id = r.logger_id)
    as curtailed_energy_kwh,
  g.created_by, g.cancelled_by, g.idempotency_key, g.request_id`

type Instant = (typeof reportInstants)[number]
type StoredInstant = 'start_at' | 'end_at' | 'created_at' | 'release_requested_at' | 'closed_at'
type Derived =
  | 'is_active'
  | 'applied'
  | 'restored'
  | 'limit_pct_of_rated'
  | 'cancelled_at'
  | 'completed_at'
  | 'apply_latency_ms'
  | 'compliance_pct'
  | keyof RowMoney

export interface StoredRow
  extends Omit<CurtailmentRow, Derived | Instant | StoredInstant>,
    Record<Instant, Date | null> {
  start_at: Date
  end_at: Date
  created_at: Date
  release_requested_at: Date | null
  closed_at: Date | null
  /** When a row that is over came to be so. */
  over_at: Date
  samples: number
  compliant_samples: number
}

export function rowRecord(row: StoredRow, money: RowMoney): CurtailmentRow {
  const { over_at, samples, compliant_samples, ...own } = row
  const { applied_at, rated_power_kw, status, failure_code } = row
  const begun_ms = Math.max(row.start_at.getTime(), row.created_at.getTime())
  const is_offline = failure_code === 'edge_offline' && row.failure_message === null
  return {
    ...own,
    is_active: status === 'active',
    applied: applied_at !== null,
    restored: row.restored_at !== null,
    start_at: row.start_at.toISOString(),
    end_at: row.end_at.toISOString(),
    created_at: row.created_at.toISOString(),
    acknowledged_at: iso(row.acknowledged_at),
    applied_at: iso(applied_at),
    verified_at: iso(row.verified_at),
    restore_started_at: iso(row.restore_started_at),
    restored_at: iso(row.restored_at),
    last_checked_at: iso(row.last_checked_at),
    release_requested_at: iso(row.release_requested_at),
    cancelled_at: status === 'cancelled' ? over_at.toISOString() : null,
    completed_at: status === 'completed' ? over_at.toISOString() : null,
    closed_at: iso(row.closed_at),
    limit_pct_of_rated: rated_power_kw && significant((100 * row.max_power_kw) / rated_power_kw),
    // The clocks of edge and server may differ by more than it took.
    apply_latency_ms: applied_at && Math.max(0, applied_at.getTime() - begun_ms),
    compliance_pct: samples > 0 ? significant((100 * compliant_samples) / samples) : null,
    failure_message: is_offline ? 'no edge has told that it has this row' : row.failure_message,
    ...money,
  }
}
