/**
 * A lithium-ion cell as a source behind a resistance,
 *
 *     V = OCV(soc) + entropy (T - 25 C) - I R(soc, T)        I is positive when it discharges,
 *
 * in the steady state, that is after the seconds to minutes in which the polarisation builds up.
 *
 * How far to trust it. Each open circuit voltage is a fit to one cell of its chemistry in one
 * laboratory; those of other makers differ, most where the definition of empty and full does. The
 * resistance is scaled from that of the user's cell, its shape is again that of one cell, and
 * beyond the temperatures of the measurement it is held, which is too optimistic in the cold. That
 * is enough to simulate the power, losses and voltages of a plant, not to predict those of a given
 * product, and state of charge must not be estimated from it. Hysteresis, which is marked in LFP,
 * transients, ageing and self-discharge are not in it.
 */

export type Chemistry = 'lfp' | 'nmc'

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

interface Curves {
  /** At 25 Celsius, rising over 0 to 1. */
  openCircuitVoltage(soc: number): number
  /** In any unit: only the ratio to that at half charge and 25 Celsius is used. */
  resistance(soc: number, temperature_c: number): number
  /** Temperatures of the measurement. */
  coldest_c: number
  warmest_c: number
}

const chemistries: Record<Chemistry, Curves> = {
  lfp: {
    openCircuitVoltage: lfpVoltage,
    resistance: lfpResistance,
    coldest_c: 15,
    warmest_c: 45,
  },
  nmc: {
    openCircuitVoltage: nmcVoltage,
    resistance: nmcResistance,
    coldest_c: 5,
    warmest_c: 40,
  },
}

/**
 * Graphite and iron phosphate, 2.71 to 3.42 V. Potentials of both electrodes: M. Safari and
 * C. Delacourt, "Modeling of a commercial graphite/LiFePO4 cell", Journal of the Electrochemical
 * Society 158(5), 2011. How far each is filled when empty and full: as public models of stationary
 * storage have it (0.0085 to 0.78 and 0.916 to 0.045), which was not checked against print;
 * another 0.03 moves the ends of the curve by 0.1 to 0.2 V, the plateau by millivolts.
 */
function lfpVoltage(soc: number): number {
  const x = 0.0085 + (0.78 - 0.0085) * soc
  const negative_v =
    0.6379 +
    0.5416 * Math.exp(-305.5309 * x) -
    0.044 * Math.tanh((x - 0.1958) / 0.1088) -
    0.1978 * Math.tanh((x - 1.0571) / 0.0854) -
    0.6875 * Math.tanh((x + 0.0117) / 0.0529) -
    0.0175 * Math.tanh((x - 0.5692) / 0.0875)
  const free = 1 - (0.916 + (0.045 - 0.916) * soc)
  const positive_v =
    3.4323 -
    0.8428 * Math.exp(-80.2493 * free ** 1.3198) -
    3.2474e-6 * Math.exp(20.2645 * free ** 3.8003) +
    3.2482e-6 * Math.exp(20.2646 * free ** 3.7995)
  return positive_v - negative_v
}

/**
 * Graphite with silicon oxide and NMC 811, 2.50 to 4.19 V. C.-H. Chen et al., "Development of
 * experimental techniques for parameterization of multi-scale lithium-ion battery models", Journal
 * of the Electrochemical Society 167(8), 2020, with its limits of both electrodes. NMC with less
 * nickel has another curve.
 */
function nmcVoltage(soc: number): number {
  const x = 0.0279 + (0.9014 - 0.0279) * soc
  const negative_v =
    1.9793 * Math.exp(-39.3631 * x) +
    0.2482 -
    0.0909 * Math.tanh(29.8538 * (x - 0.1234)) -
    0.04478 * Math.tanh(14.9159 * (x - 0.2769)) -
    0.0205 * Math.tanh(30.4444 * (x - 0.6103))
  const y = 0.9084 + (0.2661 - 0.9084) * soc
  const positive_v =
    4.4875 -
    0.809 * y -
    0.0428 * Math.tanh(18.5138 * (y - 0.5542)) -
    17.7326 * Math.tanh(15.789 * (y - 0.3117)) +
    17.5842 * Math.tanh(15.9308 * (y - 0.312))
  return positive_v - negative_v
}

