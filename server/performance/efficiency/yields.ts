/**
 * Yields, performance ratios and availability from hourly sums, in the terms of IEC 61724-1: final
 * yield Yf, reference yield Yr, array yield YA, performance ratio Yf / Yr.
 */
import { rounded } from '@heliograph/domain/significant'
import { coverageOf, excludedReason, type Period, periodHours } from '../period.ts'
import { type InverterSum, inverterSums } from '../rollups/inverter-hour.ts'

export interface Sums extends Record<InverterSum, number> {
  /** Energy of the counters over gaps in the readings; not part of the other sums. */
  gap_energy_kwh: number
}

interface Rated {
  dc_capacity_kwp: number
  rated_ac_power_kw: number
}

export type Yields = ReturnType<typeof yieldsOf>

/** A higher ratio is impossible: the irradiance sensor is covered or wrong. */
const performance_ratio_max = 1.1
/** AC and DC power are sampled at different times, so that a small excess is plausible. */
export const efficiency_max = 1.02
/** Minimum insolation for a ratio: more than a few minutes of dawn. */
const insolation_min_kwh_m2 = 0.05
/** Share of the daylight from which a sum counts as complete. */
const whole_ratio = 0.95

/** `devices` is the number of inverters in `sums`; each can cover the whole daylight. */
export function yieldsOf(sums: Sums, rated: Rated, period: Period, devices: number) {
  const daylight_s = period.daylight_s === null ? null : period.daylight_s * devices
  const coverage = coverageOf(sums.daylight_covered_s, daylight_s)
  const excluded_reason = excludedReason(coverage)
  const sun = excludedReason(coverageOf(sums.sun_covered_s, daylight_s)) === null
  const known = excluded_reason === null
  const per_kwp = (energy_kwh: number) => rounded(energy_kwh / rated.dc_capacity_kwp, 4)
  const energy_kwh = known ? sums.ac_energy_kwh + sums.gap_energy_kwh : null
  // The insolation of several inverters is their mean by capacity; see `combined`.
  const reference = sun ? sums.insolation_kwh_m2 : null
  const ratios = known ? ratiosOf(sums, rated) : noRatios
  const dc_known = known && sums.dc_energy_kwh > 0
  // A difference of two yields requires nearly complete data of both.
  const is_whole = [sums.daylight_covered_s, sums.sun_covered_s].every(
    (covered_s) => (coverageOf(covered_s, daylight_s) ?? 0) >= whole_ratio,
  )
  const hours = periodHours(period)
  return {
    completeness_pct: coverage === null ? null : rounded(100 * coverage, 2),
    excluded_reason,
    energy_kwh: rounded(energy_kwh, 3),
    dc_energy_kwh: dc_known ? rounded(sums.dc_energy_kwh, 3) : null,
    expected_energy_kwh: sun ? rounded(sums.expected_energy_kwh, 3) : null,
    specific_yield_kwh_kwp: energy_kwh === null ? null : per_kwp(energy_kwh),
    reference_yield_kwh_kwp: rounded(reference, 4),
    array_yield_kwh_kwp: dc_known ? per_kwp(sums.dc_energy_kwh) : null,
    capture_loss_kwh_kwp:
      dc_known && reference !== null && is_whole
        ? rounded(reference - sums.dc_energy_kwh / rated.dc_capacity_kwp, 4)
        : null,
    system_loss_kwh_kwp: dc_known ? per_kwp(sums.dc_energy_kwh - sums.ac_energy_kwh) : null,
    poa_insolation_kwh_m2: rounded(reference, 4),
    ...ratios,
    capacity_factor_pct:
      energy_kwh === null || hours <= 0
        ? null
        : rounded((100 * energy_kwh) / (rated.rated_ac_power_kw * hours), 3),
    availability_time_pct:
      known && sums.demanded_s > 0 ? rounded(100 * (1 - sums.down_s / sums.demanded_s), 3) : null,
    availability_energy_pct:
      known && sun && sums.ac_energy_kwh + sums.downtime_loss_kwh > 0
        ? rounded((100 * sums.ac_energy_kwh) / (sums.ac_energy_kwh + sums.downtime_loss_kwh), 3)
        : null,
    curtailed_energy_kwh: known && sun ? rounded(sums.curtailment_loss_kwh, 3) : null,
  }
}

