/** Hours of the local clock of a site as instants. */
/// <reference lib="esnext.temporal" />

interface LocalHours {
  /** Local date, YYYY-MM-DD. */
  date: string
  /** 0 to 23. */
  start_hour: number
  /** 1 to 24, after `start_hour`. */
  end_hour: number
}

/**
 * The instants (Unix ms, half-open) at which the local clock shows `date` and an hour from
 * `start_hour` to before `end_hour`. A skipped hour is left out, a repeated hour counts twice. Null
 * where the clock skips all of them.
 *
 * @throws RangeError for an unknown time zone
 */
export function hoursOnTheClock(
  { date, start_hour, end_hour }: LocalHours,
  timezone: string,
): { start_ms: number; end_ms: number } | null {
  const midnight = Temporal.PlainDate.from(date).toPlainDateTime()
  const start_ms = firstInstant(midnight.add({ hours: start_hour }), timezone)
  const end_ms = firstInstant(midnight.add({ hours: end_hour }), timezone)
  return start_ms < end_ms ? { start_ms, end_ms } : null
}

/** First instant at which the local clock shows a time; where it skips that time, a later one. */
function firstInstant(local: Temporal.PlainDateTime, timezone: string): number {
  const shown = local.toZonedDateTime(timezone)
  if (shown.toPlainDateTime().equals(local)) return shown.epochMilliseconds
  const before = local.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  return before.getTimeZoneTransition('next')!.epochMilliseconds
}
