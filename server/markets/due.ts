/** Which delivery days of a market have to be fetched now, pure. */
import { localDate } from '@heliograph/domain/local-day'
import { addDays, day_ms } from '@heliograph/domain/utc-day'
import type { Market } from './price-store.ts'
import { publicationTime } from './statistics.ts'

/** What the last fetch of a delivery day found. */
export interface FetchedDay {
  fetched_at: Date
  is_complete: boolean
}

const minute_ms = 60_000
const hour_ms = 60 * minute_ms
/** Of a day that is not whole: short while it is traded and delivered, then longer and longer. */
const again_ms = { at_first: 9 * minute_ms, of_late: day_ms, of_old: 30 * day_ms }
const late_days = 14
/** Corrections of a day are looked for once, so long after its end. */
const correction_ms = 6 * hour_ms

/**
 * The days YYYY-MM-DD to ask for, the newest first: those that should have been published and are
 * not wholly known, and each once more after its delivery, for corrections.
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
  // Near enough to the delivery day; years of days are looked at in one go.
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
      ? again_ms.at_first
      : past_ms < late_days * day_ms
        ? again_ms.of_late
        : again_ms.of_old
  return now_ms - fetched_ms >= wait_ms
}

/**
 * Until the next attempt after so many failures in a row: doubles, at most an hour, so that a day
 * that stays broken does not keep tomorrow's prices away for long.
 */
export function backOff(failure_count: number): number {
  return Math.min(hour_ms, 10 * minute_ms * 2 ** (failure_count - 1))
}
