/**
 * Curtailment on the edge link. The server sends curtailment rows to the edge. The edge, which
 * alone knows the grid permit, applies them and reports its progress.
 *
 * A row changes only by its release, and a release is final. The state of each end is the union of
 * all messages received, in any order and any number of times. A server restored from a backup
 * therefore revokes nothing, and an edge without a server applies each row until its end.
 */
import { type Static, Type } from 'typebox'
import { DispatchHour, dispatch_hours_max } from './dispatch.ts'
import { Closed, Instant, InstantOrNull, Nullable } from './schema.ts'

const Power = Type.Number({ minimum: 0, maximum: 1e9 })

export const curtailment_rows_max = 20_000

/**
 * Who can order a limit at the edge, past the platform. Such an order ends only by its source or by
 * the fall-back that `site.yaml` names; no command of the platform releases it.
 */
export const outsideSources = ['grid_operator', 'direct_marketer', 'digital_input'] as const
export type OutsideSource = (typeof outsideSources)[number]

/** End of an order that holds until its source replaces it: the last instant of a message. */
export const open_end_at = Date.UTC(3000, 0, 1) - 1

/** Limits one plant in `[start_at, end_at)`, or until its release. */
export type CurtailmentRow = Static<typeof CurtailmentRow>
export const CurtailmentRow = Closed({
  group_id: Type.String({ format: 'uuid' }),
  logger_id: Type.Integer({ minimum: 1 }),
  start_at: Instant,
  end_at: Instant,
  max_power_kw: Power,
  released_at: InstantOrNull,
  /** Of an order that the edge took from outside and named itself; left out for commands. */
  source: Type.Optional(Type.Enum([...outsideSources])),
})

/** All rows and hours of approved dispatch that are not over; sent on connecting and on changes. */
export const Desired = Closed({
  type: Type.Literal('desired'),
  rows: Type.Array(CurtailmentRow, { maxItems: curtailment_rows_max }),
  dispatch: Type.Optional(Type.Array(DispatchHour, { maxItems: dispatch_hours_max })),
})

export const failureCodes = [
  'edge_offline',
  'device_rejected',
  'readback_mismatch',
  'timeout',
  'driver_error',
  /** The row is over, and the edge may not raise the plant. */
  'raise_refused',
  /** The row is over, and a device is still limited, by our command as far as is known. */
  'device_below_limit',
] as const

/**
 * Progress of a row. The payload of a frame of kind `curtailment` is `RowReport[]`. The newest
 * report of a row, by `reported_at`, replaces earlier reports.
 */
export type RowReport = Static<typeof RowReport>
export const RowReport = Closed({
  row: CurtailmentRow,
  reported_at: Instant,
  /** When the edge stored the row on disk. */
  acknowledged_at: Instant,
  /** When read-back proved the limits of all devices together within the limit. */
  applied_at: InstantOrNull,
  /** When measured power was first within the limit after that. */
  verified_at: InstantOrNull,
  restore_started_at: InstantOrNull,
  restored_at: InstantOrNull,
  last_checked_at: InstantOrNull,
  /** Sum of the limits that the devices hold, which may be below the limit of the row. */
  observed_limit_kw: Nullable(Power),
  observed_power_kw: Nullable(Type.Number()),
  /** Checks of measured power since `applied_at`, and those within the limit. */
  samples: Type.Integer({ minimum: 0 }),
  compliant_samples: Type.Integer({ minimum: 0 }),
  violation_s: Type.Number({ minimum: 0 }),
  retry_count: Type.Integer({ minimum: 0 }),
  failure_code: Nullable(Type.Enum([...failureCodes])),
  failure_message: Nullable(Type.String({ maxLength: 500 })),
})

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

/** Merges two versions of a row; a release is never revoked. */
export function mergeRow(known: CurtailmentRow, received: CurtailmentRow): CurtailmentRow {
  if (known.released_at === null) return { ...known, released_at: received.released_at }
  if (received.released_at === null) return known
  return { ...known, released_at: Math.min(known.released_at, received.released_at) }
}

export const isInForce = ({ start_at, end_at, released_at }: CurtailmentRow, now_ms: number) =>
  released_at === null && now_ms >= start_at && now_ms < end_at
