import type { Site } from '../../plant/site.ts'
import { announcedSite, edgeSeenAt } from '../../plant/site-facts.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import type { Stored } from '../../storage/records.ts'

type Computed =
  | 'health_status'
  | 'health_reasons'
  | 'active_alert_count'
  | 'highest_alert_severity'
  | 'commissioning_safe_mode'
  | 'modules'
  | 'scopes'
  | 'last_data_at'
  | 'simulated'
  | 'status'

export type SiteRow = Omit<Stored<Site>, Computed> &
  SiteFacts &
  StatusRow & { simulated: boolean | null }

/** See `site_status`. */
export interface StatusRow {
  ac_power_kw: number | null
  power_at: Date | null
  energy_date: string | null
  energy_today_kwh: number | null
  compared_energy_kwh: number | null
  expected_energy_kwh: number | null
  energy_at: Date | null
  revenue_date: string | null
  revenue_timezone: string | null
  net_revenue: number | null
  revenue_currency: string | null
  revenue_at: Date | null
}

/** The sites of a client by id, with their capacities and counts. */
export const sitesOfClient = (db: Queries, client_id: number) =>
  db.query<SiteRow>(ofClient, [client_id])

const ofClient = `
  SELECT s.site_id, s.name, s.safe_mode_since_at, s.created_at,
         greatest(s.updated_at, s.inventory_at) AS updated_at,
         coalesce(site.timezone, 'UTC') AS timezone, site.country_code, site.address,
         site.latitude, site.longitude, site.elevation_m, site.currency, site.commissioned_date,
         site.simulated, site.poll, ${edgeSeenAt('s.site_id')},
         coalesce(l.dc_capacity_kwp, 0) AS dc_capacity_kwp,
         coalesce(l.ac_capacity_kw, 0) AS ac_capacity_kw,
         coalesce(l.logger_count, 0) AS logger_count,
         coalesce(i.inverter_count, 0) AS inverter_count,
         coalesce(p.string_count, 0) AS string_count,
         (SELECT count(*) FROM nodes n WHERE n.site_id = s.site_id AND n.retired_at IS NULL)
           AS sensor_node_count,
         k.ac_power_kw, k.power_at, k.energy_date, k.energy_today_kwh, k.compared_energy_kwh,
         k.expected_energy_kwh, k.energy_at, k.revenue_date, k.revenue_timezone, k.net_revenue,
         k.currency AS revenue_currency, k.revenue_at
  FROM sites s
  LEFT JOIN site_status k ON k.site_id = s.site_id
  CROSS JOIN ${announcedSite(
    'timezone text, country_code text, address text, latitude float8, longitude float8, ' +
      'elevation_m float8, currency text, commissioned_date text, simulated boolean, poll jsonb',
  )}
  LEFT JOIN LATERAL (
    SELECT round(sum(dc_capacity_kwp)::numeric, 6)::float8 AS dc_capacity_kwp,
           sum(rated_power_kw) AS ac_capacity_kw,
           count(*) AS logger_count
    FROM loggers WHERE site_id = s.site_id AND retired_at IS NULL
  ) l ON true
  LEFT JOIN LATERAL (
    SELECT count(*) AS inverter_count
    FROM inverters WHERE site_id = s.site_id AND retired_at IS NULL
  ) i ON true
  LEFT JOIN LATERAL (
    SELECT count(*) AS string_count
    FROM strings t
    JOIN inverters o ON o.site_id = t.site_id AND o.inverter_id = t.inverter_id
    WHERE t.site_id = s.site_id AND t.connected AND t.retired_at IS NULL AND o.retired_at IS NULL
  ) p ON true
  WHERE s.client_id = $1
  ORDER BY s.site_id COLLATE "C"`
