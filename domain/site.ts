/**
 * `site.yaml`: the inventory of a site. The commissioning engineer writes it; the edge stores it
 * and announces it to the server. The simulator builds the same site from the same file.
 * Ids are unique within the site and never reused. Instruments of a met station and channels of a
 * sensor node keep their positions: `positions.ts` detects moved ones.
 */
import { type Static, Type } from 'typebox'
import { Battery } from './battery.ts'
import { Iec104 } from './iec104.ts'
import { Mqtt, Node } from './node.ts'
import { PanelModel } from './panel-model.ts'
import { RelayInputs } from './relay-inputs.ts'
import { Closed, Day, DriverName, Id, Name, Positive } from './schema.ts'

const Azimuth = Type.Number({ minimum: 0, exclusiveMaximum: 360 })
const Tilt = Type.Number({ minimum: 0, maximum: 90 })
const Seconds = Type.Number({ minimum: 0.2, maximum: 3600 })

/** Address of a device: a connection of the site, its Modbus unit, the driver that reads it. */
const Address = {
  connection: Type.String({ minLength: 1 }),
  unit_id: Type.Integer({ minimum: 0, maximum: 255 }),
  driver: DriverName,
  base_address: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
}

const Identity = {
  manufacturer: Type.Optional(Name),
  model: Type.Optional(Name),
  serial_number: Type.Optional(Name),
  installed_date: Type.Optional(Day),
}

export const siteIdPattern = '^[a-z0-9][a-z0-9_-]{0,63}$'

export type Connection = Static<typeof Connection>
export const Connection = Type.Union([
  Closed({
    connection_id: Name,
    protocol: Type.Enum(['modbus_tcp', 'rtu_over_tcp']),
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 50, maximum: 60_000 })),
  }),
  Closed({
    connection_id: Name,
    protocol: Type.Literal('modbus_rtu'),
    path: Type.String({ minLength: 1 }),
    baud_rate: Type.Integer({ minimum: 1200, maximum: 921_600 }),
    parity: Type.Optional(Type.Enum(['none', 'even', 'odd'])),
    data_bits: Type.Optional(Type.Enum([7, 8])),
    stop_bits: Type.Optional(Type.Enum([1, 2])),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 50, maximum: 60_000 })),
  }),
])

/** Equal strings of one inverter, numbered on from the group before, filling MPPTs in order. */
export type StringGroup = Static<typeof StringGroup>
export const StringGroup = Closed({
  strings: Type.Integer({ minimum: 1, maximum: 256 }),
  strings_per_mppt: Type.Integer({ minimum: 1, maximum: 256 }),
  module_count: Type.Integer({ minimum: 1, maximum: 100 }),
  params_id: Id,
  azimuth_deg: Azimuth,
  tilt_deg: Tilt,
  /**
   * Azimuth and tilt are assumptions and may differ between strings: strings are compared with
   * those that deliver their energy at the same hours.
   */
  orientation_assumed: Type.Optional(Type.Boolean()),
  /** False for unused inputs of the inverter. Defaults to true. */
  connected: Type.Optional(Type.Boolean()),
})

/** A box with its own Modbus unit that measures the currents of some strings of an inverter. */
export type Combiner = Static<typeof Combiner>
export const Combiner = Closed({
  combiner_id: Name,
  first_string_index: Type.Integer({ minimum: 0 }),
  string_count: Type.Integer({ minimum: 1, maximum: 256 }),
  ...Address,
})

/** How a device follows its limit, in addition to what its registers and its driver say. */
export type LimitResponse = Static<typeof LimitResponse>
export const LimitResponse = Closed({
  /** Time within which power follows a lower limit. Defaults to 60. */
  ramp_s: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
  /** Time within which the device acts on a command. The command is not repeated meanwhile. */
  latency_s: Type.Optional(Type.Number({ minimum: 0, maximum: 600 })),
  /** Step of its limit, in percent of its rated power. Only whole steps are sent. */
  step_pct: Type.Optional(Type.Number({ minimum: 0, maximum: 50 })),
  /** Most that it rounds a limit by, up or down, in percent of its rated power. */
  tolerance_pct: Type.Optional(Type.Number({ minimum: 0, maximum: 50 })),
  /** Lowest limit that it follows, in percent of its rated power. */
  least_pct: Type.Optional(Type.Number({ minimum: 0, maximum: 50 })),
})

