/**
 * SQL for the height above sea level, m, of a row of `sites` with this id: from the inventory, else
 * the mean of its locations; null without either.
 */
export const siteElevation = (site_id: string): string => `
  coalesce((inventory->>'elevation_m')::float8,
    (select avg(p.elevation_m)::float8 from locations p
     where p.site_id = ${site_id} and p.retired_at is null))`
