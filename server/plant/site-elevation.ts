/**
 * SQL for the height above sea level, m, of the row of `sites` with this alias: from the inventory,
 * else the mean of its locations; null without either.
 */
export const siteElevation = (site: string): string => `
  coalesce((${site}.inventory->>'elevation_m')::float8,
    (select avg(p.elevation_m)::float8 from locations p
     where p.site_id = ${site}.site_id and p.retired_at is null))`
