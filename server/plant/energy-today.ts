/** The energy of the local day so far, by the counters of the inverters, else by their hours. */

import { counterIncrease } from '@heliograph/domain/counter'
import { significant } from '@heliograph/domain/significant'
import { Type } from 'typebox'
import { Nullable } from '../http/params.ts'

const energyTodaySources = ['inverter_counter', 'hourly_sums', 'mixed'] as const
type EnergyTodaySource = (typeof energyTodaySources)[number]

export const energyToday = {
  energy_today_kwh: Nullable(
    Type.Number({
      minimum: 0,
      description:
        'Energy since midnight at the site, kWh: the difference of the energy counter to its ' +
        'last value of the days before (two at most), else to its first of today; overflows are ' +
        'reckoned in. After a reset of the counter, where it stood still while power was measured, ' +
        'and where it rose while it could not be read over midnight: the hours of today as they ' +
        'were summed up last. A sum covers those inverters whose energy is known.',
    }),
  ),
  energy_source: Nullable(
    Type.Enum([...energyTodaySources], {
      description:
        'What `energy_today_kwh` was taken from. `hourly_sums`: the hours, by the counter as ' +
        'far as it tells and by the integral of the power where it was reset or stood still. ' +
        '`mixed`: of some inverters the one, of others the other.',
    }),
  ),
}

interface EnergyToday {
  energy_today_kwh: number | null
  energy_source: EnergyTodaySource | null
}

/** The counter now and where the day began, as the store found them. */
export interface DayCounter {
  rated_ac_power_kw: number
  measured_at: Date | null
  energy_total_kwh: number | null
  /** null also where the counter rose in a silence over midnight. */
  day_first_at: Date | null
  day_first_energy_kwh: number | null
  /** Of the hours since; null where they were not looked up, as the counter alone tells. */
  day_hours_energy_kwh: number | null
}

const unknown: EnergyToday = { energy_today_kwh: null, energy_source: null }

/**
 * Of one inverter. An inverter that has measured nothing since midnight has delivered 0 only if
 * something says so; its counter does not.
 */
export function energyTodayOf(counter: DayCounter, day_start_at: Date): EnergyToday {
  const { measured_at, energy_total_kwh, day_first_at, day_first_energy_kwh } = counter
  if (measured_at === null || energy_total_kwh === null) return unknown
  if (measured_at < day_start_at) return unknown
  const energy_kwh =
    day_first_at === null || day_first_energy_kwh === null
      ? null
      : counterIncrease(day_first_energy_kwh, energy_total_kwh, {
          elapsed_s: (measured_at.getTime() - day_first_at.getTime()) / 1000,
          rated_kw: counter.rated_ac_power_kw,
        })
  const { day_hours_energy_kwh } = counter
  if (energy_kwh !== null && !isBehind(energy_kwh, day_hours_energy_kwh)) {
    return { energy_today_kwh: significant(energy_kwh), energy_source: 'inverter_counter' }
  }
  if (day_hours_energy_kwh === null) return unknown
  return { energy_today_kwh: significant(day_hours_energy_kwh), energy_source: 'hourly_sums' }
}

/** The hours take power in place of a counter that stood still, and else add up to its rise. */
function isBehind(counter_kwh: number, hours_kwh: number | null): boolean {
  return hours_kwh !== null && hours_kwh > 1.02 * counter_kwh + 1
}

/** The sum of those that are known, and of what. */
export function energyTodaySum(parts: readonly EnergyToday[]): EnergyToday {
  const sources = new Set(parts.flatMap(({ energy_source }) => energy_source ?? []))
  const [source = null] = sources
  return {
    energy_today_kwh: sumKnown(parts.map(({ energy_today_kwh }) => energy_today_kwh)),
    energy_source: sources.size > 1 ? 'mixed' : source,
  }
}

/** The sum of those that are known; null if none is. */
export function sumKnown(values: Iterable<number | null>): number | null {
  let sum: number | null = null
  for (const value of values) if (value !== null) sum = (sum ?? 0) + value
  return sum === null ? null : significant(sum)
}

/** The sum; null unless every value is known, and for none. */
export function sumAll(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : sumKnown(values)
}
