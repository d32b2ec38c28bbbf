/**
 * The cells of a cluster, all in series, and the effect of a current on them. Current in A,
 * positive when discharging.
 */
import type { Battery } from '@heliograph/domain/battery'
import { coldRatio, grid_steps, restVoltage, storedEnergy } from '@heliograph/physics/cell-curves'
import { hash01, spread } from '../noise.ts'
import { curvesOf, type ManagedCell } from './cell-curves.ts'

/**
 * Spread among new cells of a rack. Our choice, in the range that K. Rumpf, M. Naumann and A.
 * Jossen found in 1100 cells of a series: Journal of Energy Storage 14, 2017.
 */
const sigma = { capacity: 0.004, resistance: 0.015, soc: 0.0015 } as const
const sensor_offset_c = 0.4
/** Share of the capacity discharged by balancing in an hour: 0.14 A of 280 Ah. */
const bleeding_ratio_per_h = 0.0005
/** Multiple of the resistance, and share of the capacity lost in an hour. */
const weak = { resistance_ratio: 3, leak_ratio_per_h: 0.02 } as const

const channel = {
  capacity: 20_000,
  resistance: 40_000,
  soc: 60_000,
  sensor: 80_000,
  cooling: 90_000,
}

export interface ClusterModel {
  modules: number
  cells_per_module: number
  curve: ManagedCell
  nominal_ah: number
  /** Of each new cell. */
  capacity_ah: Float64Array
  /** Resistance of the cell divided by that of the curve: 1/Ah, with its spread. */
  resistance_per_ah: Float64Array
  /** Deviation of a sensor from the temperature of its module. */
  sensor_offset_c: Float64Array
  /** Range of the deviations in each module. */
  offset_range_c: readonly { min: number; max: number }[]
  /** Cooling of each module relative to the mean. */
  cooling_ratio: Float64Array
  first_soc_offset: Float64Array
}

export function clusterModel(battery: Battery, cluster_idx: number, seed: number): ClusterModel {
  const { modules_per_cluster: modules, cells_per_module } = battery
  const curve = curvesOf(battery)
  const cells = modules * cells_per_module
  const nominal_ah =
    (battery.rated_energy_kwh * 1000) / (battery.cluster_count * cells * curve.nominal_v)
  const place = (index: number) => (battery.bess_id * 400 + cluster_idx) * 20_000 + index
  const draw = (kind: keyof typeof sigma) =>
    Float64Array.from({ length: cells }, (_, index) =>
      spread(seed, channel[kind], place(index), sigma[kind]),
    )
  const capacity_ah = draw('capacity').map((deviation) => nominal_ah * (1 + deviation))
  const offsets = Float64Array.from(
    { length: cells },
    (_, index) => (hash01(seed, channel.sensor, place(index)) - 0.5) * 2 * sensor_offset_c,
  )
  return {
    modules,
    cells_per_module,
    curve,
    nominal_ah,
    capacity_ah,
    resistance_per_ah: draw('resistance').map((deviation) => (1 + deviation) / nominal_ah),
    sensor_offset_c: offsets,
    offset_range_c: Array.from({ length: modules }, (_, module_idx) => {
      const own = offsets.subarray(
        module_idx * cells_per_module,
        (module_idx + 1) * cells_per_module,
      )
      return { min: Math.min(...own), max: Math.max(...own) }
    }),
    cooling_ratio: Float64Array.from(
      { length: modules },
      (_, module_idx) => 0.9 + 0.2 * hash01(seed, channel.cooling, place(module_idx)),
    ),
    first_soc_offset: draw('soc'),
  }
}

export interface CellStates {
  /** 0 to 1, of each cell. */
  soc: number[]
  /** 1 for a cell that is discharged by its balancing resistor. */
  is_bleeding: number[]
  module_temperature_c: number[]
  /** Relative to the new cells: remaining capacity, and increased resistance. */
  capacity_ratio: number
  resistance_ratio: number
  weak_cell: number | null
}

