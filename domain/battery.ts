/**
 * Battery storage: its part of `site.yaml`, and the shape of what a unit says of itself.
 *
 * A unit is a battery behind one or more power conversion systems (PCS). It has clusters (SunSpec
 * calls them strings), these have modules, these have cells; all are counted from 0. Power and
 * current are positive when the unit discharges.
 */
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const
const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Name = Type.String({ minLength: 1, maxLength: 120 })
const Positive = Type.Number({ exclusiveMinimum: 0 })
const Percent = Type.Number({ minimum: 0, maximum: 100 })
const Power = Type.Number({ minimum: 0, maximum: 1e9 })
const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum })
const When = Type.String({ format: 'date' })

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

/** A power conversion system: what turns the battery's direct current into alternating current. */
export type Pcs = Static<typeof Pcs>
export const Pcs = Type.Object(
  {
    /** From 0 within the unit. */
    pcs_idx: Type.Integer({ minimum: 0, maximum: 99 }),
    rated_power_kw: Positive,
    ...Address,
    driver: Type.Enum(['sunspec', 'sinexcel_pws']),
    /**
     * It delivers what WMaxLimPct of model 123 lets it, and nobody else limits it there: it is told
     * by that where it has neither model 704 nor 124. It discharges only, as that has no sign.
     */
    wmaxlimpct_is_setpoint: Type.Optional(Type.Boolean()),
    /** Its power has followed a lower setpoint within this. 60 s where nothing says so. */
    ramp_s: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
  },
  closed,
)

/** A unit that tells of some clusters of a battery: one unit has no room for hundreds of them. */
export type ClusterUnit = Static<typeof ClusterUnit>
export const ClusterUnit = Type.Object(
  {
    ...Address,
    /** The cluster that this unit calls its first one. */
    first_cluster_idx: Type.Integer({ minimum: 0, maximum: 399 }),
  },
  closed,
)

export type PowerPoint = Static<typeof PowerPoint>
export const PowerPoint = Type.Object(
  { soc_pct: Percent, max_charge_power_kw: Power, max_discharge_power_kw: Power },
  closed,
)

export type Battery = Static<typeof Battery>
export const Battery = Type.Object(
  {
    bess_id: Id,
    name: Name,
    location_id: Type.Optional(Id),
    /** The plant through whose connection it feeds in; absent: the site's common connection. */
    logger_id: Type.Optional(Id),
    manufacturer: Type.Optional(Name),
    model: Type.Optional(Name),
    serial_number: Type.Optional(Name),
    chemistry: Type.Enum([...chemistries]),
    coupling: Type.Enum([...couplings]),
    rated_energy_kwh: Positive,
    /** Between `soc_min_pct` and `soc_max_pct`, where the datasheet says it. */
    usable_energy_kwh: Type.Optional(Positive),
    rated_charge_power_kw: Positive,
    rated_discharge_power_kw: Positive,
    rated_capacity_ah: Type.Optional(Positive),
    nominal_voltage_v: Type.Optional(Positive),
    /** From the grid to the grid, at rated power. */
    roundtrip_efficiency_pct: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
    /** The window in which it is operated; outside of it only the device's own limits count. */
    soc_min_pct: Percent,
    soc_max_pct: Percent,
    /** Not discharged below by any plan; kept for what is not planned. */
    soc_reserve_pct: Type.Optional(Percent),
    /**
     * What its datasheet lets it do at a state of charge, on straight lines between the points; it
     * bends but one way (concave). Without it plans take it to be able to do what is rated.
     */
    power_curve: Type.Optional(Type.Array(PowerPoint, { minItems: 1, maxItems: 50 })),
    /** How fast its setpoint moves. */
    ramp_rate_kw_s: Type.Optional(Positive),
    /** Full cycles of the usable energy that a plan may use in a day. */
    cycles_per_day_max: Type.Optional(Positive),
    /** What a MWh that goes through it costs in ageing, in the currency of the site. */
    degradation_cost_per_mwh: Type.Optional(Type.Number({ minimum: 0 })),
    /** What it earns is measured by, where that is not the market of its plant. */
    market_code: Type.Optional(Name),
    cluster_count: Count(400),
    modules_per_cluster: Count(100),
    cells_per_module: Count(200),
    /** Without it, a temperature for each cell. */
    temperature_sensors_per_module: Type.Optional(Count(200)),
    commissioned_date: Type.Optional(When),
    warranty_end_date: Type.Optional(When),
    warranty_throughput_kwh: Type.Optional(Positive),
    warranty_cycles: Type.Optional(Positive),
    /** The battery management system, which knows the cells and their limits. */
    bms: Type.Object(
      {
        ...Address,
        driver: Type.Enum(['sunspec']),
        /** When its current and power are positive; without it, when the battery discharges. */
        positive_current: Type.Optional(Type.Enum(['charge', 'discharge'])),
        /** Where clusters and cells are told of, when it is not at the unit above. */
        clusters: Type.Optional(Type.Array(ClusterUnit, { minItems: 1, maxItems: 400 })),
      },
      closed,
    ),
    pcs: Type.Array(Pcs, { minItems: 1, maxItems: 100 }),
  },
  closed,
)

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

