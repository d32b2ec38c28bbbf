/** Gate closure of day-ahead markets: offers for a delivery, and forecasts for them, end there. */
/// <reference lib="esnext.temporal" />
import { localDate, localInstant } from '@heliograph/domain/local-day'
import { addDays } from '@heliograph/domain/utc-day'
import type { Step } from '@heliograph/forecast/plant'

export interface Gate {
  /** IANA name of the time zone of the market's days. */
  timezone: string
  /** `12:00`, on the day before delivery. */
  gate_closure_local: string
}

/** Coupled European day-ahead auction; the default without an assigned market. */
export const usualGate: Gate = { timezone: 'Europe/Brussels', gate_closure_local: '12:00' }

/** Gate closure, Unix ms, for a delivery day, `YYYY-MM-DD`. */
export const gateClosureOn = (delivery_date: string, gate: Gate): number =>
  localInstant(addDays(delivery_date, -1), gate.gate_closure_local, gate.timezone)

/** Gate closure, Unix ms, for a delivery at an instant, Unix ms. */
export const gateClosureOf = (delivery_ms: number, gate: Gate): number =>
  gateClosureOn(localDate(delivery_ms, gate.timezone), gate)

export interface GateSpan extends Step {
  gate_ms: number
}

/** Consecutive parts of [start_ms, end_ms), split at the day boundaries of the market. */
export function gateSpans(start_ms: number, end_ms: number, gate: Gate): GateSpan[] {
  const spans: GateSpan[] = []
  for (let at = start_ms; at < end_ms; ) {
    const day_end_ms = nextDayStart(at, gate.timezone)
    const next = Math.min(end_ms, day_end_ms)
    spans.push({ gate_ms: gateClosureOf(at, gate), start_ms: at, end_ms: next })
    at = next
  }
  return spans
}

const nextDayStart = (at_ms: number, timezone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(at_ms)
    .toZonedDateTimeISO(timezone)
    .add({ days: 1 })
    .startOfDay().epochMilliseconds
