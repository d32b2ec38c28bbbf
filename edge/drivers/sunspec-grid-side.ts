import { columnsFrom, derGridSide, type PointsOf } from '@heliograph/domain/sunspec/grid-side'

export function kilo(value: number | null): number | null {
  return value === null ? null : value / 1000
}

/** Number of phases and lines by ACType of model 701: single, split and three-phase. */
const wirings: Readonly<Record<number, { phases: number; lines: number }>> = {
  0: { phases: 1, lines: 0 },
  1: { phases: 2, lines: 1 },
  2: { phases: 3, lines: 3 },
}

type Phases = readonly [number | null, number | null, number | null]

/** The measured phases; if there are none, `average` for the first `count` of them. */
function phasesOr(measured: Phases, average: number | null, count: number): Phases {
  if (measured.some((value) => value !== null)) return measured
  const of = (nth: number) => (nth < count ? average : null)
  return [of(0), of(1), of(2)]
}

/**
 * Voltages and currents by phase. If a device does not measure single phases, its averages (LLV,
 * LNV) stand for each of them, and its total current is shared equally.
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

/** Model 701 without the voltages to neutral, which only inverters report. */
export function derValues(points: PointsOf<701>) {
  const { line, current } = derPhases(points)
  return {
    ...columnsFrom(derGridSide, points),
    voltage_l1_l2_v: line[0],
    voltage_l2_l3_v: line[1],
    voltage_l3_l1_v: line[2],
    current_l1_a: current[0],
    current_l2_a: current[1],
    current_l3_a: current[2],
  }
}

export function derToNeutral(points: PointsOf<701>) {
  const { neutral } = derPhases(points)
  return { voltage_l1_n_v: neutral[0], voltage_l2_n_v: neutral[1], voltage_l3_n_v: neutral[2] }
}
