/**
 * What the edge asks of a driver: read a device once, as records of domain/readings.ts, with every
 * scale factor applied and every "not implemented" value `null`.
 */
import type {
  InverterReading,
  MeterReading,
  StringReading,
  WeatherReading,
} from '@heliograph/domain/readings'
import type { Combiner, Inverter, Meter, Station } from '@heliograph/domain/site'

/** One Modbus connection with its units, asked one request at a time. */
export interface Bus {
  /**
   * Reads `count` (1 to 125) holding registers. Rejects with a `BusError`; a late answer is never
   * taken for the answer to a later request.
   */
  readHoldingRegisters(unit_id: number, address: number, count: number): Promise<Uint16Array>
  close(): Promise<void>
}

export type BusErrorKind = 'timeout' | 'disconnected' | 'exception' | 'garbled' | 'closed'

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
>

/** What an inverter says of its own size. */
export interface InverterRatings {
  /** What it is built for, at unity power factor. */
  rated_power_kw: number | null
  /** What it is set to deliver at most; percentages of its power limit are relative to this. */
  max_power_kw: number | null
}

export interface InverterAnswer {
  inverter: Values<InverterReading>
  /** The strings of the inverter that it measures itself, from string 0; else null. */
  strings: Values<StringReading> | null
  /** The table that decodes the alarm words: an id of domain/alarms. */
  alarm_table: string
  /** As read when the device was found, not at each poll; `null` where it does not tell. */
  ratings: InverterRatings | null
}

export interface Answer<Of> {
  values: Of
  complaints: readonly Complaint[]
}

/** A device that was found: its identity, and how to read it. Nothing else outlives a read. */
export interface Device<Of> {
  identity: DeviceIdentity
  read(): Promise<Answer<Of>>
}

/** A driver finds its device on the bus, or rejects with what it met instead. */
export interface Driver {
  openInverter(bus: Bus, inverter: Inverter): Promise<Device<InverterAnswer>>
  openCombiner(bus: Bus, combiner: Combiner): Promise<Device<Values<StringReading>>>
  openStation(bus: Bus, station: Station): Promise<Device<Values<WeatherReading>>>
  openMeter(bus: Bus, meter: Meter): Promise<Device<Values<MeterReading>>>
}
