/** The energy of the local day so far, by the counters of the inverters. */

import { counterIncrease } from '@heliograph/domain/counter'
import { significant } from '@heliograph/domain/significant'
import { Type } from 'typebox'
import { Nullable } from '../http/params.ts'

export const energyToday = {
  energy_today_kwh: Nullable(
    Type.Number({
      minimum: 0,
      description:
        'Energy since midnight at the site, kWh: the difference of the energy counter to its ' +
        'last value of the days before (two at most), else to its first of today; overflows are ' +
        'reckoned in, a reset makes it null. A sum covers those inverters whose counter is known.',
    }),
  ),
  energy_source: Nullable(
    Type.Enum(['inverter_counter'], { description: 'What `energy_today_kwh` was taken from.' }),
  ),
}

export interface EnergyToday {
  energy_today_kwh: number | null
  energy_source: 'inverter_counter' | null
}

/** The counter now and where the day began, as the store found them. */
export interface DayCounter {
  rated_ac_power_kw: number
  measured_at: Date | null
  energy_total_kwh: number | null
  day_first_at: Date | null
  day_first_energy_kwh: number | null
}

/**
 * Of one inverter. An inverter that has measured nothing since midnight has delivered 0 only if
 * something says so; its counter does not.
 */
export function energyTodayOf(counter: DayCounter, day_start_at: Date): number | null {
  const { measured_at, energy_total_kwh, day_first_at, day_first_energy_kwh } = counter
  if (measured_at === null || energy_total_kwh === null) return null
  if (day_first_at === null || day_first_energy_kwh === null || measured_at < day_start_at) {
    return null
  }
  const energy_kwh = counterIncrease(day_first_energy_kwh, energy_total_kwh, {
    elapsed_s: (measured_at.getTime() - day_first_at.getTime()) / 1000,
    rated_kw: counter.rated_ac_power_kw,
  })
  return energy_kwh === null ? null : significant(energy_kwh)
}

/** The sum of those that are known; null if none is. */
export function sumKnown(values: Iterable<number | null>): number | null {
  let sum: number | null = null
  for (const value of values) if (value !== null) sum = (sum ?? 0) + value
  return sum === null ? null : significant(sum)
}

export const energySource = (energy_kwh: number | null) =>
  energy_kwh === null ? null : ('inverter_counter' as const)
