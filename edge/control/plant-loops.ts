/** The closed loop of each plant that is to have one, where a site asks for it. */
import type { Battery } from '@heliograph/domain/battery'
import { defaultPollIntervals, type Logger, type Meter, type Site } from '@heliograph/domain/site'
import { closeLoop, type Loop, type LoopDevice, type Measured, restedLoop } from './closed-loop.ts'
import type { Controlled } from './decide.ts'
import type { Ceiling } from './plant-ceilings.ts'

export interface Looped extends Controlled {
  /** What was measured last, while that is fresh. */
  power: { power_w: number | null; at_ms: number } | null
}

interface LoopedPlant {
  logger_id: number
  rated_w: number
  devices: readonly Looped[]
}

/** What counts of a site here. */
interface LoopedSite extends Pick<Site, 'control' | 'poll'> {
  loggers: readonly Pick<Logger, 'logger_id'>[]
  meters?: readonly Pick<Meter, 'meter_id' | 'role' | 'logger_id'>[]
  batteries?: readonly Pick<Battery, 'logger_id'>[]
}

const interval_ms_min = 10_000

export class PlantLoops {
  readonly #loops = new Map<number, Loop>()
  /** By plant, where there is one. */
  #meters = new Map<number, number>()
  /** What a meter measured lately; null: nothing. */
  readonly #meteredAt: (meter_id: number, now_ms: number) => Measured | null
  #interval_ms = interval_ms_min

  constructor(meteredAt: (meter_id: number, now_ms: number) => Measured | null) {
    this.#meteredAt = meteredAt
  }

  /** Begins again with the static split. */
  apply(site: LoopedSite): void {
    const { inverter_s, meter_s } = { ...defaultPollIntervals, ...site.poll }
    this.#interval_ms = Math.max(interval_ms_min, 2000 * Math.max(inverter_s, meter_s))
    this.#loops.clear()
    this.#meters = new Map(
      (site.control?.closed_loop ? site.loggers : []).flatMap((logger) => {
        // A meter that measures batteries as well does not tell what the devices deliver.
        const meter_id = hasBattery(logger, site) ? null : meterOf(logger, site)
        return meter_id === null ? [] : [[logger.logger_id, meter_id]]
      }),
    )
  }

  /** Another master has set something there: the static split holds for a while. */
  disturb(logger_id: number, now_ms: number): void {
    const loop = this.#loops.get(logger_id)
    if (loop) this.#loops.set(logger_id, restedLoop(loop, now_ms))
  }

  /**
   * The most that each device is to be set to, by inverter_id; null: the static split.
   *
   * @param ceiling null: more than that holds the plant
   */
  limitsOf(
    { logger_id, rated_w, devices }: LoopedPlant,
    ceiling: Ceiling | null,
    now_ms: number,
  ): ReadonlyMap<number, number> | null {
    const meter_id = this.#meters.get(logger_id)
    if (meter_id === undefined) return null
    if (ceiling?.held_by !== 'curtailment') {
      this.#loops.delete(logger_id)
      return null
    }
    const loop = closeLoop(this.#loops.get(logger_id) ?? null, {
      row_w: ceiling.ceiling_w,
      rated_w,
      metered: this.#meteredAt(meter_id, now_ms),
      devices: devices.map((device) => loopDevice(device, now_ms)),
      now_ms,
      interval_ms: this.#interval_ms,
    })
    this.#loops.set(logger_id, loop)
    return loop.limits_w
  }
}

function loopDevice(device: Looped, now_ms: number): LoopDevice {
  const { inverter_id, limits, power, has_control, is_busy } = device
  const power_w = power?.power_w ?? null
  return {
    inverter_id,
    rated_w: limits.facts.rated_w,
    max_w: limits.settable_max_w,
    bound_w: limits.bound_w ?? limits.static_max_w,
    measured: power && power_w !== null ? { power_w, at_ms: power.at_ms } : null,
    is_obeying: has_control && limits.obeys(now_ms),
    is_free: !is_busy && limits.is_proven && limits.isRested(now_ms),
  }
}

const hasBattery = (
  { logger_id }: Pick<Logger, 'logger_id'>,
  { batteries = [], loggers }: LoopedSite,
): boolean =>
  batteries.some((one) => (one.logger_id ?? (loggers.length === 1 && logger_id)) === logger_id)

/** Of the plant itself, or of the connection of a site that has no other plant. */
function meterOf(logger: Pick<Logger, 'logger_id'>, site: LoopedSite): number | null {
  const shared = site.meters?.find(({ role }) => role === 'grid_connection')
  return plantMeter(logger, site) ?? (site.loggers.length === 1 ? (shared?.meter_id ?? null) : null)
}

/** The meter that measures what a plant alone feeds in; null: there is none. */
export function plantMeter(
  { logger_id }: Pick<Logger, 'logger_id'>,
  { meters = [], loggers }: LoopedSite,
): number | null {
  const is_only = loggers.length === 1
  const own = meters.find(
    ({ role, logger_id: of }) => role === 'plant' && (of ?? (is_only && logger_id)) === logger_id,
  )
  return own?.meter_id ?? null
}
