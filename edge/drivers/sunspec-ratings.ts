/** What a SunSpec inverter says of its size: nameplate (120), or capacity (702). */
import { isRefusal } from '../bus/bus-error.ts'
import type { Bus, Complaint, InverterRatings } from './driver.ts'
import { kilo } from './sunspec-grid-side.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { createReader, type Snapshot } from './sunspec-snapshot.ts'

export const ratingModels = [120, 702] as const

/** The few points that are used, and the models as a whole: of no others is complained. */
const used = [/^\d+$/, /^120\.WRtg$/, /^702\.WMaxRtg$/]

export interface RatingsAnswer {
  ratings: InverterRatings | null
  complaints: readonly Complaint[]
}

/**
 * Ratings of a device with these models of `ratingModels`; `null` where it has none of them, or
 * refuses to show them. Rejects when it does not answer.
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

/** Nothing is built for no watts: a zero was never filled in. */
function power(watts: number | null | undefined): number | null {
  return watts ? kilo(watts) : null
}
