import type { PollIntervals } from '@heliograph/domain/site'
import { announcedSite, edge_seen_at, siteFacts } from '../../plant/site-facts.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import { readVitals, type SiteVitals } from '../../plant/vitals.ts'
import type { Queries } from '../../storage/database.ts'

export interface SiteRow extends SiteFacts {
  site_id: string
  name: string
  country_code: string | null
  address: string | null
  currency: string | null
  commissioned_date: string | null
  simulated: boolean | null
  safe_mode_since_at: Date | null
  created_at: Date
  updated_at: Date
  dc_capacity_kwp: number
  ac_capacity_kw: number
  logger_count: number
  inverter_count: number
  string_count: number
  sensor_node_count: number
  poll: PollIntervals | null
}

export interface SiteStore {
  /** @throws ApiError not_found */
  facts(site_id: string): Promise<SiteFacts>
  ofClient(client_id: number): Promise<SiteRow[]>
  vitals(site_ids: readonly string[]): Promise<Map<string, SiteVitals>>
}

export function createSiteStore(db: Queries): SiteStore {
  return {
    facts: (site_id) => siteFacts(db, site_id),
    ofClient: (client_id) => db.query<SiteRow>(ofClient, [client_id]),
    vitals: (site_ids) => readVitals(db, site_ids),
  }
}

const ofClient = `
  SELECT s.site_id, s.name, s.safe_mode_since_at, s.created_at,
         greatest(s.updated_at, s.inventory_at) AS updated_at,
         coalesce(site.timezone, 'UTC') AS timezone, site.country_code, site.address,
         site.latitude, site.longitude, site.elevation_m, site.currency, site.commissioned_date,
         site.simulated, site.poll, ${edge_seen_at},
         coalesce(l.dc_capacity_kwp, 0) AS dc_capacity_kwp,
         coalesce(l.ac_capacity_kw, 0) AS ac_capacity_kw,
         coalesce(l.logger_count, 0) AS logger_count,
         coalesce(i.inverter_count, 0) AS inverter_count,
         coalesce(p.string_count, 0) AS string_count,
         (SELECT count(*) FROM nodes n WHERE n.site_id = s.site_id AND n.retired_at IS NULL)
           AS sensor_node_count
  FROM sites s
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
  ORDER BY s.site_id`
