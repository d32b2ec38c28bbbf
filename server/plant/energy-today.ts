/** The energy of the local day so far, from the energy counters or the hourly energy. */

import { counterIncrease } from '@heliograph/domain/counter'
import { significant } from '@heliograph/domain/significant'
import * as field from '../http/fields.ts'

const energyTodaySources = ['inverter_counter', 'hourly_sums', 'mixed'] as const
type EnergyTodaySource = (typeof energyTodaySources)[number]

export const energyToday = {
  energy_today_kwh: field.FromZeroOrNull(
    'Energy since local midnight, kWh: the rise of the energy counter since its last value of ' +
      'the two days before, else since its first value of today, including overflows. The sum of ' +
      "today's hourly energy after a reset of the counter or an exchange of the inverter, if the " +
      'counter stood still while power was measured, or if it rose across midnight without ' +
      'readings. Sums cover the inverters whose energy is known.',
    1240.8,
  ),
  energy_source: field.OneOfOrNull(
    energyTodaySources,
    'Source of `energy_today_kwh`. `hourly_sums`: the hourly energy, from the counter or, ' +
      'after a reset or standstill, from integrated power. `mixed`: different sources for ' +
      'different inverters.',
    'inverter_counter',
  ),
}

interface EnergyToday {
  energy_today_kwh: number | null
  energy_source: EnergyTodaySource | null
}

/** The energy counter now and at the start of the day. */
export interface DayCounter {
  rated_ac_power_kw: number
  measured_at: Date | null
  energy_total_kwh: number | null
  /** Null also when the counter rose across midnight without readings, or is another one since. */
  day_first_at: Date | null
  day_first_energy_kwh: number | null
  /** Energy of the hours since; null when the counter suffices and they were not read. */
  day_hours_energy_kwh: number | null
}

const unknown: EnergyToday = { energy_today_kwh: null, energy_source: null }

/** The energy of one inverter; unknown, not 0, without a reading since midnight. */
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

/** Hourly energy exceeds the counter only if the counter stood still and power replaced it. */
function isBehind(counter_kwh: number, hours_kwh: number | null): boolean {
  return hours_kwh !== null && hours_kwh > 1.02 * counter_kwh + 1
}

export function energyTodaySum(parts: readonly EnergyToday[]): EnergyToday {
  const sources = new Set(parts.flatMap(({ energy_source }) => energy_source ?? []))
  const [source = null] = sources
  return {
    energy_today_kwh: sumKnown(parts.map(({ energy_today_kwh }) => energy_today_kwh)),
    energy_source: sources.size > 1 ? 'mixed' : source,
  }
}

/** The sum of the known values; null if none is known. */
export function sumKnown(values: Iterable<number | null>): number | null {
  let sum: number | null = null
  for (const value of values) if (value !== null) sum = (sum ?? 0) + value
  return significant(sum)
}

/** The sum; null unless every value is known, and for none. */
export function sumAll(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : sumKnown(values)
}
