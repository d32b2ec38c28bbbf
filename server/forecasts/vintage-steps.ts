/** Forecast vintages: for each step the last forecast issued by a given instant. */
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import type { Span } from './course.ts'
import { type Gate, type GateSpan, gateSpans } from './gate-closure.ts'
import { type Vintage, vintages } from './run-store.ts'
import type { Target } from './targets.ts'

/** A step and its forecast; fields of the forecast are null without one. */
export interface VintageStep {
  start_ms: number
  end_ms: number
  /** Latest issue time of the forecast. */
  known_ms: number
  issued_ms: number | null
  is_hindcast: boolean
  p10_kw: number | null
  p50_kw: number | null
  p90_kw: number | null
}

export type LeadTime = 'intraday' | 'day_ahead'

/** Parts of whole UTC days, each with the latest issue time of its forecast. */
export function leadSpans(lead_time: LeadTime, { from_ms, to_ms }: Span, gate: Gate): GateSpan[] {
  const spans: GateSpan[] = []
  const part_ms = lead_time === 'day_ahead' ? day_ms : hour_ms
  for (let at = utcDayStart(from_ms); at < to_ms; at += part_ms) {
    if (lead_time === 'day_ahead') spans.push(...gateSpans(at, at + day_ms, gate))
    else spans.push({ gate_ms: at - hour_ms, start_ms: at, end_ms: at + hour_ms })
  }
  return spans
}

/**
 * Steps of spans that each lie in one UTC day, ascending. The step length is that of the forecast,
 * else of the other forecasts, else an hour.
 */
export async function readVintageSteps(
  db: Queries,
  of: { site_id: string; target: Target },
  { lead_time, spans }: { lead_time: LeadTime; spans: readonly GateSpan[] },
): Promise<VintageStep[]> {
  const found = await vintages(
    db,
    of,
    spans.map(({ start_ms, gate_ms }) => ({
      target_date: utcDate(start_ms),
      before: new Date(gate_ms),
    })),
    // Hindcasts are made as of the gate closure, so they are day-ahead only.
    { with_hindcasts: lead_time === 'day_ahead' },
  )
  const [any] = found.values()
  const usual_ms = (any?.resolution_minutes ?? 60) * minute_ms
  return spans.flatMap((span, nth) => stepsOf(span, found.get(nth) ?? null, usual_ms))
}

function stepsOf(span: GateSpan, run: Vintage | null, usual_ms: number): VintageStep[] {
  const step_ms = run === null ? usual_ms : run.resolution_minutes * minute_ms
  const day = utcDayStart(span.start_ms)
  const steps: VintageStep[] = []
  for (let at = Math.ceil((span.start_ms - day) / step_ms); ; at += 1) {
    const start_ms = day + at * step_ms
    if (start_ms >= span.end_ms) return steps
    steps.push({
      start_ms,
      end_ms: start_ms + step_ms,
      known_ms: span.gate_ms,
      issued_ms: run?.issued_at.getTime() ?? null,
      is_hindcast: run?.is_hindcast ?? false,
      p10_kw: run?.p10_kw[at] ?? null,
      p50_kw: run?.p50_kw[at] ?? null,
      p90_kw: run?.p90_kw[at] ?? null,
    })
  }
}
