/**
 * Days of batteries that were summed up and are to be summed anew, since readings of them came
 * late. Whoever stores readings marks the days in the same transaction, the last thing of all; who
 * sums a day up excludes marks until its sum is committed. So a mark is either made after the sum,
 * and dealt with again, or its readings were there to be summed.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { Transaction } from '../storage/database.ts'

/** `summed_at` of a day that must be summed again, as SQL. */
export const marked_day = `timestamptz '-infinity'`

interface BatteryHour {
  bess_id: number
  /** Counted from 1970. */
  hour: number
}

/**
 * Marks the past UTC days whose sums depend on readings of these hours. Counters are read across
 * midnight over gaps of up to an hour.
 */
export async function markBatteryDays(
  transaction: Transaction,
  site_id: string,
  hours: readonly BatteryHour[],
  now: Date,
): Promise<void> {
  const today = utcDate(now)
  const touched = hours.flatMap(({ bess_id, hour }) =>
    [hour - 1, hour + 1].map((near) => ({ bess_id, date: utcDate(near * hour_ms) })),
  )
  const over = touched.filter(({ date }) => date < today)
  if (over.length === 0) return
  await transaction.execute(marking, [
    site_id,
    over.map(({ bess_id }) => bess_id),
    over.map(({ date }) => date),
  ])
}

/** In the same order in all transactions, to avoid deadlocks. */
const marking = {
  name: 'mark_battery_days',
  text: `
    with touched as (
      select d.bess_id, d.date from battery_days d
      join (select distinct bess_id, date from unnest($2::int[], $3::date[]) as g (bess_id, date))
        as given using (bess_id, date)
      where d.site_id = $1
      order by d.bess_id, d.date for update of d
    )
    update battery_days d set summed_at = ${marked_day} from touched t
    where d.site_id = $1 and d.bess_id = t.bess_id and d.date = t.date`,
}

/** Blocks marks until the transaction ends. All earlier marks and their readings are committed. */
export async function holdBatteryMarks(transaction: Transaction): Promise<void> {
  await transaction.execute('lock table battery_days in share row exclusive mode')
}
