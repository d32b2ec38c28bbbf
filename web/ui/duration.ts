import { isKnown, none } from './format.ts'

/** Two largest units, such as `2 h 05 min` or `3 days 4 h`. */
export function formatDuration(duration_s: number | null | undefined): string {
  if (!isKnown(duration_s)) return none
  const s = Math.max(0, Math.round(duration_s))
  if (s < 60) return `${s} s`
  const min = Math.floor(s / 60)
  if (min < 60) return `${min} min`
  const h = Math.floor(min / 60)
  if (h < 48) return `${h} h ${String(min % 60).padStart(2, '0')} min`
  return `${Math.floor(h / 24)} days ${h % 24} h`
}
