/** Causes that kept a unit from its plan, from the reports of its edge. */

import type { ControlNote, clampReasons, DispatchReport } from '@heliograph/domain/dispatch'
import { day_ms } from '@heliograph/domain/durations'
import type { Queries } from '../storage/database.ts'
import type { Condition } from './conditions.ts'
import type { Span, Unit } from './unit-energy.ts'

/** Causes by precedence among causes of equal duration. */
export const causes = [
  'pcs_fault',
  'alarm',
  'comm_loss',
  'permit',
  'operator',
  'grid_limit',
  'soc_limit',
  'temperature_derating',
  'power_limit',
] as const
type Cause = (typeof causes)[number]

export interface CauseSpan extends Span {
  cause: Cause
  /** The cause limited the setpoint; otherwise it only existed at the same time. */
  is_direct: boolean
}

/** A ramp limits a setpoint for seconds only, which is no cause. */
const held_ms_min = 60_000
/** Conditions that began earlier are not read. */
const looked_back_ms = 30 * day_ms

/** Durations within this ratio of the longest count as equal: logs differ by moments. */
const as_long_ratio = 0.9

/** The longest cause that limited the setpoint, else the longest other cause; null without any. */
export function causeIn(spans: readonly CauseSpan[], { start_ms, end_ms }: Span): Cause | null {
  const longest = (of: readonly CauseSpan[]) => {
    const held = new Map<Cause, number>()
    for (const span of of) {
      const ms = Math.min(span.end_ms, end_ms) - Math.max(span.start_ms, start_ms)
      if (ms > 0) held.set(span.cause, (held.get(span.cause) ?? 0) + ms)
    }
    const least_ms = Math.max(held_ms_min, as_long_ratio * Math.max(0, ...held.values()))
    return causes.find((cause) => (held.get(cause) ?? 0) >= least_ms) ?? null
  }
  return (
    longest(spans.filter(({ is_direct }) => is_direct)) ??
    longest(spans.filter(({ is_direct }) => !is_direct))
  )
}

type Reported<Of, Names extends keyof Of> = Pick<Of, Names> & { at: Date }
type ReportedSetpoint = Reported<
  DispatchReport,
  'source' | 'status' | 'clamp_reason' | 'failure_code'
>
type ReportedNote = Reported<ControlNote, 'tier' | 'reason_code' | 'alarm_code'>
type ReportedCondition = Omit<Condition, 'message'>

/** Reports of an edge on a unit, each list ascending. */
export interface EdgeReports {
  setpoints: readonly ReportedSetpoint[]
  notes: readonly ReportedNote[]
  conditions: readonly ReportedCondition[]
}

export async function readEdgeReports(
  db: Queries,
  { site_id, bess_id }: Pick<Unit, 'site_id' | 'bess_id'>,
  { start_ms, end_ms }: Span,
): Promise<EdgeReports> {
  // The last report before the span still applies at its start.
  const values = [site_id, bess_id, new Date(start_ms - day_ms), new Date(end_ms)]
  const [setpoints, notes, conditions] = await Promise.all([
    db.query<ReportedSetpoint>(
      `select issued_at as at, source, status, clamp_reason, failure_code
       from battery_dispatches
       where site_id = $1 and bess_id = $2 and issued_at >= $3 and issued_at < $4
       order by issued_at`,
      values,
    ),
    db.query<ReportedNote>(
      `select at, tier, reason_code, alarm_code from battery_control_notes
       where site_id = $1 and bess_id = $2 and at >= $3 and at < $4 order by at, nth`,
      values,
    ),
    db.query<ReportedCondition>(
      `select e.at, e.source_kind, e.source_id, e.code, e.edge, e.severity
       from (
         select 'bess' as kind, $2::text as id
         union all
         select 'pcs', bess_id || '.' || (one ->> 'pcs_idx')
         from batteries, jsonb_array_elements(pcs) as one
         where site_id = $1 and bess_id = $2::int
       ) as sources
       join events e on e.site_id = $1 and e.source_kind = kind and e.source_id = id
       where e.edge <> 'once' and e.at >= $3 and e.at < $4
       order by e.at, e.event_id`,
      [site_id, String(bess_id), new Date(start_ms - looked_back_ms), new Date(end_ms)],
    ),
  ])
  return { setpoints, notes, conditions }
}

