/** The part of a period that a chart shows, from the address. */
import { useMemo } from 'react'
import type { Span } from '../../../ui/site-clock.ts'
import { useFilters } from '../../../ui/use-filters.ts'

/** A shorter part would have too few readings. */
const shortest_ms = 600_000

export interface Zoom {
  span: Span
  set(next: Span): void
  /** Steps for the keyboard; null when a step changes nothing. */
  buttons: readonly { name: string; next: Span | null }[]
}

export function useZoom(days: Span): Zoom {
  const filters = useFilters()
  const asked = filters.get('zoom')
  const span = useMemo(() => zoomOf(asked, days), [asked, days])
  return {
    span,
    set: (next) => {
      const part = within(next, days)
      filters.set({ zoom: part === days ? null : `${part.start_ms}-${part.end_ms}` })
    },
    buttons: buttonsOf(span, days),
  }
}

/** The whole period unless the text names a part of it. */
export function zoomOf(text: string | null, days: Span): Span {
  const [, start = '', end = ''] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  const part = { start_ms: Number(start), end_ms: Number(end) }
  const is_part =
    end !== '' &&
    part.start_ms >= days.start_ms &&
    part.end_ms <= days.end_ms &&
    part.end_ms - part.start_ms >= shortest_ms
  return is_part ? part : days
}

/** Moved into the period, on whole minutes, and not shorter than the shortest part. */
export function within({ start_ms, end_ms }: Span, days: Span): Span {
  const whole_ms = days.end_ms - days.start_ms
  const wanted_ms = Math.max(shortest_ms, Math.round((end_ms - start_ms) / 60_000) * 60_000)
  if (wanted_ms >= whole_ms) return days
  const minute_ms = Math.round(start_ms / 60_000) * 60_000
  const first_ms = Math.min(Math.max(minute_ms, days.start_ms), days.end_ms - wanted_ms)
  return { start_ms: first_ms, end_ms: first_ms + wanted_ms }
}

export function buttonsOf(span: Span, days: Span): Zoom['buttons'] {
  const length_ms = span.end_ms - span.start_ms
  const part = (start_ms: number, end_ms: number) => {
    const next = within({ start_ms, end_ms }, days)
    return next.start_ms === span.start_ms && next.end_ms === span.end_ms ? null : next
  }
  const quarter_ms = length_ms / 4
  const half_ms = length_ms / 2
  return [
    { name: 'Zoom in', next: part(span.start_ms + quarter_ms, span.end_ms - quarter_ms) },
    { name: 'Zoom out', next: part(span.start_ms - half_ms, span.end_ms + half_ms) },
    { name: 'Left', next: part(span.start_ms - half_ms, span.end_ms - half_ms) },
    { name: 'Right', next: part(span.start_ms + half_ms, span.end_ms + half_ms) },
    { name: 'All', next: part(days.start_ms, days.end_ms) },
  ]
}
