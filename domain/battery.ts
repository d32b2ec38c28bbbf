/**
 * Battery storage: its part of `site.yaml`, and the settings reported by a unit.
 *
 * A unit is a battery behind one or more power conversion systems (PCS). It has clusters (SunSpec
 * calls them strings), these have modules, these have cells; all are counted from 0. Power and
 * current are positive when the unit discharges.
 */
import { type Static, Type } from 'typebox'
import {
  Closed,
  Day,
  DriverName,
  Id,
  Instant,
  Name,
  Nullable,
  Percent,
  Positive,
} from './schema.ts'

const Power = Type.Number({ minimum: 0, maximum: 1e9 })
const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum })

const Address = {
  connection: Type.String({ minLength: 1 }),
  unit_id: Type.Integer({ minimum: 0, maximum: 255 }),
  base_address: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
}

export const chemistries = [
  'lfp',
  'nmc',
  'nca',
  'lto',
  'sodium_ion',
  'flow',
  'lead_acid',
  'other',
] as const

export const couplings = ['ac', 'dc', 'hybrid', 'other'] as const

/** A power conversion system: the converter between the battery and the AC grid. */
export type Pcs = Static<typeof Pcs>
export const Pcs = Closed({
  /** Index within the battery, from 0. */
  pcs_idx: Type.Integer({ minimum: 0, maximum: 99 }),
  rated_power_kw: Positive,
  ...Address,
  driver: DriverName,
  /**
   * True if the device delivers what WMaxLimPct of model 123 allows, and nobody else limits it
   * there. A PCS with neither model 704 nor 124 needs it, and then only discharges.
   */
  wmaxlimpct_is_setpoint: Type.Optional(Type.Boolean()),
  /** Time within which power follows a lower setpoint. Defaults to 60. */
  ramp_s: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
})

/** A Modbus unit with some clusters of a battery: one unit cannot hold hundreds of them. */
export type ClusterUnit = Static<typeof ClusterUnit>
export const ClusterUnit = Closed({
  ...Address,
  /** Index in the battery of the first cluster of this unit. */
  first_cluster_idx: Type.Integer({ minimum: 0, maximum: 399 }),
})

export type PowerPoint = Static<typeof PowerPoint>
export const PowerPoint = Closed({
  soc_pct: Percent,
  max_charge_power_kw: Power,
  max_discharge_power_kw: Power,
})

export type Battery = Static<typeof Battery>
export const Battery = Closed({
  bess_id: Id,
  name: Name,
  location_id: Type.Optional(Id),
  /** Plant through whose connection it feeds in. Defaults to the site's common connection. */
  logger_id: Type.Optional(Id),
  manufacturer: Type.Optional(Name),
  model: Type.Optional(Name),
  serial_number: Type.Optional(Name),
  chemistry: Type.Enum([...chemistries]),
  coupling: Type.Enum([...couplings]),
  rated_energy_kwh: Positive,
  /** Energy between `soc_min_pct` and `soc_max_pct` by the datasheet. */
  usable_energy_kwh: Type.Optional(Positive),
  rated_charge_power_kw: Positive,
  rated_discharge_power_kw: Positive,
  rated_capacity_ah: Type.Optional(Positive),
  nominal_voltage_v: Type.Optional(Positive),
  /** Efficiency from the grid to the grid, at rated power. Defaults to that of the chemistry. */
  roundtrip_efficiency_pct: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
  /** Lower end of the window of operation, which the edge enforces. */
  soc_min_pct: Percent,
  soc_max_pct: Percent,
  /** Reserve below which neither plans nor the edge discharge. */
  soc_reserve_pct: Type.Optional(Percent),
  /**
   * Power by the datasheet at a state of charge, linear between the points and concave. Used by
   * plans. Defaults to rated power.
   */
  power_curve: Type.Optional(Type.Array(PowerPoint, { minItems: 1, maxItems: 50 })),
  /** Rate at which its setpoint moves away from zero. */
  ramp_rate_kw_s: Type.Optional(Positive),
  /** Most full cycles of the usable energy in a plan of a day. */
  cycles_per_day_max: Type.Optional(Positive),
  /** Cost of ageing per MWh of throughput, in the currency of the site. */
  degradation_cost_per_mwh: Type.Optional(Type.Number({ minimum: 0 })),
  /** Market of its plans and revenue. Defaults to the market of its plant, else of the site. */
  market_code: Type.Optional(Name),
  cluster_count: Count(400),
  modules_per_cluster: Count(100),
  cells_per_module: Count(200),
  /** Defaults to one sensor per cell. */
  temperature_sensors_per_module: Type.Optional(Count(200)),
  commissioned_date: Type.Optional(Day),
  warranty_end_date: Type.Optional(Day),
  warranty_throughput_kwh: Type.Optional(Positive),
  warranty_cycles: Type.Optional(Positive),
  /** Battery management system, which has the cells and their limits. */
  bms: Closed({
    ...Address,
    driver: Type.Enum(['sunspec']),
    /** Direction in which its current and power are positive. Defaults to discharge. */
    positive_current: Type.Optional(Type.Enum(['charge', 'discharge'])),
    /** Units with clusters and cells, if they are not at the unit above. */
    clusters: Type.Optional(Type.Array(ClusterUnit, { minItems: 1, maxItems: 400 })),
  }),
  pcs: Type.Array(Pcs, { minItems: 1, maxItems: 100 }),
})

