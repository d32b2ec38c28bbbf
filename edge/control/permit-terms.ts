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

/** Of two, by each figure that both have the lower, and each that only one has. */
export function lowestPermit(one: Permit, other: Permit): Permit {
  const plant_w = new Map(one.plant_w)
  for (const [logger_id, limit_w] of other.plant_w) {
    plant_w.set(logger_id, Math.min(limit_w, plant_w.get(logger_id) ?? limit_w))
  }
  const site_w = Math.min(
    one.site_w ?? Number.POSITIVE_INFINITY,
    other.site_w ?? Number.POSITIVE_INFINITY,
  )
  return { plant_w, site_w: Number.isFinite(site_w) ? site_w : null }
}

/** Whether it is the same that was accepted: each is read into a map of its own. */
export function isSamePermit(one: Permit | null, other: Permit | null): boolean {
  return one?.plant_w === other?.plant_w && one?.site_w === other?.site_w
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
