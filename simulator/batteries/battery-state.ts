/** Model and state of a simulated battery; the state is plain data. */
import type { Battery } from '@heliograph/domain/battery'
import { hash01 } from '../noise.ts'
import type { Ageing, ageingLaws } from './cell-ageing.ts'
import { curvesOf } from './cell-curves.ts'
import { type CellStates, type ClusterModel, clusterModel, type Sums, sweep } from './cluster.ts'
import { dcPowerAt } from './converter.ts'
import { isEmpty, isFull } from './derating.ts'
import { type AlarmStates, noAlarms } from './protection.ts'

/** Constant properties of a battery of the site file. */
export interface BatteryModel {
  battery: Battery
  chemistry: keyof typeof ageingLaws
  clusters: readonly ClusterModel[]
  /** DC power at rated power of the unit, kW, both positive. */
  rated_dc_kw: { charge: number; discharge: number }
  /** Ramp of each PCS, kW/s, in the order of `battery.pcs`. */
  ramp_kw_s: readonly number[]
}

export type Contactor = 'open' | 'precharge' | 'closed'

export interface ClusterState extends CellStates {
  contactor: Contactor
  contactor_s: number
  /** Contactors close only at a voltage near that of the other clusters. */
  is_out_of_range: boolean
  /** A cell whose sensor reads too high. */
  hot_cell: { index: number; temperature_c: number } | null
  current_a: number
  /** Heat of the modules for the next step. */
  heat_kwh: number
  is_full: boolean
  is_empty: boolean
  discharged_ah: number
  alarms: AlarmStates
  ageing: Ageing
  /** Time and half cycle that have not aged the cells yet. */
  rested_s: number
  half_cycle: { from_soc: number; moved_ah: number; seconds: number; is_charging: boolean }
  sums: Sums
}

export type PcsMode = 'off' | 'standby' | 'starting' | 'running' | 'fault'

export interface PcsState {
  mode: PcsMode
  mode_s: number
  idle_s: number
  ac_power_kw: number
  dc_power_kw: number
  /** The limits of the battery reduced its power. */
  is_throttled: boolean
  injected_kwh: number
  absorbed_kwh: number
}

/**
 * Sums since the beginning, kWh, all positive. Their balance is the change of the stored energy.
 */
export interface Totals {
  injected_kwh: number
  absorbed_kwh: number
  conversion_loss_kwh: number
  heat_kwh: number
  balancing_kwh: number
  /** Stored in capacity that has aged away. */
  faded_kwh: number
  /** Own supply of the unit, not part of the others. */
  auxiliary_kwh: number
}

/** State of a simulated battery; survives JSON. */
export interface BatteryState {
  clusters: ClusterState[]
  /** In the order of `battery.pcs`. */
  pcs: PcsState[]
  coolant_temperature_c: number
  ambient_temperature_c: number
  auxiliary_power_kw: number
  balancing_s: number
  totals: Totals
}

const ramp_ratio_per_s = 0.2

/** @throws {Error} for a chemistry without curves */
export function batteryModel(battery: Battery, seed: number): BatteryModel {
  curvesOf(battery)
  const { pcs, rated_charge_power_kw, rated_discharge_power_kw, cluster_count } = battery
  const pcs_kw = pcs.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)
  const dcAt = (unit_kw: number) =>
    pcs.reduce((sum, { rated_power_kw }) => {
      const share_kw = (unit_kw * rated_power_kw) / pcs_kw
      return sum + dcPowerAt(share_kw, rated_power_kw)
    }, 0)
  return {
    battery,
    chemistry: battery.chemistry as BatteryModel['chemistry'],
    clusters: Array.from({ length: cluster_count }, (_, idx) => clusterModel(battery, idx, seed)),
    rated_dc_kw: {
      charge: -dcAt(-Math.min(rated_charge_power_kw, pcs_kw)),
      discharge: dcAt(Math.min(rated_discharge_power_kw, pcs_kw)),
    },
    ramp_kw_s: pcs.map(({ rated_power_kw }) =>
      battery.ramp_rate_kw_s === undefined
        ? rated_power_kw * ramp_ratio_per_s
        : (battery.ramp_rate_kw_s * rated_power_kw) / pcs_kw,
    ),
  }
}

/** A new battery at rest. `soc_pct` and `temperature_c` are those of its cells. */
export function initialBattery(
  model: BatteryModel,
  { soc_pct = 50, temperature_c = 20 }: { soc_pct?: number; temperature_c?: number } = {},
): BatteryState {
  return {
    clusters: model.clusters.map((cluster, idx) => {
      return initialCluster(cluster, {
        soc: soc_pct / 100,
        temperature_c,
        apart: clustersApart(model, idx),
      })
    }),
    pcs: model.battery.pcs.map(() => ({
      mode: 'standby',
      mode_s: 0,
      idle_s: 0,
      ac_power_kw: 0,
      dc_power_kw: 0,
      is_throttled: false,
      injected_kwh: 0,
      absorbed_kwh: 0,
    })),
    coolant_temperature_c: temperature_c,
    ambient_temperature_c: temperature_c,
    auxiliary_power_kw: 0,
    balancing_s: 0,
    totals: {
      injected_kwh: 0,
      absorbed_kwh: 0,
      conversion_loss_kwh: 0,
      heat_kwh: 0,
      balancing_kwh: 0,
      faded_kwh: 0,
      auxiliary_kwh: 0,
    },
  }
}

/** Difference in state of charge between clusters. */
const clustersApart = ({ battery }: BatteryModel, idx: number): number =>
  0.004 * (hash01(battery.bess_id, 1, idx) - 0.5)

interface First {
  soc: number
  apart: number
  temperature_c: number
}

function initialCluster(model: ClusterModel, { soc, apart, temperature_c }: First): ClusterState {
  // Smaller differences near empty and full.
  const width = Math.min(1, 8 * Math.min(soc, 1 - soc))
  const cells: CellStates = {
    soc: Array.from(model.first_soc_offset, (offset) => soc + width * (apart + offset)),
    is_bleeding: Array.from(model.capacity_ah, () => 0),
    module_temperature_c: Array.from(model.cooling_ratio, () => temperature_c),
    capacity_ratio: 1,
    resistance_ratio: 1,
    weak_cell: null,
  }
  const sums = sweep(model, cells, { moved_ah: 0, current_a: 0 })
  return {
    ...cells,
    contactor: 'closed',
    contactor_s: 0,
    is_out_of_range: false,
    hot_cell: null,
    current_a: 0,
    heat_kwh: 0,
    is_full: isFull(sums.soc, false),
    is_empty: isEmpty(sums.soc, false),
    discharged_ah: 0,
    alarms: noAlarms(),
    ageing: { calendar_fade: 0, cycle_fade: 0, resistance_growth: 0 },
    rested_s: 0,
    half_cycle: { from_soc: sums.soc, moved_ah: 0, seconds: 0, is_charging: true },
    sums,
  }
}
