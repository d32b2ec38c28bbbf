/**
 * Battery dispatch on the edge link. The server sends the hours of approved schedules to the edge.
 * The edge executes them within all present limits, also without the server, and reports the
 * results.
 *
 * An hour changes only by an early end, which is final. The state of each end is the union of all
 * messages received, in any order and any number of times. Where hours of two schedules overlap,
 * the newer schedule applies.
 */
import { type Static, Type } from 'typebox'
import { Closed, Instant, InstantOrNull, Nullable, Percent } from './schema.ts'

const Id = Type.Integer({ minimum: 1 })
const Power = Type.Number({ minimum: -1e9, maximum: 1e9 })
const SomePower = Nullable(Power)

export const dispatch_hours_max = 20_000

/** Planned power of one unit in `[start_at, end_at)`, kW; positive discharges. */
export type DispatchHour = Static<typeof DispatchHour>
export const DispatchHour = Closed({
  schedule_id: Id,
  bess_id: Id,
  start_at: Instant,
  end_at: Instant,
  power_kw: Power,
  /** Power by quarter hour, for markets with quarter-hourly prices. */
  quarter_power_kw: Nullable(Type.Array(Power, { minItems: 4, maxItems: 4 })),
  ended_at: InstantOrNull,
})

export const clampReasons = [
  'soc_min',
  'soc_max',
  'power_limit',
  'temperature',
  'permit',
  'alarm',
  'ramp',
] as const

export const dispatchStates = [
  'sent',
  'acknowledged',
  'achieved',
  'clamped',
  'failed',
  'expired',
] as const

/**
 * A setpoint with its result. The payload of a frame of kind `dispatch` is `DispatchReport[]`. The
 * newest report of (`bess_id`, `issued_at`), by `reported_at`, replaces earlier reports.
 */
export type DispatchReport = Static<typeof DispatchReport>
export const DispatchReport = Closed({
  bess_id: Id,
  issued_at: Instant,
  reported_at: Instant,
  schedule_id: Nullable(Id),
  /** Start of the scheduled hour or quarter hour. */
  interval_start_at: InstantOrNull,
  source: Type.Enum(['schedule', 'operator']),
  requested_power_kw: Power,
  /** Null where the grid permit clamps, of an edge up to 0.1.0. */
  clamped_power_kw: SomePower,
  clamp_reason: Nullable(Type.Enum([...clampReasons])),
  sent_at: InstantOrNull,
  acknowledged_at: InstantOrNull,
  achieved_power_kw: SomePower,
  achieved_at: InstantOrNull,
  soc_pct: Nullable(Percent),
  status: Type.Enum([...dispatchStates]),
  failure_code: Nullable(Type.String({ pattern: '^[a-z0-9_]{1,60}$' })),
})

/** Deciding tiers of a unit, highest first. */
export const controlTiers = ['protection', 'permit', 'operator', 'dispatch'] as const
export type ControlTier = (typeof controlTiers)[number]

/**
 * A change of the deciding tier or of its decision. The payload of a frame of kind `control_notes`
 * is `ControlNote[]`. (`bess_id`, `at`, `nth`) identifies a note, which may be sent repeatedly.
 */
export type ControlNote = Static<typeof ControlNote>
export const ControlNote = Closed({
  bess_id: Id,
  at: Instant,
  /** Number of the note within its instant. */
  nth: Type.Integer({ minimum: 0 }),
  tier: Type.Enum([...controlTiers]),
  actor: Type.String({ maxLength: 120 }),
  action: Type.Enum([
    'setpoint',
    'hold',
    'stop',
    'start',
    'clamp',
    'release',
    'handover',
    'watchdog',
  ]),
  from_power_kw: SomePower,
  to_power_kw: SomePower,
  reason_code: Type.String({ pattern: '^[a-z0-9_]{1,60}$' }),
  message: Type.String({ maxLength: 500 }),
  overrode_tier: Nullable(Type.Enum([...controlTiers])),
  schedule_id: Nullable(Id),
  alarm_code: Nullable(Type.String({ maxLength: 80 })),
  soc_pct: Nullable(Percent),
  success: Type.Boolean(),
})

export const hourKey = (hour: Pick<DispatchHour, 'schedule_id' | 'bess_id' | 'start_at'>) =>
  `${hour.schedule_id}/${hour.bess_id}/${hour.start_at}`

/** Merges two versions of an hour; an early end is never revoked. */
export function mergeHour(known: DispatchHour, heard: DispatchHour): DispatchHour {
  if (known.ended_at === null) return { ...known, ended_at: heard.ended_at }
  if (heard.ended_at === null) return known
  return { ...known, ended_at: Math.min(known.ended_at, heard.ended_at) }
}

/** Planned power at an instant within an hour, kW. */
export function powerAt({ start_at, end_at, ...hour }: DispatchHour, now_ms: number): number {
  if (hour.quarter_power_kw === null) return hour.power_kw
  const nth = Math.floor((4 * (now_ms - start_at)) / (end_at - start_at))
  return hour.quarter_power_kw[Math.min(3, Math.max(0, nth))]!
}
