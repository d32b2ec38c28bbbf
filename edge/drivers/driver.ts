/**
 * The interface of drivers: a driver reads a device as records of domain/readings.ts, with every
 * scale factor applied and every "not implemented" value `null`.
 */
import type { Battery, BatterySetup, Pcs } from '@heliograph/domain/battery'
import type { Profile } from '@heliograph/domain/profile'
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

/** Urgent reads go before polls, as writes do; idle ones go when nothing else waits. */
export type ReadPriority = 'urgent' | 'poll' | 'idle'

/** One Modbus connection with its units, one request at a time. */
export interface Bus {
  /**
   * Reads `count` (1 to 125) holding registers. Rejects with a `BusError`; a late answer is never
   * taken for that of a later request. `priority` defaults to `poll`.
   */
  readHoldingRegisters(
    unit_id: number,
    address: number,
    count: number,
    options?: { priority?: ReadPriority },
  ): Promise<Uint16Array>
  /** Reads input registers in the same way. */
  readInputRegisters(
    unit_id: number,
    address: number,
    count: number,
    options?: { priority?: ReadPriority },
  ): Promise<Uint16Array>
  /**
   * Writes 1 to 123 holding registers as one request (function 16), or exactly one by function 6
   * (`single`). Goes before waiting reads. Resolves when the device confirmed it. After a rejection
   * with a `BusError` the write may still have been, or be, executed. `mayStill` is called right
   * before sending: if it returns false, nothing is sent and the write rejects with the kind
   * `overtaken`.
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

/** An answer that cannot be true; the value is `null`. */
export interface Complaint {
  point: string
  reason: string
}

/** Measured values without ids, time and quality, which the poll loop adds. */
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
 * Ratings that an inverter reports. Its settings are no ratings: they may equal its share of the
 * grid permit, and are only part of its `LimitState`.
 */
export interface InverterRatings {
  rated_power_kw: number | null
}

export interface InverterAnswer {
  inverter: Values<InverterReading>
  /** Strings that the inverter measures itself, from string 0; else null. */
  strings: Values<StringReading> | null
  /** Id in domain/alarms of the table that decodes the alarm words; null without alarm words. */
  alarm_table: string | null
  /** Read when the device was found, not at each poll; `null` if it does not report them. */
  ratings: InverterRatings | null
  /** Limit in its registers, read together with the measurements; null if not readable. */
  limit: LimitState | null
}

export interface Answer<Of> {
  values: Of
  complaints: readonly Complaint[]
  /** Names of refused registers: their values are `null`. */
  missing?: readonly string[]
}

/** A device that was found: its identity, and how to read it. No other state outlives a read. */
export interface Device<Of> {
  identity: DeviceIdentity
  read(): Promise<Answer<Of>>
}

export interface InverterDevice extends Device<InverterAnswer> {
  /** Replaced at each new contact; null if its power cannot be limited. */
  readonly control: LimitControl | null
}

/** Answer of a plant controller, which limits all of its inverters by one command. */
export interface ControllerAnswer {
  /** Limit that it passed on to the inverters; null if it does not report it. */
  limit: LimitState | null
  /** Power of all its inverters together: the proof of compliance. */
  active_power_kw: number | null
  /** External control authority; null if there is none, or it is not reported. */
  foreign_control: string | null
  /** Alarm words of the controller itself, and the table that decodes them; null without any. */
  alarms: { table: string; words: Readonly<Record<string, number | null>> } | null
}

/**
 * Controls all inverters of its plant, which then must not be limited one by one. An accepted
 * command takes some seconds to apply, so that a first read-back may show the limit before.
 */
export interface ControllerDevice extends Device<ControllerAnswer> {
  readonly control: LimitControl | null
}

export interface BatteryAnswer {
  battery: Values<BessReading>
  /** Table that decodes the alarm words; null without alarm words. */
  alarm_table: string | null
  /** Counter that rises while the device is alive; null without one. */
  heartbeat: number | null
  /** False: the device is under local control. */
  is_remote: boolean | null
}

export interface BatteryDevice extends Device<BatteryAnswer> {
  /** Writes a heartbeat if the device expects one. */
  beat(): Promise<void>
}

export interface PcsAnswer {
  pcs: Values<PcsReading>
  alarm_table: string | null
  heartbeat: number | null
  /** Setpoint in its registers, read together with the measurements; null if not readable. */
  power: PowerState | null
}

export interface PcsDevice extends Device<PcsAnswer> {
  /** Replaced at each new contact; null if its power cannot be set. */
  readonly control: PowerControl | null
}

export interface ClustersAnswer {
  clusters: readonly Values<ClusterReading>[]
  /** Table that decodes the alarm words of each; null without alarm words. */
  alarm_table: string | null
}

/**
 * Cells of one cluster: each read is of the next cluster, to spread thousands of cells over time.
 */
export type CellsAnswer = Values<CellsReading>

export type SetupAnswer = Omit<BatterySetup, 'bess_id' | 'read_at'>

/** Finds devices on the bus. A driver has a method for each kind of device that it reads. */
export interface Driver {
  /** Description by which it reads; absent for SunSpec, whose devices describe themselves. */
  profile?: Profile
  /** Of a profile beside `site.yaml`: changes when the file does. */
  revision?: string
  openInverter?(bus: Bus, inverter: Inverter): Promise<InverterDevice>
  openCombiner?(bus: Bus, combiner: Combiner): Promise<Device<Values<StringReading>>>
  openStation?(bus: Bus, station: Station): Promise<Device<Values<WeatherReading>>>
  openMeter?(bus: Bus, meter: Meter): Promise<Device<Values<MeterReading>>>
  openController?(bus: Bus, logger: Logger): Promise<ControllerDevice>
  /** Each part of a battery is read at its own interval. */
  openBattery?(bus: Bus, battery: Battery): Promise<BatteryDevice>
  openClusters?(bus: Bus, battery: Battery): Promise<Device<ClustersAnswer>>
  openCells?(bus: Bus, battery: Battery): Promise<Device<CellsAnswer>>
  openSetup?(bus: Bus, battery: Battery): Promise<Device<SetupAnswer>>
  openPcs?(bus: Bus, pcs: Pcs): Promise<PcsDevice>
}
