/**
 * The grid permit as control goes by it: what each plant and the common connection may deliver at
 * most, the guard already taken off. Whole watts. It never leaves the edge: no event, report, log
 * line or metric holds a figure of it.
 */
export interface Permit {
  /** By logger_id. A plant without an entry has no permit that is known. */
  plant_w: ReadonlyMap<number, number>
  /** Of plants that have no entry now, what their last one was: nothing is raised under that. */
  lapsed_w?: ReadonlyMap<number, number>
  /** Of the common connection; null: there is none. */
  site_w: number | null
}

/** What a plant is held to: its entry, or the last that it had; null: it never had any. */
export function boundOf(permit: Permit | null, logger_id: number): number | null {
  return permit?.plant_w.get(logger_id) ?? permit?.lapsed_w?.get(logger_id) ?? null
}

/** Where nothing of it is known any more: nothing is raised. */
export const lostPermit: Permit = { plant_w: new Map(), site_w: null }

/**
 * What holds while it is not certain which of two does: each figure that both have at the lower,
 * each that only one has as one under which nothing is raised.
 */
export function lowestPermit(one: Permit, other: Permit): Permit {
  const plant_w = new Map<number, number>()
  const lapsed_w = new Map<number, number>()
  for (const logger_id of [one, other].flatMap((permit) => [...boundsOf(permit).keys()])) {
    const bounds = [one, other].map((permit) => boundOf(permit, logger_id))
    const bound_w = Math.min(...bounds.filter((w) => w !== null))
    const is_of_both = one.plant_w.has(logger_id) && other.plant_w.has(logger_id)
    const bounds_w = is_of_both ? plant_w : lapsed_w
    bounds_w.set(logger_id, bound_w)
  }
  const site_w = Math.min(
    one.site_w ?? Number.POSITIVE_INFINITY,
    other.site_w ?? Number.POSITIVE_INFINITY,
  )
  return { plant_w, lapsed_w, site_w: Number.isFinite(site_w) ? site_w : null }
}

/** `next`, and what it has no entry for at what that was held to `before`. */
export function permitAfter(before: Permit, next: Permit): Permit {
  const lapsed = [...boundsOf(before)].filter(([logger_id]) => !next.plant_w.has(logger_id))
  return lapsed.length > 0 ? { ...next, lapsed_w: new Map(lapsed) } : next
}

/** What each plant is held to, by logger_id, with an entry or without. */
export const boundsOf = ({ plant_w, lapsed_w }: Permit): ReadonlyMap<number, number> =>
  new Map([...(lapsed_w ?? []), ...plant_w])

/** Whether it is the same that was accepted: each is read into a map of its own. */
export function isSamePermit(one: Permit | null, other: Permit | null): boolean {
  const is_same_site = one?.site_w === other?.site_w
  return is_same_site && one?.plant_w === other?.plant_w && one?.lapsed_w === other?.lapsed_w
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
