/** What a person asks for, as the fields of the form have it. */
import { instantOf } from '../../../ui/site-clock.ts'
import type { Span } from './limits.ts'

export interface Wish {
  /** 'site', or the id of a plant. */
  where: string
  limit_mode: 'percent' | 'kw'
  limit_value: number | string
  begins: 'now' | 'later'
  /** At the clocks of the site. */
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
  { value: 'open', label: `Until it is released (${open_days} days at most)` },
]

export const emptyWish = (now_clock: string): Wish => ({
  where: 'site',
  limit_mode: 'percent',
  limit_value: '',
  begins: 'now',
  start: now_clock,
  duration: '60',
  end: '',
})

/** From when until when; null: it is not said yet, or makes no sense. */
export function spanOf(wish: Wish, timezone: string, now_ms: number): Span | null {
  const start_ms = wish.begins === 'now' ? now_ms : instantOf(wish.start, timezone)
  if (start_ms === null) return null
  const end_ms = endOf(wish, timezone, start_ms)
  return end_ms === null || end_ms <= start_ms || end_ms <= now_ms ? null : { start_ms, end_ms }
}

function endOf({ duration, end }: Wish, timezone: string, start_ms: number): number | null {
  if (duration === 'open') return start_ms + open_days * 86_400_000
  if (duration === 'until') return instantOf(end, timezone)
  return start_ms + Number(duration) * 60_000
}

/** What is wrong, by field. */
export function faultsOf(wish: Wish, timezone: string, now_ms: number) {
  const faults: Partial<Record<keyof Wish, string>> = {}
  const value = wish.limit_value
  if (typeof value !== 'number') faults.limit_value = 'How much may be delivered?'
  else if (value < 0) faults.limit_value = 'Less than nothing cannot be delivered.'
  else if (wish.limit_mode === 'percent' && value >= 100) {
    faults.limit_value = '100 % limits nothing: give less.'
  }
  const start_ms = wish.begins === 'now' ? now_ms : instantOf(wish.start, timezone)
  if (start_ms === null) faults.start = 'Not a time that the clocks at the site show.'
  if (wish.duration === 'open' && wish.begins === 'later') {
    faults.duration = 'A limit that begins later needs an end.'
  }
  const end_ms = start_ms === null ? null : endOf(wish, timezone, start_ms)
  if (wish.duration === 'until') {
    if (end_ms === null) faults.end = 'Not a time that the clocks at the site show.'
    else if (start_ms !== null && end_ms <= start_ms) faults.end = 'It ends before it begins.'
    else if (end_ms <= now_ms) faults.end = 'That is past.'
  } else if (end_ms !== null && end_ms <= now_ms && !faults.duration) {
    faults.start = 'It would be over by now.'
  }
  return faults
}
