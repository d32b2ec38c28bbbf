import type { Queries } from './database.ts'

/**
 * Start of the records of a site: its first hourly sum, battery day or day of a contract; null
 * without any. Sums over time find nothing before.
 */
export async function firstRecord(db: Queries, site_id: string): Promise<Date | null> {
  const [row] = await db.query<{ first_at: Date | null }>(
    `select least(
       (select min(hour_at) from logger_hours where site_id = $1),
       (select min(hour_at) from inverter_hours where site_id = $1),
       (select min(hour_at) from string_hours where site_id = $1),
       (select min(date)::timestamptz from battery_days where site_id = $1),
       (select min(valid_from)::timestamptz from market_assignments where site_id = $1)
     ) as first_at`,
    [site_id],
  )
  return row!.first_at
}
