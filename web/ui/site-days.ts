/** UTC days that a span touches. Answers by UTC day are then cut to the span. */
import type { Span } from './site-day.ts'

export function utcDays({ start_ms, end_ms }: Span): string[] {
  const day_ms = 86_400_000
  const first = Math.floor(start_ms / day_ms)
  const last = Math.ceil(end_ms / day_ms)
  return Array.from({ length: last - first }, (_, nth) =>
    new Date((first + nth) * day_ms).toISOString().slice(0, 10),
  )
}

export const isWithin = ({ start_ms, end_ms }: Span, at: string): boolean =>
  Date.parse(at) >= start_ms && Date.parse(at) < end_ms
