/** When the market takes no more offers for a delivery: what was forecast later earned nothing. */
import { dayStart, localDate, localInstant } from '@heliograph/domain/local-day'
import { addDays, day_ms } from '@heliograph/domain/utc-day'

export interface Gate {
  /** IANA name: the days of the market are those of this zone. */
  timezone: string
  /** `12:00`, on the day before delivery. */
  gate_closure_local: string
}

/** Of the coupled European day-ahead auction; also where no market is assigned. */
export const usualGate: Gate = { timezone: 'Europe/Brussels', gate_closure_local: '12:00' }

/** The gate closure, Unix ms, for what is delivered at an instant, Unix ms. */
export function gateClosureOf(delivery_ms: number, gate: Gate): number {
  const day_before = addDays(localDate(delivery_ms, gate.timezone), -1)
  return localInstant(day_before, gate.gate_closure_local, gate.timezone)
}

/** Deliveries of a span that share a gate closure: the part of a market day that lies in it. */
export interface GateSpan {
  gate_ms: number
  start_ms: number
  end_ms: number
}

/** Consecutive parts of [start_ms, end_ms), cut where a day of the market ends. */
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

/** A day has 23 to 25 hours. */
function nextDayStart(at_ms: number, timezone: string): number {
  const startAfter = (ms: number) => dayStart(new Date(at_ms + ms), timezone).getTime()
  const within_24_h = startAfter(day_ms)
  return within_24_h > at_ms ? within_24_h : startAfter(day_ms + 3_600_000)
}
