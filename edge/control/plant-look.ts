/** What is known of the plant of a row. */
import type { WallTime } from './clock-watch.ts'
import type { ControlledPlants, Plant } from './controlled-plants.ts'
import type { PlantLook } from './row-watch.ts'

/** What only the controller knows of it. */
type Circumstances = WallTime &
  Pick<PlantLook, 'now_ms'> & {
    /** By the decision. */
    is_settled(logger_id: number): boolean
    refusalOf(plant: Plant): string | null
  }

export function lookAtPlant(
  plants: ControlledPlants,
  logger_id: number,
  { is_settled, refusalOf, ...at }: Circumstances,
): PlantLook {
  const plant = plants.of(logger_id)
  if (!plant) {
    return {
      ...at,
      rated_w: 0,
      held_w: Number.POSITIVE_INFINITY,
      is_ramping: false,
      is_known: true,
      is_settled: true,
      power: null,
      failure: { code: 'driver_error', message: 'this site has no such plant' },
      below: null,
      refusal: null,
      failed_attempts: 0,
    }
  }
  const { devices, rated_w } = plant
  const { now_ms } = at
  const is_known = plants.isKnown(plant, now_ms)
  const failures = devices.map(({ failure }) => failure).filter((failure) => failure !== null)
  return {
    ...at,
    rated_w,
    held_w: plants.heldOf(plant, now_ms),
    is_ramping: plants.isRamping(plant, now_ms),
    is_known,
    get is_settled() {
      return is_known && is_settled(logger_id)
    },
    power: plants.powerOf(plant, now_ms),
    failure: failures.find(({ code }) => code !== 'timeout') ?? failures[0] ?? null,
    below: devices.map((device) => device.not_as_set).find((message) => message !== null) ?? null,
    refusal: refusalOf(plant),
    failed_attempts: devices.reduce((sum, device) => sum + device.failed_attempts, 0),
  }
}