export const batteryStates = [
  'off',
  'initializing',
  'standby',
  'charging',
  'discharging',
  'holding',
  'full',
  'empty',
  'soc_protection',
  'fault',
  'disconnected',
  'unknown',
] as const
export type BatteryState = (typeof batteryStates)[number]

export const clusterStates = [
  'normal',
  'charging',
  'discharging',
  'standby',
  'stopped',
  'fault',
  'disconnected',
  'unknown',
] as const

export type ClusterState = (typeof clusterStates)[number]

export const pcsStates = [
  'off',
  'sleeping',
  'starting',
  'running',
  'throttled',
  'shutting_down',
  'fault',
  'standby',
  'unknown',
] as const

export type PcsState = (typeof pcsStates)[number]

export const connectionFailures = [
  'none',
  'button',
  'ground_fault',
  'voltage_range',
  'not_enabled',
  'fuse',
  'contactor',
  'precharge',
  'string_fault',
  'unknown',
] as const
export type ConnectionFailure = (typeof connectionFailures)[number]

export const contactorStates = ['open', 'closed', 'precharge'] as const
export const fireStates = ['normal', 'warning', 'alarm', 'fault'] as const
export const gridModes = ['on_grid', 'off_grid', 'islanding'] as const
export const controlPlaces = ['local', 'remote'] as const

export const protectionParameters = [
  'cell_over_voltage',
  'cell_under_voltage',
  'system_over_voltage',
  'system_under_voltage',
  'charge_over_current',
  'discharge_over_current',
  'cell_over_temperature',
  'cell_under_temperature',
  'charge_over_temperature',
  'cell_voltage_difference',
  'temperature_difference',
  'soc_low',
  'soc_high',
  'insulation_low',
  'connector_over_temperature',
  'ground_fault',
  'grid_over_voltage',
  'grid_under_voltage',
  'over_frequency',
  'under_frequency',
] as const

/** Settings of a unit, read at each connection and on changes. */
export type BatterySetup = Static<typeof BatterySetup>
const Value = Nullable(Type.Number())
export const BatterySetup = Closed({
  bess_id: Id,
  read_at: Instant,
  rated_energy_kwh: Value,
  rated_charge_power_kw: Value,
  rated_discharge_power_kw: Value,
  rated_capacity_ah: Value,
  soc_min_pct: Value,
  soc_max_pct: Value,
  soc_reserve_pct: Value,
  ramp_rate_kw_s: Value,
  heartbeat_timeout_s: Value,
  bms_firmware: Nullable(Type.String({ maxLength: 120 })),
  protection: Type.Array(
    Closed({
      parameter: Type.Enum([...protectionParameters]),
      level: Type.Enum(['pre_alarm', 'level_1', 'level_2']),
      trip_value: Type.Number(),
      recover_value: Value,
      unit: Type.Enum(['mV', 'V', 'A', 'C', 'pct', 'kohm', 'Hz']),
      delay_ms: Value,
      action: Type.Enum(['warn', 'derate', 'stop', 'open_contactor']),
      source: Type.Enum(['bms', 'pcs', 'ems']),
    }),
    { maxItems: 200 },
  ),
  raw_registers: Type.Array(
    Closed({
      address: Type.Integer({ minimum: 0, maximum: 65_535 }),
      name: Name,
      value: Value,
      unit: Nullable(Type.String({ maxLength: 20 })),
    }),
    { maxItems: 500 },
  ),
})

/** Settings were read again and equal the `BatterySetup` whose `read_at` is this `told_at`. */
export type SetupReread = Static<typeof SetupReread>
export const SetupReread = Closed({
  bess_id: Id,
  read_at: Instant,
  told_at: Instant,
})

/** Frame `battery_setup`. */
export type SetupReport = Static<typeof SetupReport>
export const SetupReport = Type.Union([BatterySetup, SetupReread])

/** The Modbus units with the clusters of a battery. */
export function clusterUnits({ bms }: Pick<Battery, 'bms'>): readonly ClusterUnit[] {
  if (bms.clusters) return bms.clusters
  const { connection, unit_id, base_address } = bms
  const at = base_address === undefined ? {} : { base_address }
  return [{ connection, unit_id, ...at, first_cluster_idx: 0 }]
}

/** Index of a cell in the arrays of its cluster. */
export const cellIndex = (
  { cells_per_module }: Pick<Battery, 'cells_per_module'>,
  module_idx: number,
  cell: number,
) => module_idx * cells_per_module + cell
