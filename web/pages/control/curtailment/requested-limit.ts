import { instantOf, type Span } from '../../../ui/site-clock.ts'

export interface RequestedLimit {
  /** 'site', or the id of a plant. */
  where: string
  limit_mode: 'percent' | 'kw'
  limit_value: number | string
  begins: 'now' | 'later'
  /** Local time of the site. */
  start: string
  /** Minutes, 'until' or 'open'. */
  duration: string
  end: string
}

const open_days = 7

export const durations = [
  ...[15, 30, 45].map((min) => ({ value: String(min), label: `${min} minutes` })),
  { value: '60', label: '1 hour' },
  ...[2, 3, 4, 6, 8, 12, 24].map((h) => ({ value: String(h * 60), label: `${h} hours` })),
  { value: 'until', label: 'Until a time' },
  { value: 'open', label: `Until released (at most ${open_days} days)` },
]

export const newLimit = (now_clock: string): RequestedLimit => ({
  where: 'site',
  limit_mode: 'percent',
  limit_value: '',
  begins: 'now',
  start: now_clock,
  duration: '60',
  end: '',
})

/** Start and end; null when missing or invalid. */
export function spanOf(requested: RequestedLimit, timezone: string, now_ms: number): Span | null {
  const start_ms = requested.begins === 'now' ? now_ms : instantOf(requested.start, timezone)
  if (start_ms === null) return null
  const end_ms = endOf(requested, timezone, start_ms)
  return end_ms === null || end_ms <= start_ms || end_ms <= now_ms ? null : { start_ms, end_ms }
}

function endOf(
  { duration, end }: RequestedLimit,
  timezone: string,
  start_ms: number,
): number | null {
  if (duration === 'open') return start_ms + open_days * 86_400_000
  if (duration === 'until') return instantOf(end, timezone)
  return start_ms + Number(duration) * 60_000
}

export function faultsOf(requested: RequestedLimit, timezone: string, now_ms: number) {
  const faults: Partial<Record<keyof RequestedLimit, string>> = {}
  const value = requested.limit_value
  if (typeof value !== 'number') faults.limit_value = 'Enter a limit.'
  else if (value < 0) faults.limit_value = 'Enter 0 or more.'
  else if (requested.limit_mode === 'percent' && value >= 100) {
    faults.limit_value = '100 % has no effect: enter less.'
  }
  const start_ms = requested.begins === 'now' ? now_ms : instantOf(requested.start, timezone)
  if (start_ms === null) faults.start = 'This local time does not exist.'
  if (requested.duration === 'open' && requested.begins === 'later') {
    faults.duration = 'A limit that starts later needs an end.'
  }
  const end_ms = start_ms === null ? null : endOf(requested, timezone, start_ms)
  if (requested.duration === 'until') {
    if (end_ms === null) faults.end = 'This local time does not exist.'
    else if (start_ms !== null && end_ms <= start_ms)
      faults.end = 'The end must be after the start.'
    else if (end_ms <= now_ms) faults.end = 'The end is in the past.'
  } else if (end_ms !== null && end_ms <= now_ms && !faults.duration) {
    faults.start = 'The limit would have ended already.'
  }
  return faults
}
