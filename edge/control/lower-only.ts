/**
 * The decision where the usual one failed its own check: nothing is raised, and what cannot be
 * trusted to round a limit down counts as what cannot be set. The others make room for it.
 */
import { type Controlled, type Decision, decide, type SiteNow } from './decide.ts'

/** @throws {Error} where not even lowers can be decided on: then nothing may be set */
export function decideLowers(site: SiteNow): Decision {
  const wrong = new Set<number>()
  const decided = attempt(site, wrong)
  if (wrong.size === 0 && decided) return decided
  return decide(lowering(site, wrong, () => {}))
}

/** Gathers the devices whose registers give wrong limits; null where even that fails. */
function attempt(site: SiteNow, wrong: Set<number>): Decision | null {
  try {
    return decide(lowering(site, wrong, (inverter_id) => wrong.add(inverter_id)))
  } catch {
    return null
  }
}

function lowering(
  site: SiteNow,
  wrong: ReadonlySet<number>,
  onWrong: (inverter_id: number) => void,
): SiteNow {
  const known_wrong = new Set(wrong)
  const plants = site.plants.map((plant) => ({
    ...plant,
    may_raise: false,
    devices: plant.devices.map((device) => {
      const { inverter_id, limits, is_busy, is_removed = false } = device
      const settable = known_wrong.has(inverter_id) ? null : checked(device, onWrong)
      return { inverter_id, limits, is_busy, settable, is_removed }
    }),
  }))
  return { ...site, plants }
}

function checked(
  { inverter_id, settable }: Controlled,
  onWrong: (inverter_id: number) => void,
): Controlled['settable'] {
  if (!settable) return null
  return (limit_w) => {
    try {
      const set_w = settable(limit_w)
      if (set_w >= 0 && set_w <= limit_w) return set_w
    } catch {
      // It is told as what is wrong.
    }
    onWrong(inverter_id)
    return 0
  }
}
