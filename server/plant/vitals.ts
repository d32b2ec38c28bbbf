/** The readings that the health of sites depends on, for many sites at once. */
import type { Queries } from '../storage/database.ts'
import type { InverterVitals } from './communication.ts'
import { stale_s_min } from './frame.ts'
import type { LoggerVitals } from './health.ts'

export interface SiteVitals {
  loggers: LoggerVitals[]
  /** Those that may affect the health: in fault, or without a fresh reading by day. */
  inverters: InverterVitals[]
}

interface Asked {
  site_ids: readonly string[]
  /** The sites among them at which inverters must be awake. */
  day_site_ids: readonly string[]
}

/** The loggers in service by site, and inverters; sites without any have no entry. */
export async function readVitals(db: Queries, { site_ids, day_site_ids }: Asked, now: Date) {
  const fresh_from_at = new Date(now.getTime() - 1000 * stale_s_min)
  const [loggers, inverters] = await Promise.all([
    db.query<LoggerVitals & OfSite>(loggerVitals, [site_ids]),
    db.query<Omit<InverterVitals, 'logger_data_at'> & OfSite>(inverterVitals, [
      site_ids,
      day_site_ids,
      fresh_from_at,
    ]),
  ])
  const sites = new Map<string, SiteVitals>()
  const siteOf = (site_id: string) => {
    const site = sites.get(site_id) ?? { loggers: [], inverters: [] }
    sites.set(site_id, site)
    return site
  }
  const data_at = new Map<string, Date | null>()
  for (const { site_id, ...logger } of loggers) {
    siteOf(site_id).loggers.push(logger)
    data_at.set(`${site_id} ${logger.logger_id}`, logger.data_at)
  }
  for (const { site_id, ...inverter } of inverters) {
    const logger_data_at = data_at.get(`${site_id} ${inverter.logger_id}`) ?? null
    siteOf(site_id).inverters.push({ ...inverter, logger_data_at })
  }
  return sites
}

interface OfSite {
  site_id: string
}

const loggerVitals = `
  SELECT g.site_id, g.logger_id, greatest(max(n.measured_at), max(l.measured_at)) AS data_at
  FROM loggers g
  LEFT JOIN logger_latest n ON n.site_id = g.site_id AND n.logger_id = g.logger_id
  LEFT JOIN inverters i ON i.site_id = g.site_id AND i.logger_id = g.logger_id
  LEFT JOIN inverter_latest l ON l.site_id = i.site_id AND l.inverter_id = i.inverter_id
  WHERE g.site_id = ANY ($1) AND g.retired_at IS NULL
  GROUP BY g.site_id, g.logger_id
  ORDER BY g.site_id, g.logger_id`

const inverterVitals = `
  SELECT i.site_id, i.inverter_id, i.logger_id, l.state, l.measured_at,
         d.comm_state AS edge_comm_state
  FROM inverters i
  LEFT JOIN inverter_latest l ON l.site_id = i.site_id AND l.inverter_id = i.inverter_id
  LEFT JOIN device_status d
    ON d.site_id = i.site_id AND d.kind = 'inverter' AND d.id = i.inverter_id::text
  WHERE i.site_id = ANY ($1) AND i.retired_at IS NULL
    AND (l.state = 'fault'
      OR (i.site_id = ANY ($2) AND (l.measured_at IS NULL OR l.measured_at < $3)))
  ORDER BY i.site_id, i.inverter_id`