/**
 * Ohmic and both polarisation resistances, discharging, of a 2.3 Ah cell at 15 to 45 Celsius. H. E.
 * Perez et al., "Parameterization and validation of an integrated electro-thermal cylindrical LFP
 * battery model", ASME Dynamic Systems and Control Conference, 2012. Charging is some 13
 * percent lower there at half charge and 25 Celsius, which is not taken into account.
 */
function lfpResistance(soc: number, temperature_c: number): number {
  const ohmic = 0.0048 * Math.exp(31.0494 / (temperature_c + 15.3253))
  const fast =
    (7.1135e-4 + soc * (-4.3865e-4 + soc * 2.3788e-4)) *
    Math.exp(347.4707 / (temperature_c + 79.5816))
  const slow = (0.0288 + soc * (-0.073 + soc * 0.0605)) * Math.exp(16.6712 / temperature_c)
  return ohmic + fast + slow
}

// Ohmic and polarisation resistance together, mOhm, at 5, 20 and 40 Celsius.
const nmc_soc = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]
const nmc_temperature_c = [5, 20, 40]
const nmc_mohm = [
  [22.6, 11.4, 10.3],
  [17.9, 10.9, 9.7],
  [16.1, 11.3, 10.5],
  [14.1, 9.8, 9.8],
  [14, 10.6, 10.5],
  [14.6, 10.3, 10],
  [14.4, 10.3, 10],
]

/**
 * Of a cell of some 27 Ah at 5 to 40 Celsius, between measured points by straight lines. T. Huria,
 * M. Ceraolo, J. Gazzarri and R. Jackey, "High fidelity electrical model with thermal dependence
 * for characterization and simulation of high power lithium battery cells", IEEE International
 * Electric Vehicle Conference, 2012, with the values of the Simscape example that goes with it.
 */
function nmcResistance(soc: number, temperature_c: number): number {
  const row = segment(nmc_soc, soc)
  const column = segment(nmc_temperature_c, temperature_c)
  const along = (values: readonly number[]) =>
    values[column.at]! + column.share * (values[column.at + 1]! - values[column.at]!)
  const below = along(nmc_mohm[row.at]!)
  return below + row.share * (along(nmc_mohm[row.at + 1]!) - below)
}

/** The segment of an ascending table that holds a value within it, and how far along. */
function segment(table: readonly number[], value: number): { at: number; share: number } {
  const next = table.findIndex((entry, i) => i > 0 && entry >= value)
  const at = next < 0 ? table.length - 2 : next - 1
  return { at, share: (value - table[at]!) / (table[at + 1]! - table[at]!) }
}

const heldSoc = ({ soc_ratio }: CellState) => Math.min(1, Math.max(0, soc_ratio))

/** Voltage at rest, V: rises with the state of charge. Papers at the curves above. */
export function openCircuitVoltage(cell: BatteryCell, state: CellState): number {
  const warming_v = cell.entropy_v_per_k * (state.temperature_c - reference_c)
  return chemistries[cell.chemistry].openCircuitVoltage(heldSoc(state)) + warming_v
}

/**
 * Resistance, ohm: that of the cell by the shape of its chemistry. Temperature is held to that of
 * the measurement, 15 to 45 for LFP and 5 to 40 Celsius for NMC.
 */
export function cellResistance(cell: BatteryCell, state: CellState): number {
  const { resistance, coldest_c, warmest_c } = chemistries[cell.chemistry]
  const held_c = Math.min(warmest_c, Math.max(coldest_c, state.temperature_c))
  const shape = resistance(heldSoc(state), held_c) / resistance(0.5, reference_c)
  return cell.resistance_ohm * shape
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
  const rest_v = openCircuitVoltage(cell, state)
  const square = rest_v * rest_v - 4 * cellResistance(cell, state) * power_w
  // Divided through, the root stays exact for small powers and without resistance.
  return square >= 0 ? (2 * power_w) / (rest_v + Math.sqrt(square)) : null
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
  return (state.temperature_c + 273.15) * cell.entropy_v_per_k
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
