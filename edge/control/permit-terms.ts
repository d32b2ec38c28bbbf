/**
 * The grid permit as control goes by it: what each plant and the common connection may deliver at
 * most, the guard already taken off. Whole watts. It never leaves the edge: no event, report, log
 * line or metric holds a figure of it.
 */
export interface Permit {
  /** By logger_id. A plant without an entry has no permit that is known. */
  plant_w: ReadonlyMap<number, number>
  /** Of the common connection; null: there is none. */
  site_w: number | null
}

/**
 * What a device may have of the permit alone, whatever the others do: by its rated power, of the
 * plant's permit and of the plant's part of the connection's. The shares of all devices together
 * never exceed either. Null while the plant's permit is not known.
 */
export function shareOfPermit(
  permit: Permit | null,
  { logger_id, rated_w }: { logger_id: number; rated_w: number },
  { plant_rated_w, site_rated_w }: { plant_rated_w: number; site_rated_w: number },
): number | null {
  const plant_w = permit?.plant_w.get(logger_id)
  if (!permit || plant_w === undefined) return null
  const of_plant_w = (plant_w * rated_w) / plant_rated_w
  const of_site_w = ((permit.site_w ?? Number.POSITIVE_INFINITY) * rated_w) / site_rated_w
  return Math.floor(Math.min(of_plant_w, of_site_w))
}
