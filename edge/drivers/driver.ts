/**
 * What the edge asks of a driver: read a device once, as records of domain/readings.ts, with every
 * scale factor applied and every "not implemented" value `null`.
 */
import type { Battery, BatterySetup, Pcs } from '@heliograph/domain/battery'
import type {
  BessReading,
  CellsReading,
  ClusterReading,
  InverterReading,
  MeterReading,
  PcsReading,
  StringReading,
  WeatherReading,
} from '@heliograph/domain/readings'
import type { Combiner, Inverter, Logger, Meter, Station } from '@heliograph/domain/site'
import type { LimitControl, LimitState } from './limit-control.ts'
import type { PowerControl, PowerState } from './power-control.ts'

/** One Modbus connection with its units, asked one request at a time. */
export interface Bus {
  /**
   * Reads `count` (1 to 125) holding registers. Rejects with a `BusError`; a late answer is never
   * taken for the answer to a later request. `is_urgent`: it goes before other reads, as writes
   * do.
   */
  readHoldingRegisters(
    unit_id: number,
    address: number,
    count: number,
    options?: { is_urgent?: boolean },
  ): Promise<Uint16Array>
  /** The same of input registers, which some makers measure into. */
  readInputRegisters(
    unit_id: number,
    address: number,
    count: number,
    options?: { is_urgent?: boolean },
  ): Promise<Uint16Array>
  /**
   * Writes 1 to 123 holding registers as one request (function 16), or exactly one by function 6
   * where told so. It goes before the reads of the bus that wait. Resolves when the device
   * confirmed it; after a rejection with a `BusError` it may have been done all the same, or be
   * done yet. `mayStill` is asked right before it is put on the line: where it says no, the write
   * is not sent and rejects with the kind `overtaken`.
   */
  writeRegisters(
    unit_id: number,
    address: number,
    values: Uint16Array | readonly number[],
    options?: { single?: boolean; mayStill?: () => boolean },
  ): Promise<void>
  close(): Promise<void>
}

export type BusErrorKind =
  | 'timeout'
  | 'disconnected'
  | 'exception'
  | 'garbled'
  | 'closed'
  | 'overtaken'

export interface DeviceIdentity {
  manufacturer: string | null
  model: string | null
  serial_number: string | null
  firmware_version: string | null
}

/** Something a device answered that cannot be true; the value was taken as `null`. */
export interface Complaint {
  point: string
  reason: string
}

/** Measured values without the frame, which the poll loop adds: ids, time and quality. */
export type Values<Reading> = Omit<
  Reading,
  | 'measured_at'
  | 'quality'
  | 'inverter_id'
  | 'first_string_index'
  | 'meter_id'
  | 'station_id'
  | 'logger_id'
  | 'bess_id'
  | 'pcs_idx'
>

/**
 * What an inverter says of its own size. Not what it is set to: that may stand at its share of the
 * grid permit, and goes nowhere but into its `LimitState`.
 */
export interface InverterRatings {
  /** What it is built for, at unity power factor. */
  rated_power_kw: number | null
}

export interface InverterAnswer {
  inverter: Values<InverterReading>
  /** The strings of the inverter that it measures itself, from string 0; else null. */
  strings: Values<StringReading> | null
  /** The table that decodes the alarm words: an id of domain/alarms; null: there are none. */
  alarm_table: string | null
  /** As read when the device was found, not at each poll; `null` where it does not tell. */
  ratings: InverterRatings | null
  /** What its registers say of its limit, read together with the rest; null: they do not tell. */
  limit: LimitState | null
}

export interface Answer<Of> {
  values: Of
  complaints: readonly Complaint[]
  /** Names of what the device refuses to be asked for: their values are `null`. */
  missing?: readonly string[]
}

/** A device that was found: its identity, and how to read it. Nothing else outlives a read. */
export interface Device<Of> {
  identity: DeviceIdentity
  read(): Promise<Answer<Of>>
}

