/**
 * A lithium-ion cell as a source behind a resistance,
 *
 *     V = OCV(soc) + entropy (T - 25 C) - I R(soc, T)        I is positive when it discharges,
 *
 * in the steady state, that is after the seconds to minutes in which the polarisation builds up.
 *
 * How far to trust it. Each open circuit voltage is that of one cell of its chemistry in one
 * laboratory; those of other makers differ, most where the definition of empty and full does. The
 * resistance is scaled from that of the user's cell, its shape is again that of one cell (of NMC
 * it is the same at any charge, and its temperature is taken as that of LFP), and beyond the
 * temperatures of the measurement it is held, which is too optimistic in the cold. That
 * is enough to simulate the power, losses and voltages of a plant, not to predict those of a given
 * product, and state of charge must not be estimated from it. Hysteresis, which is marked in LFP,
 * transients, ageing and self-discharge are not in it.
 */
import {
  type Chemistry,
  cellCurves,
  coldRatio,
  restResistance,
  restVoltage,
  zero_c_in_k,
} from './cell-curves.ts'

export interface BatteryCell {
  chemistry: Chemistry
  /** Charge between empty and full, above 0. */
  capacity_ah: number
  /** Of a discharge over some minutes at half charge and 25 Celsius, 0 and more. */
  resistance_ohm: number
  /** Share of the charge put in that is stored, above 0 to 1; close to 1 in lithium-ion. */
  coulombic_efficiency_ratio: number
  /** Change of the open circuit voltage with temperature, either sign; 0 where not known. */
  entropy_v_per_k: number
}

export interface CellState {
  /** 0 empty to 1 full; held to that. */
  soc_ratio: number
  temperature_c: number
}

const reference_c = 25

/** Temperatures at which the resistances of the curves were measured. */
const measured_c = { coldest: 10, warmest: 40 }

const heldSoc = ({ soc_ratio }: CellState) => Math.min(1, Math.max(0, soc_ratio))

/** Voltage at rest, V: rises with the state of charge. Papers at the curves. */
export function openCircuitVoltage(cell: BatteryCell, state: CellState): number {
  const warming_v = cell.entropy_v_per_k * (state.temperature_c - reference_c)
  return restVoltage(cellCurves[cell.chemistry], heldSoc(state)) + warming_v
}

/**
 * Resistance, ohm: that of the cell by the shape of its chemistry. Temperature is held to that of
 * the measurement, 10 to 40 Celsius.
 */
export function cellResistance(cell: BatteryCell, state: CellState): number {
  const curve = cellCurves[cell.chemistry]
  const held_c = Math.min(measured_c.warmest, Math.max(measured_c.coldest, state.temperature_c))
  const by_charge = restResistance(curve, heldSoc(state)) / restResistance(curve, 0.5)
  return cell.resistance_ohm * by_charge * coldRatio(curve, held_c)
}

/** Voltage at the terminals, V, at a current, A; positive current discharges. */
export function terminalVoltage(cell: BatteryCell, state: CellState, current_a: number): number {
  return openCircuitVoltage(cell, state) - current_a * cellResistance(cell, state)
}

/**
 * The most that the cell can deliver at all, W, at half its voltage at rest: without bound where it
 * has no resistance. What its maker permits is far below.
 */
export function deliverablePower(cell: BatteryCell, state: CellState): number {
  const rest_v = openCircuitVoltage(cell, state)
  return (rest_v * rest_v) / (4 * cellResistance(cell, state))
}

/**
 * Current, A, at which the terminals give (positive) or take (negative) a power, W: the smaller
 * root of R I^2 - OCV I + P = 0. Null above `deliverablePower`; any power can be taken, at a
 * voltage that grows with it, so what the cell bears is for the caller to limit.
 */
export function currentAtPower(
  cell: BatteryCell,
  state: CellState,
  power_w: number,
): number | null {
  if (power_w > deliverablePower(cell, state)) return null
  const rest_v = openCircuitVoltage(cell, state)
  // At the most that it can deliver this is nothing, but for the last bit.
  const square = Math.max(0, rest_v * rest_v - 4 * cellResistance(cell, state) * power_w)
  // Divided through, the root stays exact for small powers and without resistance.
  return (2 * power_w) / (rest_v + Math.sqrt(square))
}

/**
 * Charge stored by a current, A: what is put in is lost by the coulombic efficiency, what is drawn
 * is not. Negative when it discharges.
 */
function storedCurrent(cell: BatteryCell, current_a: number): number {
  return current_a < 0 ? -current_a * cell.coulombic_efficiency_ratio : -current_a
}

/**
 * Chemical power into the cell, W, negative when it discharges: stored charge at the voltage at
 * rest, less the part of that voltage that comes as heat from outside. `-I V = stored + heat`,
 * always.
 */
export function storedPower(cell: BatteryCell, state: CellState, current_a: number): number {
  const enthalpy_v = openCircuitVoltage(cell, state) - reversibleVoltage(cell, state)
  return storedCurrent(cell, current_a) * enthalpy_v
}

/**
 * Heat of the cell, W: resistance, charge lost, and the reversible heat of reaction, by which it
 * may be negative at small currents. D. Bernardi, E. Pawlikowski and J. Newman, "A general energy
 * balance for battery systems", Journal of the Electrochemical Society 132(1), 1985.
 */
export function heatPower(cell: BatteryCell, state: CellState, current_a: number): number {
  const stored_a = storedCurrent(cell, current_a)
  const lost_a = -current_a - stored_a
  return (
    current_a * (current_a * cellResistance(cell, state)) +
    lost_a * openCircuitVoltage(cell, state) +
    stored_a * reversibleVoltage(cell, state)
  )
}

/** Temperature times entropy coefficient. */
function reversibleVoltage(cell: BatteryCell, state: CellState): number {
  return (state.temperature_c + zero_c_in_k) * cell.entropy_v_per_k
}

/**
 * State of charge after a current, A, for a time, s; held to 0 to 1, where a real cell is beyond
 * its voltage limits and its management opens the contactor.
 */
export function socAfter(
  cell: BatteryCell,
  state: CellState,
  current_a: number,
  duration_s: number,
): number {
  const stored_ah = (storedCurrent(cell, current_a) * duration_s) / 3600
  return Math.min(1, Math.max(0, heldSoc(state) + stored_ah / cell.capacity_ah))
}
