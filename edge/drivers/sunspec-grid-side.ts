/** What SunSpec devices tell of their side to the grid, inverters and PCS alike. */
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import type { models } from '@heliograph/domain/sunspec/models'

export type PointsOf<Id extends keyof typeof models> = Decoded<(typeof models)[Id]>['values']

export function kilo(value: number | null): number | null {
  return value === null ? null : value / 1000
}

export const classicGridSide = (points: PointsOf<103 | 113>) => ({
  ac_power_kw: kilo(points.W),
  reactive_power_kvar: kilo(points.VAr),
  apparent_power_kva: kilo(points.VA),
  power_factor: points.PF === null ? null : points.PF / 100,
  frequency_hz: points.Hz,
  voltage_l1_l2_v: points.PPVphAB,
  voltage_l2_l3_v: points.PPVphBC,
  voltage_l3_l1_v: points.PPVphCA,
  current_l1_a: points.AphA,
  current_l2_a: points.AphB,
  current_l3_a: points.AphC,
  cabinet_temperature_c: points.TmpCab,
  heatsink_temperature_c: points.TmpSnk,
  transformer_temperature_c: points.TmpTrns,
  alarm_1: points.Evt1,
  alarm_2: points.EvtVnd1,
  alarm_3: points.EvtVnd2,
  alarm_4: points.EvtVnd3,
  alarm_5: points.EvtVnd4,
})

/** How many phases and lines an ACType of model 701 has: single, split and three-phase. */
const wirings: Readonly<Record<number, { phases: number; lines: number }>> = {
  0: { phases: 1, lines: 0 },
  1: { phases: 2, lines: 1 },
  2: { phases: 3, lines: 3 },
}

type Phases = readonly [number | null, number | null, number | null]

/** What was measured of each phase; where that is nothing, `average` for the first `count`. */
function phasesOr(measured: Phases, average: number | null, count: number): Phases {
  if (measured.some((value) => value !== null)) return measured
  const of = (nth: number) => (nth < count ? average : null)
  return [of(0), of(1), of(2)]
}

/**
 * Voltages and currents by phase. Of a device that measures no phase apart, its averages (LLV, LNV)
 * stand for each of them, and its total current is shared equally.
 */
function derPhases(points: PointsOf<701>) {
  const { phases, lines } = wirings[points.ACType ?? -1] ?? { phases: 0, lines: 0 }
  const { VL1L2, VL2L3, VL3L1, VL1, VL2, VL3, AL1, AL2, AL3, LLV, LNV, A } = points
  const phase_a = A === null || phases === 0 ? null : A / phases
  return {
    line: phasesOr([VL1L2, VL2L3, VL3L1], LLV, lines),
    neutral: phasesOr([VL1, VL2, VL3], LNV, phases),
    current: phasesOr([AL1, AL2, AL3], phase_a, phases),
  }
}

/** Model 701 without the phases to neutral, which only inverters report. */
export const derGridSide = (points: PointsOf<701>) => {
  const { line, current } = derPhases(points)
  return {
    ac_power_kw: kilo(points.W),
    reactive_power_kvar: kilo(points.Var),
    apparent_power_kva: kilo(points.VA),
    power_factor: points.PF,
    frequency_hz: points.Hz,
    voltage_l1_l2_v: line[0],
    voltage_l2_l3_v: line[1],
    voltage_l3_l1_v: line[2],
    current_l1_a: current[0],
    current_l2_a: current[1],
    current_l3_a: current[2],
    cabinet_temperature_c: points.TmpCab,
    heatsink_temperature_c: points.TmpSnk,
    transformer_temperature_c: points.TmpTrns,
    alarm_1: points.Alrm,
  }
}

export const derToNeutral = (points: PointsOf<701>) => {
  const { neutral } = derPhases(points)
  return {
    voltage_l1_n_v: neutral[0],
    voltage_l2_n_v: neutral[1],
    voltage_l3_n_v: neutral[2],
  }
}
