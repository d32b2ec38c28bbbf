/**
 * What a lithium-ion cell is by its chemistry: open-circuit voltage and resistance by state of
 * charge and temperature. Per ampere-hour of capacity: a larger cell is more of the same electrode.
 */
import type { Battery } from '@heliograph/domain/battery'

export interface CellCurves {
  /** At `grid_steps + 1` equal steps of the state of charge, 0 to 1. */
  open_circuit_v: Float64Array
  /** Stored above empty, Wh per Ah of capacity. */
  energy_wh_per_ah: Float64Array
  /** At 25 °C: ohms times Ah. */
  resistance_ohm_ah: Float64Array
  /** Mean of the open-circuit voltage from empty to full. */
  nominal_v: number
  /** Where the battery management stops charging and discharging. */
  operating_v: { min: number; max: number }
  /** What a cell may never see. */
  hard_v: { min: number; max: number }
  /** Arrhenius: how the resistance falls with temperature. */
  activation_k: number
  /** Charge that comes back of what went in. */
  coulombic_efficiency: number
  /** Passive balancing waits for this: below, the curve is too flat to tell cells apart. */
  balances_above_v: number
}

export const grid_steps = 400
const reference_k = 298.15
export const zero_c_in_k = 273.15

type Points = readonly (readonly [soc: number, value: number])[]

/**
 * LiFePO4 against graphite, Sony US26650FTC1: M. Naumann, "Techno-economic evaluation of stationary
 * lithium-ion energy storage systems with special consideration of aging", PhD thesis, TU Munich,
 * 2018; published with SimSES (M. Möller et al., Journal of Energy Storage 49, 2022).
 */
const lfp_open_circuit: Points = [
  [0, 2.2862],
  [0.005, 2.6835],
  [0.01, 2.7833],
  [0.015, 2.847],
  [0.02, 2.8952],
  [0.03, 2.9673],
  [0.04, 3.0213],
  [0.05, 3.0647],
  [0.06, 3.1008],
  [0.07, 3.1317],
  [0.08, 3.1583],
  [0.09, 3.181],
  [0.1, 3.1967],
  [0.12, 3.2056],
  [0.15, 3.212],
  [0.18, 3.2241],
  [0.2, 3.2343],
  [0.25, 3.2547],
  [0.3, 3.2703],
  [0.35, 3.2826],
  [0.4, 3.2921],
  [0.45, 3.2973],
  [0.5, 3.2995],
  [0.55, 3.3014],
  [0.6, 3.3035],
  [0.65, 3.3063],
  [0.7, 3.3108],
  [0.75, 3.3185],
  [0.78, 3.3275],
  [0.8, 3.3345],
  [0.82, 3.3381],
  [0.85, 3.3403],
  [0.9, 3.3425],
  [0.95, 3.3447],
  [0.97, 3.3463],
  [0.98, 3.3487],
  [0.985, 3.3522],
  [0.99, 3.3618],
  [0.995, 3.3963],
  [1, 3.5305],
]

/** The same source: 3 Ah times the mean of charging and discharging at 25 °C. */
const lfp_resistance: Points = [
  [0, 0.149],
  [0.1, 0.149],
  [0.2, 0.138],
  [0.3, 0.135],
  [0.4, 0.14],
  [0.5, 0.139],
  [0.6, 0.138],
  [0.7, 0.137],
  [0.8, 0.14],
  [0.9, 0.144],
  [1, 0.144],
]

/**
 * LiNiMnCoO2 against graphite, Samsung 94 Ah: N. Collath et al., "Suitability of late-life
 * lithium-ion cells for battery energy storage systems", Journal of Energy Storage 87, 2024.
 */
function nmcOpenCircuit(soc: number): number {
  const step = (height: number, slope: number, middle: number) =>
    height / (1 + Math.exp(slope * (soc - middle)))
  return (
    4.5868 +
    step(3.1768, 3.3479, 0.635) +
    step(-3.8418, -6.7241, 1.4376) +
    step(-4.6932, 2.5958, 1) +
    step(0.3618, -61.9684, 0) +
    0.9949 * soc
  )
}

/** The same source: 0.819 mΩ of 94 Ah. */
const nmc_resistance_ohm_ah = 0.077

