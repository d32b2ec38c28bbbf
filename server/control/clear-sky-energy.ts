import { quarter_ms } from '@heliograph/domain/durations'
import type { Place } from '@heliograph/domain/place'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import { hayDavies, type Surface, sunDirection } from '@heliograph/physics/transposition'
import { skyAt } from '../telemetry/weather/plane-light.ts'

/** Panels that face one way. */
export interface Panels extends Surface {
  dc_capacity_kwp: number
}

/** Energy in kWh of a half-open interval of whole quarter hours, Unix ms. */
export type Energy = (start_ms: number, end_ms: number) => number

/**
 * Energy in kWh of panels at their rating per 1000 W/m2 of clear-sky irradiance (`ineichenPerez` in
 * clear mid-latitude air, `hayDavies`), capped at `rated_power_kw`. The result has the shape of a
 * day, not its level: heat, losses and haze are left out, and the caller scales it.
 */
export function clearSkyEnergy(
  place: Place,
  { panels, rated_power_kw }: { panels: readonly Panels[]; rated_power_kw: number },
): Energy {
  const pressure_pa = pressureAtAltitude(place.elevation_m)
  const known = new Map<number, number>()
  function quarter(start_ms: number): number {
    let energy_kwh = known.get(start_ms)
    if (energy_kwh === undefined) {
      const { sun, clear } = skyAt(place, pressure_pa, start_ms + quarter_ms / 2)
      const direction = sunDirection(sun)
      const power_kw = panels.reduce((sum, { dc_capacity_kwp, ...surface }) => {
        return sum + (dc_capacity_kwp * hayDavies(surface, direction, clear).global_w_m2) / 1000
      }, 0)
      energy_kwh = sun.elevation_deg > 0 ? Math.min(rated_power_kw, power_kw) / 4 : 0
      known.set(start_ms, energy_kwh)
    }
    return energy_kwh
  }
  return (start_ms, end_ms) => {
    let sum_kwh = 0
    for (let at = start_ms; at < end_ms; at += quarter_ms) sum_kwh += quarter(at)
    return sum_kwh
  }
}