export type Inverter = Static<typeof Inverter>
export const Inverter = Closed({
  inverter_id: Id,
  name: Name,
  location_id: Type.Optional(Id),
  ...Identity,
  rated_ac_power_kw: Positive,
  /** Most that it can deliver. Defaults to its rated power. */
  max_ac_power_kw: Type.Optional(Positive),
  max_dc_voltage_v: Type.Optional(Positive),
  /** Efficiency at rated power by the datasheet; compared with measured efficiency. */
  nominal_efficiency_pct: Type.Optional(Type.Number({ minimum: 80, maximum: 100 })),
  phase_count: Type.Optional(Type.Enum([1, 2, 3])),
  ...Address,
  limit: Type.Optional(LimitResponse),
  /**
   * False for an inverter without power at night. Only the simulator uses it, and defaults to what
   * devices of the driver do.
   */
  answers_at_night: Type.Optional(Type.Boolean()),
  string_groups: Type.Array(StringGroup, { minItems: 1 }),
  combiners: Type.Optional(Type.Array(Combiner)),
})

/** The quantities that instruments of a met station measure, by the column that averages them. */
export const instrumentQuantities = [
  'poa_irradiance_w_m2',
  'ghi_w_m2',
  'dhi_w_m2',
  'module_temperature_c',
  'ambient_temperature_c',
  'relative_humidity_pct',
  'pressure_hpa',
  'wind_speed_m_s',
  'wind_direction_deg',
  'rain_mm',
] as const

export const instrumentTypes = [
  'pyranometer',
  'reference_cell',
  'thermometer',
  'module_thermometer',
  'anemometer',
  'wind_vane',
  'hygrometer',
  'barometer',
  'rain_gauge',
  'all_in_one',
  'other',
] as const

export type Instrument = Static<typeof Instrument>
export const Instrument = Closed({
  /** Id of the instrument. A replacement of the same type and quantity keeps it. */
  sensor_id: Name,
  name: Name,
  type: Type.Enum([...instrumentTypes]),
  quantity: Type.Enum([...instrumentQuantities]),
  /**
   * SunSpec: model, occurrence or sensor number from 0, and point, as in `302[0].POAI`. Profile: a
   * name of its `points`.
   */
  point: Name,
  azimuth_deg: Type.Optional(Azimuth),
  tilt_deg: Type.Optional(Tilt),
  accuracy_class: Type.Optional(Type.Enum(['a', 'b', 'c'])),
  serial_number: Type.Optional(Name),
  calibrated_date: Type.Optional(Day),
})

export type Station = Static<typeof Station>
export const Station = Closed({
  station_id: Id,
  name: Name,
  location_id: Type.Optional(Id),
  ...Identity,
  ...Address,
  /** Readings are kept in this order: add new ones at the end, and leave dead ones in place. */
  instruments: Type.Array(Instrument, { minItems: 1 }),
})

export type Meter = Static<typeof Meter>
export const Meter = Closed({
  meter_id: Id,
  name: Name,
  role: Type.Enum(['grid_connection', 'plant', 'auxiliary', 'other']),
  /** Plant of the meter. Left out for a meter of the whole site. */
  logger_id: Type.Optional(Id),
  /**
   * Direction of positive power at the device. Defaults to that of its profile, else to export. A
   * meter whose profile says otherwise also counts its energies the other way.
   */
  positive_power: Type.Optional(Type.Enum(['export', 'import'])),
  ...Identity,
  ...Address,
})

/** A plant: inverters and stations that one data logger covers. */
export type Logger = Static<typeof Logger>
export const Logger = Closed({
  logger_id: Id,
  name: Name,
  plant_code: Type.Optional(Name),
  location_id: Type.Optional(Id),
  rated_power_kw: Positive,
  commissioned_date: Type.Optional(Day),
  /** Yearly yield guaranteed by contract. */
  guaranteed_yield_kwh_kwp: Type.Optional(Positive),
  guaranteed_performance_ratio_pct: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 120 }),
  ),
  /** A device that limits all inverters of the plant by one command. */
  controller: Type.Optional(
    Closed({
      connection: Address.connection,
      unit_id: Address.unit_id,
      driver: DriverName,
      limit: Type.Optional(LimitResponse),
    }),
  ),
  inverters: Type.Array(Inverter, { minItems: 1 }),
  stations: Type.Optional(Type.Array(Station)),
})

export const locationTypes = [
  'site',
  'plot',
  'substation',
  'transformer_station',
  'building',
  'row',
  'container',
  'met_mast',
  'other',
] as const

