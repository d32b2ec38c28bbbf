/**
 * SQL for the height of a site above the sea, m, of a row of `sites` by its alias: as its inventory
 * has it, else the mean of its locations that have one; null where none does.
 */
export const siteElevation = (site: string): string => `
  coalesce((${site}.inventory->>'elevation_m')::float8,
    (select avg(p.elevation_m)::float8 from locations p
     where p.site_id = ${site}.site_id and p.retired_at is null))`