const lfp = curves({
  openCircuit: (soc) => between(lfp_open_circuit, soc),
  resistance: (soc) => between(lfp_resistance, soc),
  operating_v: { min: 2.2, max: 3.55 },
  hard_v: { min: 2, max: 3.65 },
  balances_above_v: 3.36,
})

const nmc = curves({
  openCircuit: nmcOpenCircuit,
  resistance: () => nmc_resistance_ohm_ah,
  operating_v: { min: 2.9, max: 4.15 },
  hard_v: { min: 2.7, max: 4.25 },
  balances_above_v: 3.8,
})

interface Cell {
  openCircuit: (soc: number) => number
  resistance: (soc: number) => number
  operating_v: CellCurves['operating_v']
  hard_v: CellCurves['hard_v']
  balances_above_v: number
}

function curves({ openCircuit, resistance, ...limits }: Cell): CellCurves {
  const grid = Float64Array.from({ length: grid_steps + 1 }, (_, step) => step / grid_steps)
  const open_circuit_v = grid.map(openCircuit)
  const energy_wh_per_ah = new Float64Array(grid_steps + 1)
  for (let step = 0; step < grid_steps; step += 1) {
    const mean_v = (open_circuit_v[step]! + open_circuit_v[step + 1]!) / 2
    energy_wh_per_ah[step + 1] = energy_wh_per_ah[step]! + mean_v / grid_steps
  }
  return {
    open_circuit_v,
    energy_wh_per_ah,
    resistance_ohm_ah: grid.map(resistance),
    nominal_v: energy_wh_per_ah[grid_steps]!,
    ...limits,
    // 15 kJ/mol: what the resistances of Naumann's thesis at 10, 25 and 40 °C lie on.
    activation_k: 1800,
    // A. J. Smith, J. C. Burns, J. R. Dahn, Electrochemical and Solid-State Letters 13(12), 2010:
    // good cells reach 99.9 % and more.
    coulombic_efficiency: 0.999,
  }
}

/** Between the points of a curve, straight; beyond its ends, what stands there. */
export function between(points: Points, at: number): number {
  let next = 0
  while (next < points.length - 1 && points[next]![0] < at) next += 1
  const [x1, y1] = points[next]!
  const [x0, y0] = points[Math.max(0, next - 1)]!
  if (at >= x1) return y1
  return x1 === x0 ? y1 : y0 + ((y1 - y0) * (at - x0)) / (x1 - x0)
}

/** @throws {Error} for a chemistry that there are no curves of */
export function curvesOf({ bess_id, chemistry }: Pick<Battery, 'bess_id' | 'chemistry'>) {
  if (chemistry === 'lfp') return lfp
  if (chemistry === 'nmc') return nmc
  throw new Error(`battery ${bess_id}: the simulator has cells of lfp and nmc, not ${chemistry}`)
}

/** How many times the resistance of 25 °C. */
export const coldRatio = ({ activation_k }: CellCurves, temperature_c: number): number =>
  Math.exp(activation_k * (1 / (temperature_c + zero_c_in_k) - 1 / reference_k))

/** Open-circuit voltage; beyond empty and full the curve goes on straight. */
export function openCircuitVoltage({ open_circuit_v }: CellCurves, soc: number): number {
  const step = stepOf(soc)
  const low_v = open_circuit_v[step]!
  return low_v + (soc * grid_steps - step) * (open_circuit_v[step + 1]! - low_v)
}

/** Stored above empty, Wh per Ah of capacity: the integral of the open-circuit voltage. */
export function storedEnergy(curve: CellCurves, soc: number): number {
  const { open_circuit_v, energy_wh_per_ah } = curve
  const step = stepOf(soc)
  const part = soc * grid_steps - step
  const low_v = open_circuit_v[step]!
  const rise_v = open_circuit_v[step + 1]! - low_v
  return energy_wh_per_ah[step]! + (part * (low_v + (part * rise_v) / 2)) / grid_steps
}

const stepOf = (soc: number): number =>
  soc <= 0 ? 0 : soc >= 1 ? grid_steps - 1 : Math.floor(soc * grid_steps)
