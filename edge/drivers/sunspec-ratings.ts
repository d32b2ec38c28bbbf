/** Ratings of a SunSpec inverter: nameplate (120), or capacity (702). */
import { isRefusal } from '../bus/bus-error.ts'
import type { Bus, Complaint, InverterRatings } from './driver.ts'
import { kilo } from './sunspec-grid-side.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { createReader, type Snapshot } from './sunspec-snapshot.ts'

export const ratingModels = [120, 702] as const

/** Points whose complaints are reported, and the models as a whole. */
const used = [/^\d+$/, /^120\.WRtg$/, /^702\.WMaxRtg$/]

export interface RatingsAnswer {
  ratings: InverterRatings | null
  complaints: readonly Complaint[]
}

/**
 * Ratings from the models `found` of `ratingModels`; `null` if there are none or the device refuses
 * them. Rejects if it does not answer.
 */
export async function readRatings(
  bus: Bus,
  unit_id: number,
  found: readonly FoundModel[],
): Promise<RatingsAnswer> {
  if (found.length === 0) return { ratings: null, complaints: [] }
  try {
    return ratingsOf(await createReader(bus, unit_id, { wanted: found })())
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ratings: null, complaints: [] }
  }
}

function ratingsOf(snapshot: Snapshot): RatingsAnswer {
  const [nameplate] = snapshot.all(120)
  const [capacity] = snapshot.all(702)
  const ratings = {
    rated_power_kw: power(nameplate?.values.WRtg) ?? power(capacity?.values.WMaxRtg),
  }
  const complaints = snapshot.complaints.filter(({ point }) =>
    used.some((each) => each.test(point)),
  )
  return { ratings, complaints }
}

/** A rating of zero was never set. */
function power(watts: number | null | undefined): number | null {
  return watts ? kilo(watts) : null
}
