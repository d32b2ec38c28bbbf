/** Energy losses between the strings and the grid. */
import { rounded } from '@heliograph/domain/significant'
import { coverageOf, excludedReason, type Period } from '../period.ts'
import { type InverterHour, load_bin_count } from '../rollups/inverter-hour.ts'
import { efficiency_max, type Sums } from './yields.ts'

/** Sums by tenths of the DC rating. */
export type LoadSums = Pick<InverterHour, 'load_s' | 'load_dc_kwh' | 'load_ac_kwh'>

type LoadBin = ReturnType<typeof loadBins>[number]

/** AC over DC energy, %; null without DC energy or when physically impossible. */
export function efficiencyPct(ac_kwh: number, dc_kwh: number): number | null {
  const ratio = dc_kwh > 0 ? ac_kwh / dc_kwh : null
  return ratio === null || ratio > efficiency_max ? null : rounded(100 * ratio, 3)
}

export const loadBins = ({ load_s, load_dc_kwh, load_ac_kwh }: LoadSums) =>
  Array.from({ length: load_bin_count }, (_, bin) => ({
    load_from_pct: bin * 10,
    load_to_pct: (bin + 1) * 10,
    // Unknown when the inverter delivered no readings.
    duration_h: load_s.length === 0 ? null : rounded(load_s[bin]! / 3600, 3),
    efficiency_pct: efficiencyPct(load_ac_kwh[bin] ?? 0, load_dc_kwh[bin] ?? 0),
  }))

/** Loads of the European efficiency and their weights: EN 50530, annex D. */
const european: readonly [load_pct: number, weight: number][] = [
  [5, 0.03],
  [10, 0.06],
  [20, 0.13],
  [30, 0.1],
  [50, 0.48],
  [100, 0.2],
]

/**
 * European efficiency as measured: weighted mean of the efficiencies of the bins around its loads.
 * Null while one of these bins has no data.
 */
export function europeanEfficiencyPct(bins: readonly LoadBin[]): number | null {
  let sum = 0
  for (const [load_pct, weight] of european) {
    const bin = bins[Math.min(load_bin_count - 1, Math.floor(load_pct / 10))]
    if (bin?.efficiency_pct == null) return null
    sum += weight * bin.efficiency_pct
  }
  return rounded(sum, 3)
}

export type Losses = ReturnType<typeof lossesOf>

/** `has_efficiency`: whether the inventory states the nominal efficiency. */
export function lossesOf(sums: Sums, has_efficiency: boolean, period: Period) {
  const coverage = coverageOf(sums.daylight_covered_s, period.daylight_s)
  const excluded_reason = excludedReason(coverage)
  const known = excluded_reason === null
  const sun = known && excludedReason(coverageOf(sums.sun_covered_s, period.daylight_s)) === null
  const { conversion_dc_kwh: dc_kwh, conversion_ac_kwh: ac_kwh } = sums
  const is_suspect = known && dc_kwh > 0 && ac_kwh / dc_kwh > efficiency_max
  const converts = known && dc_kwh > 0 && !is_suspect
  const expected = converts && has_efficiency ? sums.conversion_expected_kwh / dc_kwh : null
  const kwh = (value: number) => rounded(value, 3)
  return {
    completeness_pct: coverage === null ? null : rounded(100 * coverage, 2),
    excluded_reason,
    dc_energy_kwh: known && dc_kwh > 0 ? kwh(dc_kwh) : null,
    ac_energy_kwh: known && dc_kwh > 0 ? kwh(ac_kwh) : null,
    conversion_loss_kwh: converts ? kwh(dc_kwh - ac_kwh) : null,
    conversion_loss_pct: converts ? rounded(100 * (1 - ac_kwh / dc_kwh), 3) : null,
    conversion_efficiency_pct: converts ? efficiencyPct(ac_kwh, dc_kwh) : null,
    expected_efficiency_pct: expected === null ? null : rounded(100 * expected, 3),
    excess_loss_kwh: expected === null ? null : kwh(sums.conversion_expected_kwh - ac_kwh),
    clipping_loss_kwh: sun ? kwh(sums.clipping_loss_kwh) : null,
    curtailment_loss_kwh: sun ? kwh(sums.curtailment_loss_kwh) : null,
    downtime_loss_kwh: sun ? kwh(sums.downtime_loss_kwh) : null,
    derating_loss_kwh: sun ? kwh(sums.derating_loss_kwh) : null,
    // Measured at night: the daylight coverage does not apply.
    night_consumption_kwh: sums.covered_s > 0 ? kwh(sums.night_consumption_kwh) : null,
    suspect_sensors: is_suspect ? ['dc_power' as const] : [],
  }
}