/** Sums and extremes of the cells of a cluster at an instant. */
export interface Sums {
  open_circuit_v: number
  resistance_ohm: number
  /** Rise of its voltage with charge. */
  slope_v_per_ah: number
  stored_kwh: number
  /** 0 when its first cell is empty, 1 when its first cell is full. */
  soc: number
  /** Usable charge between the two. */
  capacity_ah: number
  /** Under the present current. */
  cell_v: { min: number; max: number; avg: number; min_index: number; max_index: number }
  /** Current at which its first cell reaches its operating limit. */
  charge_max_a: number
  discharge_max_a: number
}

/** Energy lost as heat or elsewhere, kWh. */
interface Spent {
  heat_kwh: number
  bled_kwh: number
}

/**
 * Moves a current through the cells, in place. The energy at the terminals follows from the change
 * of the stored energy, so that energy is conserved for any length of step.
 */
export function moveCells(
  model: ClusterModel,
  cells: CellStates,
  before: Sums,
  { current_a, seconds }: { current_a: number; seconds: number },
): { sums: Sums; terminal_kwh: number; spent: Spent } {
  const hours = seconds / 3600
  const { coulombic_efficiency } = model.curve
  const is_charging = current_a < 0
  const moved_ah = current_a * hours * (is_charging ? coulombic_efficiency : 1)
  const bled_kwh = bleed(model, cells, hours)
  const sums = sweep(model, cells, { moved_ah, current_a })
  const given_kwh = before.stored_kwh - sums.stored_kwh - bled_kwh
  const side_kwh = is_charging ? -given_kwh * (1 / coulombic_efficiency - 1) : 0
  const joule_kwh = (current_a * current_a * before.resistance_ohm * hours) / 1000
  return {
    sums,
    terminal_kwh: given_kwh - side_kwh - joule_kwh,
    spent: { heat_kwh: side_kwh + joule_kwh, bled_kwh },
  }
}

/** Discharges cells by balancing resistors and faults. */
function bleed(model: ClusterModel, cells: CellStates, hours: number): number {
  const { is_bleeding, weak_cell, soc } = cells
  let bled_wh = 0
  for (let index = is_bleeding.indexOf(1); index >= 0; index = is_bleeding.indexOf(1, index + 1)) {
    bled_wh += takeCharge(model, cells, { index, ratio: bleeding_ratio_per_h * hours })
  }
  if (weak_cell !== null && soc[weak_cell]! > 0.02) {
    bled_wh += takeCharge(model, cells, { index: weak_cell, ratio: weak.leak_ratio_per_h * hours })
  }
  return bled_wh / 1000
}

/** Removes a share of the nominal capacity from one cell; returns its energy, Wh. */
function takeCharge(
  { curve, capacity_ah, nominal_ah }: ClusterModel,
  { soc, capacity_ratio }: CellStates,
  { index, ratio }: { index: number; ratio: number },
): number {
  const capacity = capacity_ah[index]! * capacity_ratio
  const from = soc[index]!
  const to = from - (ratio * nominal_ah) / capacity
  soc[index] = to
  return capacity * (storedEnergy(curve, from) - storedEnergy(curve, to))
}

/**
 * Moves charge and computes sums in one pass over thousands of cells, for each simulated second.
 */