export function causeSpans(
  { setpoints, notes, conditions }: EdgeReports,
  end_ms: number,
): CauseSpan[] {
  return [
    ...untilNext(setpoints, causeOfSetpoint, end_ms),
    ...untilNext(notes, causeOfNote, end_ms),
    ...conditionSpans(conditions, end_ms),
  ]
}

function untilNext<Of extends { at: Date }>(
  reports: readonly Of[],
  causeOf: (one: Of) => Cause | null,
  end_ms: number,
): CauseSpan[] {
  return reports.flatMap((one, nth) => {
    const cause = causeOf(one)
    if (cause === null) return []
    const until_ms = reports[nth + 1]?.at.getTime() ?? end_ms
    return [{ start_ms: one.at.getTime(), end_ms: until_ms, cause, is_direct: true }]
  })
}

const causeOfClamp: Record<(typeof clampReasons)[number], Cause> = {
  soc_min: 'soc_limit',
  soc_max: 'soc_limit',
  power_limit: 'power_limit',
  ramp: 'power_limit',
  temperature: 'temperature_derating',
  permit: 'permit',
  alarm: 'alarm',
}

function causeOfSetpoint(setpoint: ReportedSetpoint): Cause | null {
  const { source, status, clamp_reason, failure_code } = setpoint
  if (clamp_reason !== null) return source === 'operator' ? 'operator' : causeOfClamp[clamp_reason]
  if (status === 'failed' || status === 'expired') return causeOfCode(failure_code ?? '')
  if (source === 'operator') return 'operator'
  return null
}

function causeOfNote({ tier, reason_code, alarm_code }: ReportedNote): Cause | null {
  if (tier === 'permit') return 'permit'
  if (tier === 'operator') return causeOfCode(reason_code) ?? 'operator'
  if (tier !== 'protection') return null
  return causeOfCode(reason_code) ?? (alarm_code === null ? null : 'alarm')
}

/** Causes by words of a reason or failure code; the first match applies. */
const words: readonly [pattern: RegExp, cause: Cause][] = [
  [/^pcs_(alarm|fault|not_ready)|rejected|mismatch|driver/, 'pcs_fault'],
  [/^state_|contactor|alarm|fire|insulation/, 'alarm'],
  [/comm|stale|heartbeat|timeout|offline|silent|unread|disconnect/, 'comm_loss'],
  [/permit/, 'permit'],
  [/operator|manual|local/, 'operator'],
  [/temperature|hot|cold|derat/, 'temperature_derating'],
  [/soc|full|empty|reserve/, 'soc_limit'],
  [/grid|frequency|curtail/, 'grid_limit'],
  [/limit|ramp|power/, 'power_limit'],
]

const causeOfCode = (code: string): Cause | null =>
  words.find(([pattern]) => pattern.test(code))?.[1] ?? null

function conditionSpans(conditions: readonly ReportedCondition[], end_ms: number): CauseSpan[] {
  const open = new Map<string, CauseSpan>()
  const spans: CauseSpan[] = []
  for (const condition of conditions) {
    const cause = causeOfCondition(condition)
    if (cause === null) continue
    const key = `${condition.source_kind}/${condition.source_id}/${condition.code}`
    const known = open.get(key)
    if (condition.edge === 'falling') {
      if (known) known.end_ms = condition.at.getTime()
      open.delete(key)
    } else if (!known) {
      const span = { start_ms: condition.at.getTime(), end_ms, cause, is_direct: false }
      open.set(key, span)
      spans.push(span)
    }
  }
  return spans
}

function causeOfCondition({ source_kind, code, severity }: ReportedCondition): Cause | null {
  if (code === 'device_offline' || code.startsWith('heartbeat')) return 'comm_loss'
  if (severity !== 'major' && severity !== 'critical') return null
  return source_kind === 'pcs' ? 'pcs_fault' : 'alarm'
}