export type Location = Static<typeof Location>
export const Location = Closed({
  location_id: Id,
  parent_location_id: Type.Optional(Id),
  type: Type.Enum([...locationTypes]),
  name: Name,
  code: Type.Optional(Name),
  latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
  elevation_m: Type.Optional(Type.Number({ minimum: -500, maximum: 9000 })),
  address: Type.Optional(Type.String({ maxLength: 400 })),
  access_notes: Type.Optional(Type.String({ maxLength: 2000 })),
})

/** How often each kind of device is read, in seconds. */
export type PollIntervals = Static<typeof PollIntervals>
export const PollIntervals = Closed({
  inverter_s: Type.Optional(Seconds),
  weather_s: Type.Optional(Seconds),
  meter_s: Type.Optional(Seconds),
  logger_s: Type.Optional(Seconds),
  /** Data older than three intervals stop the battery. */
  battery_s: Type.Optional(Type.Number({ minimum: 0.2, maximum: 10 })),
  cluster_s: Type.Optional(Seconds),
  cells_s: Type.Optional(Seconds),
})

export const defaultPollIntervals = {
  inverter_s: 5,
  weather_s: 10,
  meter_s: 5,
  logger_s: 10,
  /** Of batteries and their PCS. */
  battery_s: 2,
  cluster_s: 10,
  cells_s: 60,
} as const satisfies Required<PollIntervals>

/** How limits are set. The grid permit is no part of the site file. */
export type SiteControl = Static<typeof SiteControl>
export const SiteControl = Closed({
  /** Rate at which a plant may rise, in percent of its rated power. Defaults to no bound. */
  ramp_up_pct_per_min: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 10_000 })),
  /** Assigns unused headroom of a curtailment to other inverters. Defaults to false. */
  closed_loop: Type.Optional(Type.Boolean()),
})

export type Site = Static<typeof Site>
export const Site = Closed({
  site_id: Type.String({ pattern: siteIdPattern }),
  name: Name,
  simulated: Type.Optional(Type.Boolean()),
  timezone: Type.String({ minLength: 1 }),
  country_code: Type.String({ pattern: '^[A-Z]{2}$' }),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  elevation_m: Type.Optional(Type.Number({ minimum: -500, maximum: 9000 })),
  address: Type.Optional(Type.String({ maxLength: 400 })),
  commissioned_date: Type.Optional(Day),
  poll: Type.Optional(PollIntervals),
  control: Type.Optional(SiteControl),
  locations: Type.Array(Location),
  panel_models: Type.Array(PanelModel, { minItems: 1 }),
  connections: Type.Array(Connection, { minItems: 1 }),
  loggers: Type.Array(Logger, { minItems: 1 }),
  meters: Type.Optional(Type.Array(Meter)),
  mqtt: Type.Optional(Mqtt),
  nodes: Type.Optional(Type.Array(Node)),
  batteries: Type.Optional(Type.Array(Battery)),
  iec104: Type.Optional(Iec104),
  relay_inputs: Type.Optional(RelayInputs),
  /**
   * Export that battery plans must not exceed. A planning figure that anyone may read; the grid
   * permit is a separate bound at the edge.
   */
  export_plan_limit_kw: Type.Optional(Type.Number({ minimum: 0 })),
})

/** One row of panels. `string_index` counts from 0 within the inverter. */
export interface PvString {
  string_index: number
  mppt_index: number
  module_count: number
  params_id: number
  azimuth_deg: number
  tilt_deg: number
  orientation_assumed: boolean
  connected: boolean
  combiner_id: string | null
}

/** Writes the groups of an inverter out as single strings. */
export function stringsOf(inverter: Inverter): PvString[] {
  const strings: PvString[] = []
  let mppt_index = 0
  for (const group of inverter.string_groups) {
    for (let nth = 0; nth < group.strings; nth += 1) {
      const string_index = strings.length
      const combiner = inverter.combiners?.find(
        ({ first_string_index: first, string_count }) =>
          string_index >= first && string_index < first + string_count,
      )
      strings.push({
        string_index,
        mppt_index: mppt_index + Math.floor(nth / group.strings_per_mppt),
        module_count: group.module_count,
        params_id: group.params_id,
        azimuth_deg: group.azimuth_deg,
        tilt_deg: group.tilt_deg,
        orientation_assumed: group.orientation_assumed ?? false,
        connected: group.connected ?? true,
        combiner_id: combiner?.combiner_id ?? null,
      })
    }
    mppt_index += Math.ceil(group.strings / group.strings_per_mppt)
  }
  return strings
}

export function mpptCount(inverter: Inverter): number {
  return inverter.string_groups.reduce(
    (count, { strings, strings_per_mppt }) => count + Math.ceil(strings / strings_per_mppt),
    0,
  )
}
