/** Delivery days of a market that are due for a fetch, pure. */
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { localDate } from '@heliograph/domain/local-day'
import { addDays } from '@heliograph/domain/utc-day'
import type { Market } from './price-store.ts'
import { publicationTime } from './statistics.ts'

export interface FetchedDay {
  fetched_at: Date
  is_complete: boolean
}

/** Retry intervals of an incomplete day: while traded and delivered, up to 14 days after, later. */
const retry_ms = { current: 9 * minute_ms, recent: day_ms, old: 30 * day_ms }
const recent_days = 14
/** A complete day is fetched once more for corrections, this long after its end. */
const correction_ms = 6 * hour_ms

/**
 * Days YYYY-MM-DD to fetch, newest first: published days that are incomplete, and each complete day
 * once more after its delivery, for corrections.
 */
export function dueDays(
  market: Pick<Market, 'timezone' | 'publication_local'>,
  { from, fetched, now }: { from: string; fetched: ReadonlyMap<string, FetchedDay>; now: Date },
): string[] {
  const due: string[] = []
  const tomorrow = addDays(localDate(now.getTime(), market.timezone), 1)
  for (let date = tomorrow; date >= from; date = addDays(date, -1)) {
    if (isDue(market, date, fetched.get(date), now.getTime())) due.push(date)
  }
  return due
}

function isDue(
  market: Pick<Market, 'timezone' | 'publication_local'>,
  date: string,
  fetched: FetchedDay | undefined,
  now_ms: number,
): boolean {
  // The UTC day is close enough to the delivery day, and cheap enough for years of days.
  const start_ms = Date.parse(`${date}T00:00:00Z`)
  const end_ms = start_ms + day_ms
  if (!fetched) return now_ms >= start_ms || now_ms >= publicationTime(market, date)
  const fetched_ms = fetched.fetched_at.getTime()
  if (fetched.is_complete) {
    return fetched_ms < end_ms + correction_ms && now_ms >= end_ms + correction_ms
  }
  const past_ms = now_ms - end_ms
  const wait_ms =
    past_ms < day_ms
      ? retry_ms.current
      : past_ms < recent_days * day_ms
        ? retry_ms.recent
        : retry_ms.old
  return now_ms - fetched_ms >= wait_ms
}

/**
 * Delay before the next attempt after consecutive failures. It doubles up to an hour, so that a day
 * that keeps failing delays tomorrow's prices by an hour at most.
 */
export function backOff(failure_count: number): number {
  return Math.min(hour_ms, 10 * minute_ms * 2 ** (failure_count - 1))
}
