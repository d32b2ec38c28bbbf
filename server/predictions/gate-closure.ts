/** When the market takes no more offers for a delivery: what was forecast later earned nothing. */
import { dayStart, localDate } from '@heliograph/domain/local-day'

export interface Gate {
  /** IANA name: the days of the market are those of this zone. */
  timezone: string
  /** `12:00`, on the day before delivery. */
  gate_closure_local: string
}

/** Of the coupled European day-ahead auction; also where no market is assigned. */
export const usualGate: Gate = { timezone: 'Europe/Brussels', gate_closure_local: '12:00' }

const day_ms = 86_400_000

/** The gate closure, Unix ms, for what is delivered at an instant, Unix ms. */
export function gateClosureOf(delivery_ms: number, gate: Gate): number {
  const delivery_date = localDate(delivery_ms, gate.timezone)
  const day_before = new Date(Date.parse(delivery_date) - day_ms).toISOString().slice(0, 10)
  return instantOf(day_before, gate)
}

/** Where the clocks are put forward over the gate it closes an hour later, by the new time. */
function instantOf(date: string, { timezone, gate_closure_local }: Gate): number {
  const wanted_ms = Date.parse(`${date}T${gate_closure_local.slice(0, 5)}:00Z`)
  let instant_ms = wanted_ms
  for (let correction = 0; correction < 2; correction += 1) {
    instant_ms += wanted_ms - shownAt(instant_ms, timezone)
  }
  return instant_ms
}

/** Making one takes many times as long as using it. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** What the clock of a zone shows at an instant, as if it were UTC. */
function shownAt(instant_ms: number, timezone: string): number {
  let clock = clocks.get(timezone)
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
    })
    clocks.set(timezone, clock)
  }
  const time = clock.format(instant_ms)
  return Date.parse(`${localDate(instant_ms, timezone)}T${time}:00Z`)
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
