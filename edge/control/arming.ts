/**
 * What each device is armed with: its share of the permit alone, whatever the others do. A PCS that
 * goes on with its setpoint where the edge falls silent has its room beside the shares.
 */
import type { Dispatcher } from '../battery/dispatcher.ts'
import type { ControlledDevice } from './controlled-device.ts'
import type { ControlledPlants, Plant } from './controlled-plants.ts'
import { type Permit, shareOfPermit } from './permit-terms.ts'
import { sum } from './sum.ts'

/** Devices without a share, whose permit is not known, are left as they are. */
function armingShares(
  plants: readonly Plant[],
  permit: Permit | null,
  standing_w: (logger_id: number | null) => number,
): { device: ControlledDevice; share_w: number }[] {
  // What is not in site.yaml any more may hold its share all the same.
  const ratedOf = ({ devices, removed }: Plant) =>
    sum([...devices, ...removed], ({ limits }) => limits.facts.rated_w)
  const site_rated_w = sum(plants, ratedOf)
  const left = permit && permitBeside(permit, standing_w)
  return plants.flatMap((plant) => {
    const { logger_id, devices } = plant
    const plant_rated_w = ratedOf(plant)
    return devices.flatMap((device) => {
      const terms = { logger_id, rated_w: device.limits.facts.rated_w }
      const share_w = shareOfPermit(left, terms, { plant_rated_w, site_rated_w })
      return share_w === null ? [] : [{ device, share_w }]
    })
  })
}

function permitBeside(permit: Permit, standing_w: (logger_id: number | null) => number): Permit {
  const plant_w = [...permit.plant_w].map(
    ([logger_id, of_plant_w]) =>
      [logger_id, Math.max(0, of_plant_w - standing_w(logger_id))] as const,
  )
  const site_w = permit.site_w === null ? null : Math.max(0, permit.site_w - standing_w(null))
  return { plant_w: new Map(plant_w), site_w }
}

interface ArmingNeeds {
  plants: ControlledPlants
  batteries: Dispatcher
  notArmed(inverter_id: number, complaints: readonly string[]): void
  work(job: Promise<unknown>): void
}

export class Arming {
  readonly #needs: ArmingNeeds
  #shares: ReturnType<typeof armingShares> = []

  constructor(needs: ArmingNeeds) {
    this.#needs = needs
  }

  /** At each tick: the site, its permit or a PCS may be another than before. */
  look(permit: Permit | null): void {
    const { plants, batteries } = this.#needs
    this.#shares = armingShares(plants.counted, permit, batteries.counted.standing_w)
  }

  /**
   * At each new contact, which comes before its first limit: some ceilings are not to be changed
   * under one. And where its share of the permit is another, which no lower waits for.
   */
  arm({ is_first }: { is_first: boolean }): void {
    const { notArmed, work } = this.#needs
    for (const { device, share_w } of this.#shares) {
      if (device.is_armed === is_first || !device.needsArming(share_w)) continue
      const { inverter_id } = device
      work(
        device.arm(share_w).then((complaints) => complaints && notArmed(inverter_id, complaints)),
      )
    }
  }
}
