/** The energy of the present local day of a site, for the list of sites. */
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import type { Transaction } from '../../storage/database.ts'

/** An hour counts for the ratio if met stations cover this share of the measured time. */
const covered_ratio = 0.5

/**
 * Sums up today in the transaction that stores its hours. Last in the transaction, since the link
 * updates the same row.
 */
export async function updateEnergyToday(
  transaction: Transaction,
  { site_id, timezone }: { site_id: string; timezone: string },
  now: Date,
): Promise<void> {
  const date = localDate(now.getTime(), timezone)
  const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
  await transaction.execute(
    `insert into site_status (site_id, energy_date, energy_today_kwh, compared_energy_kwh,
       expected_energy_kwh, energy_at)
     select $1, $2, sum(energy_kwh), sum(energy_kwh) filter (where is_compared),
       sum(expected_energy_kwh) filter (where is_compared), $5
     from logger_hours
     cross join lateral (
       select energy_kwh is not null and expected_energy_kwh is not null
         and sun_covered_s >= ${covered_ratio} * awake_covered_s as is_compared
     ) as comparison
     where site_id = $1 and hour_at >= $3 and hour_at < $4
     on conflict (site_id) do update
     set energy_date = excluded.energy_date, energy_today_kwh = excluded.energy_today_kwh,
       compared_energy_kwh = excluded.compared_energy_kwh,
       expected_energy_kwh = excluded.expected_energy_kwh, energy_at = excluded.energy_at`,
    [site_id, date, new Date(from_ms), new Date(to_ms), now],
  )
}
