/** The metrics of a site in the list of sites, updated where they change instead of on request. */
import { defaultPollIntervals } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import type { Queries } from '../storage/database.ts'
import { stale_polls, stale_s_min } from './frame.ts'

/** Older power is not part of `meta.totals`. */
export const counted_s_max = 15 * 60

export type SiteStatus = Static<typeof SiteStatus>
export const SiteStatus = Named(
  'SiteStatus',
  {
    ac_power_kw: field.NumOrNull(
      'Sum over the inverters with a fresh reading at `power_at`, kW; positive towards the grid. ' +
        'Updated every 20 to 30 s while the edge is connected. 0 while the sun is below the horizon ' +
        'and no inverter has a fresh reading. Null without `plant:read`.',
      921.4,
    ),
    power_at: field.AtOrNull(
      'The oldest reading in `ac_power_kw`; the time of the answer for an estimated 0.',
      '2026-06-21T10:00:00.000Z',
    ),
    energy_today_kwh: field.NumOrNull(
      'Energy since local midnight, kWh: the sum of `/energy/hourly`, updated every five minutes. ' +
        'Null before the first update of the day, and without `plant:read`.',
      3480.2,
    ),
    energy_to_expected_pct: field.FromZeroOrNull(
      'Energy by expected energy, %, over the hours of today with expected energy. Null without ' +
        'such an hour, for a ratio above 105 %, which an incomplete sum has, and without `plant:read`.',
      97.2,
    ),
    energy_at: field.AtOrNull('When the energy was last summed up.', '2026-06-21T09:56:12.000Z'),
    revenue_today_amount: field.NumOrNull(
      'Net revenue of the market day so far, or its known part. Null without a contract, without ' +
        'known prices or energy, without `earnings:read`, and without the module `earnings`.',
      214.6,
    ),
    currency: field.TextOrNull('The currency of `revenue_today_amount`, ISO 4217.', 'EUR'),
    revenue_at: field.AtOrNull('When the revenue was computed.', '2026-06-21T09:57:00.000Z'),
    open_alert_count: field.CountOrNull(
      'Active and acknowledged alerts; null without `alerts:read`.',
      3,
    ),
  },
  {
    description: 'With `include=status`. Each metric is null while unknown, and without its scope.',
  },
)

const RevenueTotal = Named('RevenueTotal', {
  currency: field.Text('ISO 4217.', 'EUR'),
  net_amount: field.Num('Sum of `revenue_today_amount`.', 214.6),
  site_count: field.Count('Sites in the sum.', 1),
})

export type SiteTotals = Static<typeof SiteTotals>
export const SiteTotals = Named(
  'SiteTotals',
  {
    ac_capacity_kw: field.Num('Sum of the rated power, kW.', 1200),
    ac_power_kw: field.NumOrNull(
      `Sum of \`ac_power_kw\` no older than ${counted_s_max / 60} minutes, kW.`,
      921.4,
    ),
    power_site_count: field.Count('Sites in `ac_power_kw`.', 1),
    energy_today_kwh: field.NumOrNull('Sum of `energy_today_kwh`, kWh.', 3480.2),
    energy_site_count: field.Count('Sites in `energy_today_kwh`.', 1),
    energy_to_expected_pct: field.FromZeroOrNull(
      'Energy by expected energy of the sites with a ratio, %.',
      97.2,
    ),
    expected_site_count: field.Count('Sites in `energy_to_expected_pct`.', 1),
    revenue_today: Type.Array(RevenueTotal, { description: 'By currency.' }),
    open_alert_count: field.CountOrNull('Sum of `open_alert_count`.', 3),
    healthy_count: field.Count('Sites with this `health_status`.'),
    degraded_count: field.Count('Sites with this `health_status`.', 1),
    offline_count: field.Count('Sites with this `health_status`.'),
    unknown_count: field.Count('Sites with this `health_status`.'),
  },
  { description: 'With `include=status`. Sums over the sites of all pages.' },
)

/** Power that is younger is not updated. */
const power_s_min = 20

/** Updates the power of sites. A site without a fresh reading keeps its last power and instant. */
export async function updatePower(
  db: Queries,
  site_ids: readonly string[],
  now: Date,
): Promise<void> {
  await db.execute(updating, [site_ids, now])
}

const fresh_s = `greatest(${stale_s_min}, ${stale_polls} * coalesce(
  (t.inventory->'poll'->>'inverter_s')::float8, ${defaultPollIntervals.inverter_s}))`

const updating = {
  name: 'update_site_power',
  text: `
    insert into site_status (site_id, ac_power_kw, power_at)
    select due.site_id, sum(l.ac_power_kw::numeric)::float8, min(l.measured_at)
    from (
      select t.site_id, $2::timestamptz - ${fresh_s} * interval '1 s' as fresh_from_at
      from sites t left join site_status s on s.site_id = t.site_id
      where t.site_id = any($1)
        and (s.power_at is null or s.power_at < $2::timestamptz - interval '${power_s_min} s')
    ) as due
    join inverters i on i.site_id = due.site_id and i.retired_at is null
    join inverter_latest l on l.site_id = i.site_id and l.inverter_id = i.inverter_id
      and l.measured_at >= due.fresh_from_at and l.ac_power_kw is not null
    group by due.site_id
    order by due.site_id
    on conflict (site_id) do update
    set ac_power_kw = excluded.ac_power_kw, power_at = excluded.power_at`,
} as const