/** What a unit is set to, as read at each contact and when it changes. */
export type BatterySetup = Static<typeof BatterySetup>
const Value = Type.Union([Type.Number(), Type.Null()])
export const BatterySetup = Type.Object(
  {
    bess_id: Id,
    read_at: Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' }),
    rated_energy_kwh: Value,
    rated_charge_power_kw: Value,
    rated_discharge_power_kw: Value,
    rated_capacity_ah: Value,
    soc_min_pct: Value,
    soc_max_pct: Value,
    soc_reserve_pct: Value,
    ramp_rate_kw_s: Value,
    heartbeat_timeout_s: Value,
    bms_firmware: Type.Union([Type.String({ maxLength: 120 }), Type.Null()]),
    protection: Type.Array(
      Type.Object(
        {
          parameter: Type.Enum([...protectionParameters]),
          level: Type.Enum(['pre_alarm', 'level_1', 'level_2']),
          trip_value: Type.Number(),
          recover_value: Value,
          unit: Type.Enum(['mV', 'V', 'A', 'C', 'pct', 'kohm', 'Hz']),
          delay_ms: Value,
          action: Type.Enum(['warn', 'derate', 'stop', 'open_contactor']),
          source: Type.Enum(['bms', 'pcs', 'ems']),
        },
        closed,
      ),
      { maxItems: 200 },
    ),
    raw_registers: Type.Array(
      Type.Object(
        {
          address: Type.Integer({ minimum: 0, maximum: 65_535 }),
          name: Name,
          value: Value,
          unit: Type.Union([Type.String({ maxLength: 20 }), Type.Null()]),
        },
        closed,
      ),
      { maxItems: 500 },
    ),
  },
  closed,
)

/** It was read again, and is as the `BatterySetup` says whose `read_at` is this `told_at`. */
export type SetupReread = Static<typeof SetupReread>
export const SetupReread = Type.Object(
  {
    bess_id: Id,
    read_at: Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' }),
    told_at: Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' }),
  },
  closed,
)

/** Frame `battery_setup`. */
export type SetupReport = Static<typeof SetupReport>
export const SetupReport = Type.Union([BatterySetup, SetupReread])

/** Where the clusters of a battery are told of. */
export function clusterUnits({ bms }: Pick<Battery, 'bms'>): readonly ClusterUnit[] {
  if (bms.clusters) return bms.clusters
  const { connection, unit_id, base_address } = bms
  const at = base_address === undefined ? {} : { base_address }
  return [{ connection, unit_id, ...at, first_cluster_idx: 0 }]
}

/** Where a cell stands in the arrays of its cluster. */
export const cellIndex = (
  { cells_per_module }: Pick<Battery, 'cells_per_module'>,
  module_idx: number,
  cell: number,
) => module_idx * cells_per_module + cell
