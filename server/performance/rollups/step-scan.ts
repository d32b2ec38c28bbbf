/**
 * The nightly scan of the days of strings for small persistent losses. Each day of an inverter is
 * scanned once, by whichever process comes first.
 */

import { setImmediate } from 'node:timers/promises'
import { cached } from '@heliograph/domain/cached'
import { day_ms } from '@heliograph/domain/durations'
import type { Position } from '@heliograph/domain/place'
import { addDays } from '@heliograph/domain/utc-day'
import { sunEvents } from '@heliograph/physics/sun-events'
import type { Queries, Transaction } from '../../storage/database.ts'
import { layoutOf } from './inverter-span.ts'
import { type PlantInverter, readPlant } from './raw.ts'
import { readStringDays } from './store.ts'
import { decodeStrings } from './string-codec.ts'
import { type StepDay, type StringStep, stepsAfter } from './string-steps.ts'

/** Days that a scan covers: a year separates the seasonal swing of a string from a loss. */
const window_days = 365
/** Days scanned per call; a day of an inverter with 24 strings takes some ten milliseconds. */
const days_max = 40

interface Due {
  inverter_id: number
  looked_date: string | null
  /** Newest ended day with sums. */
  newest_date: string
}

/**
 * Scans up to `limit` inverters of a site that have unscanned days; returns the number of scanned
 * inverters. The caller holds the lock of the site.
 */
export async function scanForSteps(
  transaction: Transaction,
  site_id: string,
  now: Date,
  limit: number,
): Promise<number> {
  const due = await dueScans(transaction, site_id, now, limit)
  if (due.length === 0) return 0
  const plant = await readPlant(transaction, site_id)
  const daylights = daylightsOf(plant.facts)
  let scans = 0
  let days_left = days_max
  for (const each of due) {
    if (days_left <= 0) break
    const inverter = plant.inverters.get(each.inverter_id)!
    days_left -= await scan(transaction, site_id, inverter, each, daylights, days_left)
    scans += 1
  }
  return scans
}

function dueScans(db: Queries, site_id: string, now: Date, limit: number): Promise<Due[]> {
  return db.query<Due>(
    `select i.inverter_id, l.looked_date, d.newest_date
     from sites s
     join inverters i on i.site_id = s.site_id
     left join step_looks l on l.site_id = i.site_id and l.inverter_id = i.inverter_id
     cross join lateral (
       select max(local_date) as newest_date from string_days d
       where d.site_id = $1 and d.inverter_id = i.inverter_id
         and d.local_date < ($2::timestamptz at time zone (s.inventory->>'timezone'))::date
     ) as d
     where s.site_id = $1 and i.retired_at is null
       and d.newest_date > coalesce(l.looked_date, '-infinity')
     order by i.inverter_id
     limit $3`,
    [site_id, now.toISOString(), limit],
  )
}

/** Returns the number of scanned days, at least 1 and at most `days_left`. */
async function scan(
  transaction: Transaction,
  site_id: string,
  inverter: PlantInverter,
  { inverter_id, looked_date, newest_date }: Due,
  daylights: (date: string) => number | null,
  days_left: number,
): Promise<number> {
  const since = addDays(newest_date, 1 - window_days)
  const span = { first: since, last: newest_date }
  const rows = await readStringDays(transaction, site_id, [inverter_id], span)
  const days = rows.map((row): StepDay => {
    const { local_date } = row
    return { local_date, daylight_s: daylights(local_date), sums: decodeStrings(row) }
  })
  const first = days.findIndex(({ local_date }) => local_date > (looked_date ?? ''))
  const last = Math.min(days.length, first + days_left)
  const layout = layoutOf(inverter.strings)
  const known = await readSteps(transaction, site_id, inverter_id)
  let steps = known
  for (let end = first + 1; end <= last; end += 1) {
    steps = stepsAfter(layout, days.slice(0, end), steps)
    // Lets other work run.
    await setImmediate()
  }
  if (known.length > 0 || steps.length > 0) {
    await storeSteps(transaction, site_id, inverter_id, steps)
  }
  await transaction.execute(
    `insert into step_looks (site_id, inverter_id, looked_date) values ($1, $2, $3)
     on conflict (site_id, inverter_id) do update set looked_date = excluded.looked_date`,
    [site_id, inverter_id, days[last - 1]!.local_date],
  )
  return last - first
}

function readSteps(db: Queries, site_id: string, inverter_id: number): Promise<StringStep[]> {
  return db.query<StringStep>(
    `select string_index, onset_date, detected_date, loss_ratio, end_date from string_steps
     where site_id = $1 and inverter_id = $2 order by string_index, detected_date`,
    [site_id, inverter_id],
  )
}

async function storeSteps(
  transaction: Transaction,
  site_id: string,
  inverter_id: number,
  steps: readonly StringStep[],
): Promise<void> {
  await transaction.execute('delete from string_steps where site_id = $1 and inverter_id = $2', [
    site_id,
    inverter_id,
  ])
  await transaction.execute(
    `insert into string_steps
       (site_id, inverter_id, string_index, onset_date, detected_date, loss_ratio, end_date)
     select $1, $2, string_index, onset_date, detected_date, loss_ratio, end_date
     from jsonb_populate_recordset(null::string_steps, $3)`,
    [site_id, inverter_id, JSON.stringify(steps)],
  )
}

/** Seconds from sunrise to sunset of a date, cached. */
function daylightsOf({ latitude, longitude }: Position): (date: string) => number | null {
  if (latitude === null || longitude === null) return () => null
  return cached((date: string) => {
    // Solar day of the longitude: the length of daylight does not depend on the time zone.
    const from_ms = Date.parse(date) - (longitude / 360) * day_ms
    const sun = sunEvents({ from_ms, to_ms: from_ms + day_ms }, latitude, longitude)
    const { sunrise_ms, sunset_ms, course } = sun
    if (sunrise_ms !== null && sunset_ms !== null) return (sunset_ms - sunrise_ms) / 1000
    return course === 'always_up' ? day_ms / 1000 : 0
  })
}
