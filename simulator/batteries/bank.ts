/**
 * Clusters in parallel on one DC bus: division of the current, and its limits. Current and power
 * are positive when discharging; both limits are positive.
 */
import type { BatteryModel, BatteryState, ClusterState } from './battery-state.ts'
import { deratingBySoc, deratingByTemperature } from './derating.ts'
import { deratingByAlarm } from './protection.ts'

export interface Bank {
  /** Of all connected clusters together, seen from the bus; 0 V without any. */
  open_circuit_v: number
  resistance_ohm: number
  limits: DcLimits
}

export interface DcLimits {
  charge_a: number
  discharge_a: number
  charge_kw: number
  discharge_kw: number
}

const nothing: DcLimits = { charge_a: 0, discharge_a: 0, charge_kw: 0, discharge_kw: 0 }

export const isConnected = ({ contactor }: ClusterState): boolean => contactor === 'closed'

/** A voltage with a series resistance; null for a disconnected cluster. */
interface Source {
  open_circuit_v: number
  resistance_ohm: number
}

/** The change of voltage within half a step acts like a resistance. */
const sourcesOf = ({ clusters }: BatteryState, seconds: number): (Source | null)[] =>
  clusters.map((cluster) => {
    const { open_circuit_v, resistance_ohm, slope_v_per_ah } = cluster.sums
    const half_h = seconds / 2 / 3600
    return isConnected(cluster)
      ? { open_circuit_v, resistance_ohm: resistance_ohm + slope_v_per_ah * half_h }
      : null
  })

/** All sources in parallel; null without any. */
function together(sources: readonly (Source | null)[]): Source | null {
  let siemens = 0
  let ampere = 0
  for (const source of sources) {
    if (!source) continue
    siemens += 1 / source.resistance_ohm
    ampere += source.open_circuit_v / source.resistance_ohm
  }
  return siemens === 0 ? null : { open_circuit_v: ampere / siemens, resistance_ohm: 1 / siemens }
}

/** The bank as its battery management measures it. */
export function bankOf(model: BatteryModel, state: BatteryState): Bank {
  const { clusters } = state
  const bank = together(sourcesOf(state, 0))
  if (!bank) return { open_circuit_v: 0, resistance_ohm: 0, limits: nothing }
  let charge_a = Number.POSITIVE_INFINITY
  let discharge_a = Number.POSITIVE_INFINITY
  for (const [idx, cluster] of clusters.entries()) {
    if (!isConnected(cluster)) continue
    const { open_circuit_v, resistance_ohm } = cluster.sums
    const own = clusterLimits(model, cluster, idx)
    const between_a = (open_circuit_v - bank.open_circuit_v) / resistance_ohm
    const share = bank.resistance_ohm / resistance_ohm
    charge_a = Math.min(charge_a, (own.charge_a + between_a) / share)
    discharge_a = Math.min(discharge_a, (own.discharge_a - between_a) / share)
  }
  const { charge, discharge } = model.rated_dc_kw
  const most_a = {
    charge: -currentAt(bank, -charge * bank_headroom),
    discharge: currentAt(bank, discharge * bank_headroom),
  }
  charge_a = Math.max(0, Math.min(charge_a, most_a.charge))
  discharge_a = Math.max(0, Math.min(discharge_a, most_a.discharge))
  return { ...bank, limits: withPower(bank, charge_a, discharge_a) }
}

function withPower(
  { open_circuit_v, resistance_ohm }: Source,
  charge_a: number,
  discharge_a: number,
): DcLimits {
  return {
    charge_a,
    discharge_a,
    charge_kw: (charge_a * (open_circuit_v + charge_a * resistance_ohm)) / 1000,
    discharge_kw: (discharge_a * (open_circuit_v - discharge_a * resistance_ohm)) / 1000,
  }
}

/**
 * Limits are slightly above the rating, for the losses; a cluster may carry more than its share, as
 * current never splits evenly.
 */
export const bank_headroom = 1.06
const cluster_headroom = 1.09

export function clusterLimits(
  model: BatteryModel,
  cluster: ClusterState,
  cluster_idx: number,
): { charge_a: number; discharge_a: number } {
  const { sums, is_full, is_empty, alarms } = cluster
  const { rated_dc_kw, clusters } = model
  const { min, max } = cellTemperatures(model, cluster, cluster_idx)
  const by_soc = deratingBySoc(sums.soc)
  const by_temperature = deratingByTemperature(min, max)
  const by_alarm = deratingByAlarm(alarms.levels)
  const rated_a = (kw: number) => cluster_headroom * currentAt(sums, kw / clusters.length)
  const charge = by_alarm.charge * Math.min(by_soc.charge, by_temperature.charge)
  const discharge = by_alarm.discharge * Math.min(by_soc.discharge, by_temperature.discharge)
  return {
    charge_a: is_full ? 0 : Math.min(sums.charge_max_a, -rated_a(-rated_dc_kw.charge) * charge),
    discharge_a: is_empty
      ? 0
      : Math.min(sums.discharge_max_a, rated_a(rated_dc_kw.discharge) * discharge),
  }
}

/** Temperatures by the sensors, with the places of the extremes. */
export function cellTemperatures(
  { clusters }: BatteryModel,
  { module_temperature_c, hot_cell }: ClusterState,
  cluster_idx: number,
): { min: number; max: number; avg: number; min_module: number; max_module: number } {
  const { offset_range_c, cells_per_module, modules } = clusters[cluster_idx]!
  let [min, max, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0]
  let [min_module, max_module] = [0, 0]
  for (let module_idx = 0; module_idx < modules; module_idx += 1) {
    const temperature_c = module_temperature_c[module_idx]!
    const lowest = temperature_c + offset_range_c[module_idx]!.min
    const highest = temperature_c + offset_range_c[module_idx]!.max
    sum += temperature_c
    if (lowest < min) {
      min = lowest
      min_module = module_idx
    }
    if (highest > max) {
      max = highest
      max_module = module_idx
    }
  }
  if (hot_cell && hot_cell.temperature_c > max) {
    max = hot_cell.temperature_c
    max_module = Math.floor(hot_cell.index / cells_per_module)
  }
  return { min, max, avg: sum / module_temperature_c.length, min_module, max_module }
}

/** The current at which a source delivers (or, below 0, takes) a power. */
export function currentAt({ open_circuit_v, resistance_ohm }: Source, power_kw: number): number {
  const root = open_circuit_v ** 2 - 4 * resistance_ohm * power_kw * 1000
  // Above the maximum power: at the maximum.
  const voltage_v = (open_circuit_v + Math.sqrt(Math.max(0, root))) / 2
  return (open_circuit_v - voltage_v) / resistance_ohm
}

/**
 * Currents of the clusters while the bank delivers a power over a step, within its limits; 0 if
 * disconnected.
 */
export function currentsAt(
  state: BatteryState,
  { limits }: Bank,
  { wanted_kw, seconds }: { wanted_kw: number; seconds: number },
): number[] {
  const sources = sourcesOf(state, seconds)
  const bank = together(sources)
  if (!bank) return sources.map(() => 0)
  const current_a = currentAt(bank, wanted_kw)
  const within_a = Math.max(-limits.charge_a, Math.min(limits.discharge_a, current_a))
  const bus_v = bank.open_circuit_v - within_a * bank.resistance_ohm
  return sources.map((source) =>
    source ? (source.open_circuit_v - bus_v) / source.resistance_ohm : 0,
  )
}
