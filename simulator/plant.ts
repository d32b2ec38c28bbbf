import type { Clock } from '@heliograph/domain/clock'
import { hour_ms, second_ms } from '@heliograph/domain/durations'
import {
  type Batteries,
  createBatteries,
  initialUnits,
  type UnitStates,
} from './batteries/batteries.ts'
import { advance, type Counters } from './counters.ts'
import type { Fault } from './faults.ts'
import { createLimits, initialLimits, type LimitStates, type Limits } from './limits.ts'
import { createNights } from './nights.ts'
import type { Simulation, SiteSnapshot } from './site.ts'
import { ambientOf } from './weather.ts'

export interface Plant {
  readonly simulation: Simulation
  readonly counters: Counters
  readonly limits: Limits
  readonly batteries: Batteries
  /** In addition to those of the simulation. */
  faults: readonly Fault[]
  /** The present snapshot, at most one simulated second old. */
  snapshot(): SiteSnapshot
  /** The inverter restarts, or has no power at night: it does not answer. */
  isAway(inverter_id: number): boolean
  /** Simulated time: `speed` times as fast as the clock since the start of the plant. */
  now_ms(): number
}

interface PlantOptions {
  clock: Clock
  speed?: number
  faults?: readonly Fault[]
  /** Saved states; changed as time passes. */
  limits?: LimitStates
  batteries?: UnitStates
}

/** Step of the energy over times without requests. */
const unwatched_step_ms = 60_000

export function createPlant(
  simulation: Simulation,
  counters: Counters,
  { clock, speed = 1, faults = [], limits, batteries: units }: PlantOptions,
): Plant {
  const started_ms = clock.now().getTime()
  const now_ms = () => started_ms + (clock.now().getTime() - started_ms) * speed
  const { site, seed } = simulation
  const batteries = createBatteries(
    site,
    units ?? initialUnits(site, { seed, time_ms: started_ms }),
    {
      seed,
      now_ms,
      faults: () => [...simulation.faults, ...plant.faults],
      ambient_c: ambientOf(site, seed),
    },
  )
  let counted_kwh = batteries.energy_kwh()
  const batteryMean = (until_ms: number): number => {
    const before_kwh = counted_kwh
    counted_kwh = batteries.energy_kwh()
    return ((counted_kwh - before_kwh) * hour_ms) / Math.max(1, until_ms - counters.time_ms)
  }
  const adding = (snapshot: SiteSnapshot, power_kw: number): SiteSnapshot => ({
    ...snapshot,
    export_power_kw: snapshot.export_power_kw + power_kw,
  })
  const nights = createNights(site, seed, (id, time_ms) => plant.limits.restart(id, time_ms))
  let newest: SiteSnapshot | null = null
  const plant: Plant = {
    simulation,
    counters,
    limits: createLimits(limits ?? initialLimits(simulation.site, started_ms), {
      now_ms,
      faults: () => [...simulation.faults, ...plant.faults],
    }),
    batteries,
    faults,
    now_ms,
    snapshot() {
      const faultsAt = (time_ms: number) => [
        ...this.faults,
        ...this.limits.faultsAt(time_ms),
        ...nights.faultsAt(time_ms),
      ]
      const at = (time_ms: number) => {
        const snapshot = simulation.at(time_ms, faultsAt(time_ms))
        const has_changed = nights.follow(snapshot)
        return nights.shown(has_changed ? simulation.at(time_ms, faultsAt(time_ms)) : snapshot)
      }
      const now_ms = Math.floor(this.now_ms() / second_ms) * second_ms
      if (newest && newest.time_ms === now_ms) return newest
      const battery_kw = batteries.power_kw()
      const mean_kw = batteryMean(now_ms)
      while (now_ms - counters.time_ms > unwatched_step_ms) {
        const middle_ms = counters.time_ms + unwatched_step_ms / 2
        const then = at(middle_ms)
        advance(counters, adding(then, mean_kw), counters.time_ms + unwatched_step_ms)
      }
      const measured = at(now_ms)
      advance(counters, adding(measured, mean_kw), now_ms)
      newest = adding(measured, battery_kw)
      return newest
    },
    isAway(inverter_id) {
      this.snapshot()
      return nights.isOff(inverter_id) || this.limits.isAway(inverter_id)
    },
  }
  return plant
}
