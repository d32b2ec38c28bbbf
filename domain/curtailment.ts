/**
 * Curtailment on the edge link. The server tells the edge which rows there are; the edge, which
 * alone knows the grid permit, carries them out and reports how far it has come.
 *
 * A row never changes but for its release, and a release is final: what each end knows is the union
 * of all that it heard, in any order and however often. So a server that comes back older than it
 * was takes nothing back, and an edge goes on alone until the end of each row.
 */
import { type Static, Type } from 'typebox'
import { DispatchHour, dispatch_hours_max } from './dispatch.ts'

const closed = { additionalProperties: false } as const
const Instant = Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' })
const When = Type.Union([Instant, Type.Null()])
const Power = Type.Number({ minimum: 0, maximum: 1e9 })

export const curtailment_rows_max = 20_000

/** Limits one plant from `start_at` until before `end_at`, or until its release. */
export type CurtailmentRow = Static<typeof CurtailmentRow>
export const CurtailmentRow = Type.Object(
  {
    group_id: Type.String({ format: 'uuid' }),
    logger_id: Type.Integer({ minimum: 1 }),
    start_at: Instant,
    end_at: Instant,
    max_power_kw: Power,
    released_at: When,
  },
  closed,
)

/** Every row, and hour of approved dispatch, that is not over: on connecting and after changes. */
export const Desired = Type.Object(
  {
    type: Type.Literal('desired'),
    rows: Type.Array(CurtailmentRow, { maxItems: curtailment_rows_max }),
    /** Absent where there is none. */
    dispatch: Type.Optional(Type.Array(DispatchHour, { maxItems: dispatch_hours_max })),
  },
  closed,
)

export const failureCodes = [
  'edge_offline',
  'device_rejected',
  'readback_mismatch',
  'timeout',
  'driver_error',
  /** It is over, and the edge may not raise the plant. */
  'raise_refused',
  /** It is over, and a device still stands lower, by our doing as far as is known. */
  'device_below_limit',
] as const

/**
 * How far a row has come: the payload of a frame of kind `curtailment` is `RowReport[]`. The newest
 * of a row, by `reported_at`, replaces those before.
 */
export type RowReport = Static<typeof RowReport>
export const RowReport = Type.Object(
  {
    row: CurtailmentRow,
    reported_at: Instant,
    /** The edge has it on disk. */
    acknowledged_at: Instant,
    /** Read-back proved that the plant's devices together may not deliver more. */
    applied_at: When,
    /** Measured power, after that, stood at or below the limit. */
    verified_at: When,
    restore_started_at: When,
    restored_at: When,
    last_checked_at: When,
    /** The most that the devices' limits allow, never told below the row's own limit. */
    observed_limit_kw: Type.Union([Power, Type.Null()]),
    observed_power_kw: Type.Union([Type.Number(), Type.Null()]),
    /** Looks at the measured power since `applied_at`, and those of them at or below the limit. */
    samples: Type.Integer({ minimum: 0 }),
    compliant_samples: Type.Integer({ minimum: 0 }),
    violation_s: Type.Number({ minimum: 0 }),
    retry_count: Type.Integer({ minimum: 0 }),
    failure_code: Type.Union([Type.Enum([...failureCodes]), Type.Null()]),
    failure_message: Type.Union([Type.String({ maxLength: 500 }), Type.Null()]),
  },
  closed,
)

/** When a row came how far. */
export const reportInstants = [
  'acknowledged_at',
  'applied_at',
  'verified_at',
  'restore_started_at',
  'restored_at',
  'last_checked_at',
] as const satisfies readonly (keyof RowReport)[]

export const rowKey = ({ group_id, logger_id }: Pick<CurtailmentRow, 'group_id' | 'logger_id'>) =>
  `${group_id}/${logger_id}`

/** Both of a row that was heard of twice: a release is never taken back. */
export function mergeRow(known: CurtailmentRow, heard: CurtailmentRow): CurtailmentRow {
  if (known.released_at === null) return { ...known, released_at: heard.released_at }
  if (heard.released_at === null) return known
  return { ...known, released_at: Math.min(known.released_at, heard.released_at) }
}

export const isInForce = ({ start_at, end_at, released_at }: CurtailmentRow, now_ms: number) =>
  released_at === null && now_ms >= start_at && now_ms < end_at
