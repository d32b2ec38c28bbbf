/** A curtailment row: one plant held below a limit for a time, and how far that has come. */
import { failureCodes, type reportInstants } from '@heliograph/domain/curtailment'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { LoggerId, Nullable } from '../http/params.ts'
import { At, iso } from './frame.ts'

const closed = { additionalProperties: false } as const
const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** A row that was released counts as cancelled, confirmed or not, so long after its end. */
export const grace_s = 60
/** Without a sign of the edge for so long after its start a row says so. */
const answer_s = 30

export const sources = ['api', 'edge_local'] as const
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

export const statusRule =
  '`scheduled`: before its start. `active`: in force. `releasing`: its release was asked for, and ' +
  'the edge, which was told of the row and may hold it, has not confirmed that: it cannot be ' +
  'reached, or may not raise the plant. `cancelled`: released, and confirmed by the edge, or no ' +
  `edge was told of the row before, or it is ${grace_s} s beyond its end. \`completed\`: its end ` +
  'came. `failed`: its end came and it never was applied.'

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
    cancelled_at: Nullable(At('When its release was asked for.')),
    completed_at: Nullable(At('When its end came; null for other statuses than `completed`.')),
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
 * The status of `r`, a row of `curtailment_rows`, as SQL; `now` is an expression. Nothing else says
 * what becomes of a row: its status is derived, never stored.
 * An edge that first hears of a row with its release never held it: `told_at` stays null.
 */
const rowStatus = (now: string) => `
  case
    when r.released_at is not null then
      case
        when r.told_at is null
          or r.restored_at is not null
          or (r.is_release_heard and r.released_at < r.start_at)
          or ${now} >= r.end_at + interval '${grace_s} seconds' then 'cancelled'
        else 'releasing'
      end
    when ${now} < r.start_at then 'scheduled'
    when ${now} < r.end_at then 'active'
    when r.applied_at is not null then 'completed'
    else 'failed'
  end`

const isUnanswered = (now: string) => `
  r.acknowledged_at is null and r.released_at is null
  and ${now} >= greatest(r.start_at, g.created_at) + interval '${answer_s} seconds'`

/** Of `curtailment_rows r` and its `curtailment_groups g`, for `rowRecord`. */
export const rowColumns = (now: string) => `
  r.row_id as id, r.group_id, r.logger_id, ${rowStatus(now)} as status,
  g.source, g.scope, g.limit_mode, g.limit_value, r.start_at, r.end_at, r.max_power_kw,
  r.requested_max_power_kw, r.rated_power_kw, g.created_at, r.acknowledged_at, r.applied_at,
  r.verified_at, r.restore_started_at, r.restored_at, r.released_at, r.last_checked_at,
  r.observed_limit_kw, r.observed_power_kw, r.samples, r.compliant_samples, r.violation_s,
  r.retry_count, r.failure_message, r.available_power_kw,
  case when ${isUnanswered(now)} then 'edge_offline' else r.failure_code end as failure_code,
  (select sum(h.curtailed_energy_kwh) from curtailment_hours h
   where h.site_id = r.site_id and h.group_id = r.group_id and h.logger_id = r.logger_id)
    as curtailed_energy_kwh,
  g.created_by, g.cancelled_by, g.idempotency_key, g.request_id`

type Instant = (typeof reportInstants)[number]
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
  extends Omit<CurtailmentRow, Derived | Instant | 'start_at' | 'end_at' | 'created_at'>,
    Record<Instant, Date | null> {
  start_at: Date
  end_at: Date
  created_at: Date
  released_at: Date | null
  samples: number
  compliant_samples: number
}

export function rowRecord(row: StoredRow, money: RowMoney): CurtailmentRow {
  const { released_at, samples, compliant_samples, ...own } = row
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
    cancelled_at: iso(released_at),
    completed_at: status === 'completed' ? row.end_at.toISOString() : null,
    limit_pct_of_rated: rated_power_kw && significant((100 * row.max_power_kw) / rated_power_kw),
    // The clocks of edge and server may differ by more than it took.
    apply_latency_ms: applied_at && Math.max(0, applied_at.getTime() - begun_ms),
    compliance_pct: samples > 0 ? significant((100 * compliant_samples) / samples) : null,
    failure_message: is_offline ? 'no edge has told that it has this row' : row.failure_message,
    ...money,
  }
}
