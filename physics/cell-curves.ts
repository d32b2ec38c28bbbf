/**
 * What a lithium-ion cell is by its chemistry: voltage at rest and resistance by state of charge
 * and temperature, measured on cells as stationary storage is built of. Per ampere-hour of
 * capacity: a larger cell is more of the same electrode.
 */

export type Chemistry = 'lfp' | 'nmc'

export interface CellCurves {
  /** At `grid_steps + 1` equal steps of the state of charge, 0 to 1, at 25 Celsius. */
  open_circuit_v: Float64Array
  /** Stored above empty, Wh per Ah of capacity. */
  energy_wh_per_ah: Float64Array
  /** At 25 Celsius: ohms times Ah. */
  resistance_ohm_ah: Float64Array
  /** Mean of the open-circuit voltage from empty to full. */
  nominal_v: number
  /** Arrhenius: how the resistance falls with temperature. */
  activation_k: number
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

/** The same source: 3 Ah times the mean of charging and discharging at 25 Celsius. */
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

/** 15 kJ/mol: what the resistances of Naumann's thesis at 10, 25 and 40 Celsius lie on. */
const activation_k = 1800

export const cellCurves: Readonly<Record<Chemistry, CellCurves>> = {
  lfp: curves({
    openCircuit: (soc) => between(lfp_open_circuit, soc),
    resistance: (soc) => between(lfp_resistance, soc),
  }),
  nmc: curves({ openCircuit: nmcOpenCircuit, resistance: () => nmc_resistance_ohm_ah }),
}

function curves({
  openCircuit,
  resistance,
}: Record<'openCircuit' | 'resistance', (soc: number) => number>): CellCurves {
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
    activation_k,
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

/** How many times the resistance of 25 Celsius. */
export const coldRatio = ({ activation_k }: CellCurves, temperature_c: number): number =>
  Math.exp(activation_k * (1 / (temperature_c + zero_c_in_k) - 1 / reference_k))

/** Open-circuit voltage; beyond empty and full the curve goes on straight. */
export function restVoltage({ open_circuit_v }: CellCurves, soc: number): number {
  const step = stepOf(soc)
  const low_v = open_circuit_v[step]!
  return low_v + (soc * grid_steps - step) * (open_circuit_v[step + 1]! - low_v)
}

/** Ohms times Ah at 25 Celsius, 0 to 1 of charge. */
export function restResistance({ resistance_ohm_ah }: CellCurves, soc: number): number {
  const step = stepOf(soc)
  const low = resistance_ohm_ah[step]!
  return low + (soc * grid_steps - step) * (resistance_ohm_ah[step + 1]! - low)
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
