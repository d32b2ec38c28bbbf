/** Forecast targets: each plant, and the site, whose quantiles are not sums over its plants. */
import { type Place, placeOf } from '@heliograph/domain/place'
import type { Queries } from '../storage/database.ts'

/** `site`, or `logger:7`. */
export type Target = 'site' | `logger:${number}`

export const targetOf = (logger_id: number | null): Target =>
  logger_id === null ? 'site' : `logger:${logger_id}`

export function loggerOf(target: Target): number | null {
  return target === 'site' ? null : Number(target.slice('logger:'.length))
}

/** Panels with the same orientation. */
interface Panels {
  azimuth_deg: number
  tilt_deg: number
  dc_capacity_kwp: number
}

export interface ForecastTarget {
  target: Target
  /** null: the site. */
  logger_id: number | null
  name: string
  rated_power_kw: number
  dc_capacity_kwp: number
  panels: Panels[]
}

export interface ForecastSite {
  site_id: string
  /** null when the position of the site is unknown, which rules out forecasts. */
  place: Place | null
  /** The site first, then its plants in service by id. */
  targets: ForecastTarget[]
}

interface PlantRow {
  logger_id: number
  name: string
  rated_power_kw: number
  dc_capacity_kwp: number
}

export const readPlants = (db: Queries, site_id: string) =>
  db.query<PlantRow>(
    `select logger_id, name, rated_power_kw, dc_capacity_kwp from loggers
     where site_id = $1 and retired_at is null and rated_power_kw > 0 order by logger_id`,
    [site_id],
  )

/** The site first, then its plants; none without plants. */
export const targetsOf = (plants: readonly Pick<PlantRow, 'logger_id'>[]): Target[] =>
  plants.length === 0 ? [] : [null, ...plants.map(({ logger_id }) => logger_id)].map(targetOf)

/** null without such a site; a site without plants in service has no targets. */
export async function readForecastSite(db: Queries, site_id: string): Promise<ForecastSite | null> {
  const [site] = await db.query<SiteRow>(
    `select name, (inventory->>'latitude')::float8 as latitude,
            (inventory->>'longitude')::float8 as longitude,
            (inventory->>'elevation_m')::float8 as elevation_m
     from sites where site_id = $1`,
    [site_id],
  )
  if (!site) return null
  const loggers = await readPlants(db, site_id)
  const panels = await db.query<Panels & { logger_id: number }>(
    `select i.logger_id, s.azimuth_deg, s.tilt_deg, sum(s.dc_capacity_kwp) as dc_capacity_kwp
     from inverters i join strings s on s.site_id = i.site_id and s.inverter_id = i.inverter_id
     where i.site_id = $1 and i.retired_at is null and s.retired_at is null and s.connected
     group by 1, 2, 3 order by 1, 2, 3`,
    [site_id],
  )
  const panelsOf = Map.groupBy(panels, ({ logger_id }) => logger_id)
  const plants = loggers.map((logger) => ({
    ...logger,
    target: targetOf(logger.logger_id),
    panels: (panelsOf.get(logger.logger_id) ?? []).map(({ logger_id: _, ...panels }) => panels),
  }))
  return {
    site_id,
    place: placeOf(site),
    targets: plants.length === 0 ? [] : [wholeOf(site.name, plants), ...plants],
  }
}

interface SiteRow {
  name: string
  latitude: number | null
  longitude: number | null
  elevation_m: number | null
}

function wholeOf(name: string, plants: readonly ForecastTarget[]): ForecastTarget {
  const sum = (of: (plant: ForecastTarget) => number) =>
    plants.reduce((total, plant) => total + of(plant), 0)
  const facing = Map.groupBy(
    plants.flatMap(({ panels }) => panels),
    ({ azimuth_deg, tilt_deg }) => `${azimuth_deg} ${tilt_deg}`,
  )
  return {
    target: 'site',
    logger_id: null,
    name,
    rated_power_kw: sum(({ rated_power_kw }) => rated_power_kw),
    dc_capacity_kwp: sum(({ dc_capacity_kwp }) => dc_capacity_kwp),
    panels: [...facing.values()].map((same) => ({
      ...same[0]!,
      dc_capacity_kwp: same.reduce((total, { dc_capacity_kwp }) => total + dc_capacity_kwp, 0),
    })),
  }
}
