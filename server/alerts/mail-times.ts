/** Quiet hours and digests in the local time of the site. Pure. */
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { localDate, localInstant, shownAt } from '@heliograph/domain/local-day'
import type { MailRecipient } from './mail-settings.ts'

/** Whether local time is within the quiet hours `[from, to)`, also when the clocks change. */
export function isQuiet(
  quiet_hours: MailRecipient['quiet_hours'],
  now: Date,
  timezone: string,
): boolean {
  if (quiet_hours === null) return false
  const { from, to } = quiet_hours
  const time = new Date(shownAt(now.getTime(), timezone)).toISOString().slice(11, 16)
  return from < to ? from <= time && time < to : from <= time || time < to
}

/** The latest due time of a digest at or before `now`; null for a recipient without digest. */
export function lastDigest(
  { digest, digest_at }: Pick<MailRecipient, 'digest' | 'digest_at'>,
  now: Date,
  timezone: string,
): Date | null {
  const now_ms = now.getTime()
  if (digest === 'immediate') return null
  if (digest === 'hourly') {
    const past_hour_ms = shownAt(now_ms, timezone) % hour_ms
    return new Date(Math.floor(now_ms / minute_ms) * minute_ms - past_hour_ms)
  }
  const today = localInstant(localDate(now_ms, timezone), digest_at, timezone)
  if (today <= now_ms) return new Date(today)
  // 24 hours before noon is yesterday, also on days of 23 or 25 hours.
  const noon_ms = localInstant(localDate(now_ms, timezone), '12:00', timezone)
  return new Date(localInstant(localDate(noon_ms - day_ms, timezone), digest_at, timezone))
}