const noRatios = {
  performance_ratio_pct: null,
  performance_ratio_temp_corrected_pct: null,
  performance_ratio_uncurtailed_pct: null,
  energy_performance_index_pct: null,
  suspect_sensors: [] as 'irradiance'[],
}

/**
 * Ratios of energy to insolation over the same instants. The temperature is corrected to 25 °C (IEC
 * 61724-1, PR at STC), because a correction to the mean temperature of the window has no effect.
 */
function ratiosOf(sums: Sums, { dc_capacity_kwp }: Rated) {
  const pct = (value: number) => rounded(100 * value, 3)
  const ratio = (ac_kwh: number, sun_kwh_m2: number) =>
    sun_kwh_m2 >= insolation_min_kwh_m2 ? ac_kwh / (sun_kwh_m2 * dc_capacity_kwp) : null
  const performance = ratio(sums.reference_ac_kwh, sums.reference_kwh_m2)
  if (performance !== null && performance > performance_ratio_max) {
    return { ...noRatios, suspect_sensors: ['irradiance' as const] }
  }
  const warm = ratio(sums.warm_reference_ac_kwh, sums.warm_reference_kwh_m2)
  const uncurtailed = ratio(
    sums.reference_ac_kwh - sums.curtailed_reference_ac_kwh,
    sums.reference_kwh_m2 - sums.curtailed_reference_kwh_m2,
  )
  return {
    performance_ratio_pct: performance === null ? null : pct(performance),
    performance_ratio_temp_corrected_pct: warm === null ? null : pct(warm),
    performance_ratio_uncurtailed_pct: uncurtailed === null ? null : pct(uncurtailed),
    energy_performance_index_pct:
      sums.reference_expected_kwh > 0
        ? rounded((100 * sums.reference_ac_kwh) / sums.reference_expected_kwh, 3)
        : null,
    suspect_sensors: noRatios.suspect_sensors,
  }
}

const perArea = [
  'insolation_kwh_m2',
  'reference_kwh_m2',
  'warm_reference_kwh_m2',
  'curtailed_reference_kwh_m2',
] as const satisfies readonly InverterSum[]

/**
 * Combines the sums of several inverters: energies and times add up, insolation is the mean by
 * capacity. Inverters without met station data do not count for `insolation_kwh_m2`.
 */
export function combined(parts: readonly (Rated & Sums)[]): Rated & Sums {
  const total = { ...emptySums(), dc_capacity_kwp: 0, rated_ac_power_kw: 0 }
  let irradiance_kwp = 0
  for (const part of parts) {
    for (const name of inverterSums) {
      total[name] += part[name] * (perArea.includes(name as never) ? part.dc_capacity_kwp : 1)
    }
    total.gap_energy_kwh += part.gap_energy_kwh
    total.dc_capacity_kwp += part.dc_capacity_kwp
    total.rated_ac_power_kw += part.rated_ac_power_kw
    if (part.sun_covered_s > 0) irradiance_kwp += part.dc_capacity_kwp
  }
  for (const name of perArea) {
    const capacity_kwp = name === 'insolation_kwh_m2' ? irradiance_kwp : total.dc_capacity_kwp
    total[name] = capacity_kwp > 0 ? total[name] / capacity_kwp : 0
  }
  return total
}

export const emptySums = () =>
  Object.fromEntries(
    [...inverterSums, 'gap_energy_kwh'].map((name) => [name, 0]),
  ) as unknown as Sums