export function sweep(
  model: ClusterModel,
  cells: CellStates,
  { moved_ah, current_a }: { moved_ah: number; current_a: number },
): Sums {
  const { curve, cells_per_module, modules, capacity_ah, resistance_per_ah } = model
  const { open_circuit_v, energy_wh_per_ah, resistance_ohm_ah, operating_v } = curve
  const { soc, capacity_ratio, weak_cell } = cells
  let sum_v = 0
  let sum_ohm = 0
  let slope_v_per_ah = 0
  let stored_wh = 0
  let left_ah = Number.POSITIVE_INFINITY
  let room_ah = Number.POSITIVE_INFINITY
  let charge_max_a = Number.POSITIVE_INFINITY
  let discharge_max_a = Number.POSITIVE_INFINITY
  let min_v = Number.POSITIVE_INFINITY
  let max_v = Number.NEGATIVE_INFINITY
  let min_index = 0
  let max_index = 0
  for (let module_idx = 0, index = 0; module_idx < modules; module_idx += 1) {
    const warmth = resistanceRatio(model, cells, module_idx)
    for (const end = index + cells_per_module; index < end; index += 1) {
      const capacity = capacity_ah[index]! * capacity_ratio
      const now = soc[index]! - moved_ah / capacity
      soc[index] = now
      const step = now <= 0 ? 0 : now >= 1 ? grid_steps - 1 : (now * grid_steps) | 0
      const part = now * grid_steps - step
      const low_v = open_circuit_v[step]!
      const rise_v = open_circuit_v[step + 1]! - low_v
      const open_v = low_v + part * rise_v
      const own = index === weak_cell ? weak.resistance_ratio : 1
      const ohm = own * warmth * resistance_per_ah[index]! * resistance_ohm_ah[step]!
      const cell_v = open_v - current_a * ohm
      sum_v += open_v
      sum_ohm += ohm
      slope_v_per_ah += (rise_v * grid_steps) / capacity
      stored_wh +=
        capacity * (energy_wh_per_ah[step]! + (part * (low_v + (part * rise_v) / 2)) / grid_steps)
      const left = now * capacity
      if (left < left_ah) left_ah = left
      if (capacity - left < room_ah) room_ah = capacity - left
      const above_v = operating_v.max - open_v
      const below_v = open_v - operating_v.min
      if (above_v < charge_max_a * ohm) charge_max_a = above_v / ohm
      if (below_v < discharge_max_a * ohm) discharge_max_a = below_v / ohm
      if (cell_v < min_v) {
        min_v = cell_v
        min_index = index
      }
      if (cell_v > max_v) {
        max_v = cell_v
        max_index = index
      }
    }
  }
  const avg_v = (sum_v - current_a * sum_ohm) / soc.length
  return {
    open_circuit_v: sum_v,
    resistance_ohm: sum_ohm,
    slope_v_per_ah,
    stored_kwh: stored_wh / 1000,
    soc: left_ah / (left_ah + room_ah),
    capacity_ah: left_ah + room_ah,
    cell_v: { min: min_v, max: max_v, avg: avg_v, min_index, max_index },
    charge_max_a: Math.max(0, charge_max_a),
    discharge_max_a: Math.max(0, discharge_max_a),
  }
}

/** Readings of each cell, in the order of the modules and of the cells within. */
export interface CellReadings {
  voltage_v: number[]
  temperature_c: number[]
  is_balancing: boolean[]
}

export function readCells(
  model: ClusterModel,
  cells: CellStates & { hot_cell: { index: number; temperature_c: number } | null },
  current_a: number,
): CellReadings {
  const { curve, cells_per_module, resistance_per_ah, sensor_offset_c } = model
  const moduleOf = (index: number) => Math.floor(index / cells_per_module)
  const warmth = cells.module_temperature_c.map((_, idx) => resistanceRatio(model, cells, idx))
  const voltage_v = cells.soc.map((soc, index) => {
    const own = index === cells.weak_cell ? weak.resistance_ratio : 1
    const step = soc <= 0 ? 0 : soc >= 1 ? grid_steps - 1 : Math.floor(soc * grid_steps)
    const ohm_ah = curve.resistance_ohm_ah[step]!
    const ohm = own * warmth[moduleOf(index)]! * resistance_per_ah[index]! * ohm_ah
    return restVoltage(curve, soc) - current_a * ohm
  })
  return {
    voltage_v,
    temperature_c: Array.from(sensor_offset_c, (offset_c, index) =>
      cells.hot_cell?.index === index
        ? cells.hot_cell.temperature_c
        : cells.module_temperature_c[moduleOf(index)]! + offset_c,
    ),
    is_balancing: cells.is_bleeding.map((one) => one === 1),
  }
}

function resistanceRatio({ curve }: ClusterModel, cells: CellStates, module_idx: number): number {
  return cells.resistance_ratio * coldRatio(curve, cells.module_temperature_c[module_idx]!)
}