export interface InverterDevice extends Device<InverterAnswer> {
  /** Another one after each new contact; null: its power cannot be limited. */
  readonly control: LimitControl | null
}

/** What a controller of a plant says, which limits all of its inverters by one command. */
export interface ControllerAnswer {
  /** What it says that it passed on to the inverters; null: it does not tell. */
  limit: LimitState | null
  /** What all of its inverters deliver together: the proof that they obey. */
  active_power_kw: number | null
  /** Who has the say in place of us; null: nobody else, as far as it tells. */
  foreign_control: string | null
}

/**
 * Stands for all inverters of its plant: nobody is to limit them one by one besides. A command is
 * in force some seconds after it was accepted, so that a first read-back may show the limit before.
 */
export interface ControllerDevice extends Device<ControllerAnswer> {
  readonly control: LimitControl | null
}

export interface BatteryAnswer {
  battery: Values<BessReading>
  /** The table that decodes the alarm words; null: there are none. */
  alarm_table: string | null
  /** A count that goes on while the device lives; null: it has none. */
  heartbeat: number | null
  /** False: it is commanded by someone in front of it. */
  is_remote: boolean | null
}

export interface BatteryDevice extends Device<BatteryAnswer> {
  /** A sign of life of ours, where the device expects one; else nothing. */
  beat(): Promise<void>
}

export interface PcsAnswer {
  pcs: Values<PcsReading>
  alarm_table: string | null
  heartbeat: number | null
  /** What its registers say of its setpoint, read together with the rest; null: nothing. */
  power: PowerState | null
}

export interface PcsDevice extends Device<PcsAnswer> {
  /** Another one after each new contact; null: its power cannot be set. */
  readonly control: PowerControl | null
}

export interface ClustersAnswer {
  /** Those that answered; those that are not there are left out. */
  clusters: readonly Values<ClusterReading>[]
  /** The table that decodes the alarm words of each; null: there are none. */
  alarm_table: string | null
}

/** Of one cluster: each read is of the next one, so that thousands of cells take their time. */
export type CellsAnswer = Values<CellsReading>

export type SetupAnswer = Omit<BatterySetup, 'bess_id' | 'read_at'>

/** What site.yaml calls the drivers. */
export type DriverName =
  | Inverter['driver']
  | NonNullable<Logger['controller']>['driver']
  | Battery['bms']['driver']
  | Pcs['driver']

/** A driver finds its device on the bus, or rejects with what it met instead. */
export interface Driver {
  openInverter(bus: Bus, inverter: Inverter): Promise<InverterDevice>
  openCombiner(bus: Bus, combiner: Combiner): Promise<Device<Values<StringReading>>>
  openStation(bus: Bus, station: Station): Promise<Device<Values<WeatherReading>>>
  openMeter(bus: Bus, meter: Meter): Promise<Device<Values<MeterReading>>>
  /** Only where the driver has controllers of plants. */
  openController?(bus: Bus, logger: Logger): Promise<ControllerDevice>
  /** Only where the driver has batteries; what is of one battery is read at paces of its own. */
  openBattery?(bus: Bus, battery: Battery): Promise<BatteryDevice>
  openClusters?(bus: Bus, battery: Battery): Promise<Device<ClustersAnswer>>
  openCells?(bus: Bus, battery: Battery): Promise<Device<CellsAnswer>>
  openSetup?(bus: Bus, battery: Battery): Promise<Device<SetupAnswer>>
  /** Only where the driver has power conversion systems. */
  openPcs?(bus: Bus, pcs: Pcs): Promise<PcsDevice>
}

/** A driver that opens nothing; a driver of one kind of device adds that kind. */
export function rejecting(message: string): Driver {
  const only = async (): Promise<never> => {
    throw new Error(message)
  }
  return { openInverter: only, openCombiner: only, openStation: only, openMeter: only }
}
