/** What each device is armed with: its share of the permit alone, whatever the others do. */
import type { ControlledDevice } from './controlled-device.ts'
import type { Plant } from './controlled-plants.ts'
import { type Permit, shareOfPermit } from './permit-terms.ts'

/** Devices without a share, whose permit is not known, are left as they are. */
export function armingShares(
  plants: readonly Plant[],
  permit: Permit | null,
): { device: ControlledDevice; share_w: number }[] {
  // What is not in site.yaml any more may hold its share all the same.
  const ratedOf = ({ devices, removed }: Plant) =>
    [...devices, ...removed].reduce((sum, { limits }) => sum + limits.facts.rated_w, 0)
  const site_rated_w = plants.reduce((sum, plant) => sum + ratedOf(plant), 0)
  return plants.flatMap((plant) => {
    const { logger_id, devices } = plant
    const plant_rated_w = ratedOf(plant)
    return devices.flatMap((device) => {
      const terms = { logger_id, rated_w: device.limits.facts.rated_w }
      const share_w = shareOfPermit(permit, terms, { plant_rated_w, site_rated_w })
      return share_w === null ? [] : [{ device, share_w }]
    })
  })
}
